/**
 * The few C library functions that Node has no name for. All of them are non-blocking as used here; each failure is the
 * value -1, with the reason in `lastErrorName()`.
 */
import { constants } from 'node:os';
import koffi from 'koffi';

const libc = koffi.load(null);

type Call<Parameters extends unknown[]> = (...parameters: Parameters) => number;
type Memory = Uint8Array | null;

export const socket = libc.func('int socket(int domain, int type, int protocol)') as Call<[number, number, number]>;
export const close = libc.func('int close(int fd)') as Call<[number]>;
export const bind = libc.func('int bind(int fd, const void *address, uint32_t length)') as Call<[number, Memory, number]>;
export const listen = libc.func('int listen(int fd, int backlog)') as Call<[number, number]>;
export const setsockopt = libc.func('int setsockopt(int fd, int level, int name, const void *value, uint32_t length)') as Call<
  [number, number, number, Memory, number]
>;
export const getsockopt = libc.func('int getsockopt(int fd, int level, int name, void *value, void *length)') as Call<
  [number, number, number, Memory, Memory]
>;
export const getsockname = libc.func('int getsockname(int fd, void *address, void *length)') as Call<[number, Memory, Memory]>;
export const recvmmsg = libc.func('int recvmmsg(int fd, void *messages, uint32_t count, int flags, void *timeout)') as Call<
  [number, Memory, number, number, null]
>;
export const sendmmsg = libc.func('int sendmmsg(int fd, void *messages, uint32_t count, int flags)') as Call<
  [number, Memory, number, number]
>;
export const flock = libc.func('int flock(int fd, int operation)') as Call<[number, number]>;
export const ifNameToIndex = libc.func('uint32_t if_nametoindex(const char *name)') as Call<[string]>;

const M_MMAP_THRESHOLD = -3;
const LARGE_OCTETS = 48 << 10;

/**
 * Has the C library take large pieces of memory from the system one by one, and give them back so. Node reads each burst's
 * first packet into 64 KiB and shrinks that to the packet's size: cut from one heap, what is left of such pieces holds tens
 * of megabytes apart.
 */
export function separateLargeMemory(): void {
  optionalFunction('int mallopt(int parameter, int value)')?.(M_MMAP_THRESHOLD, LARGE_OCTETS);
}

const mallocTrim = optionalFunction('int malloc_trim(size_t pad)');

/** Gives memory that is free inside the process back to the system, where the C library can. */
export function trimMemory(): void {
  mallocTrim?.(0);
}

/** Functions of glibc that other C libraries do without. */
function optionalFunction(signature: string): Call<number[]> | undefined {
  try {
    return libc.func(signature) as Call<number[]>;
  } catch {
    return undefined;
  }
}

/** Where memory lies, for structures that point at it. Only for memory of its own (`Buffer.allocUnsafeSlow`), which does not move. */
export function addressOf(memory: Uint8Array): bigint {
  return BigInt(koffi.address(memory));
}

/** The name of the error of the last call, `EPERM`. */
export function lastErrorName(): string {
  const code = koffi.errno();
  return Object.entries(constants.errno).find(([, value]) => value === code)?.[0] ?? `errno ${code}`;
}

/** Values of Linux' headers, the same on x64 and arm64. */
export const AF_INET = 2;
export const AF_INET6 = 10;
export const AF_PACKET = 17;
/** With close-on-exec (0x80000), so that no child process keeps a port open. */
export const SOCK_DGRAM = 2 | 0x80000;
export const SOCK_STREAM = 1 | 0x80000;
export const SOL_SOCKET = 1;
export const SO_REUSEADDR = 2;
export const SO_BROADCAST = 6;
export const SO_RCVBUF = 8;
export const SO_SNDBUF = 7;
export const SO_BINDTODEVICE = 25;
export const SO_ATTACH_FILTER = 26;
export const SO_SNDBUFFORCE = 32;
export const SO_RCVBUFFORCE = 33;
export const SOL_PACKET = 263;
export const PACKET_STATISTICS = 6;
export const MSG_DONTWAIT = 0x40;
export const LOCK_EX = 2;
export const LOCK_NB = 4;
export const ETHERTYPE_IPV4 = 0x0800;
/** Every protocol, and packets in both directions. */
export const ETHERTYPE_ALL = 0x0003;
