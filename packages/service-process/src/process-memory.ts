/** How the process takes memory from the system and returns it. Both functions do nothing if the C library is not glibc. */
import koffi from 'koffi';

const libc = koffi.load(null);

const M_MMAP_THRESHOLD = -3;
const LARGE_OCTETS = 48 << 10;

/**
 * Makes the C library allocate blocks of 48 KiB and more separately from the system, and return each when it is freed. Node's dgram reads into 64 KiB
 * and shrinks that to the size of the datagram: on a common heap, the remains would keep tens of megabytes from being returned.
 */
export function separateLargeMemory(): void {
  optionalFunction('int mallopt(int parameter, int value)')?.(M_MMAP_THRESHOLD, LARGE_OCTETS);
}

const mallocTrim = optionalFunction('int malloc_trim(size_t pad)');

/** Returns memory that is free inside the process to the system. */
export function trimMemory(): void {
  mallocTrim?.(0);
}

/** Undefined in a C library that does not have the function. */
function optionalFunction(signature: string): ((...parameters: number[]) => number) | undefined {
  try {
    return libc.func(signature) as (...parameters: number[]) => number;
  } catch {
    return undefined;
  }
}
