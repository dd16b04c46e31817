/**
 * The pages of Node's own file. Starting touches half of its 110 MB once (start-up code, parser, compiler, ICU), and pages that were touched stay
 * mapped and count as memory of the process (RSS): 50 MB, of which a process that has started uses 15. The kernel keeps each page once for all
 * processes of the machine, and maps it again, or reads it from the file, when it is used again.
 */
import { readFile, readlink } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import koffi from 'koffi';

/** A mapping with exactly the content of the file. */
export interface Mapping {
  readonly start: number;
  readonly length: number;
}

const MADV_DONTNEED = 4;
/** The interval after the start. */
const FIRST_AFTER_MS = 10_000;
const INTERVAL_MS = 60_000;
/** A multiple of any page size of the program's file. */
const PART_OCTETS = 8 << 20;

/** Makes the kernel unmap the program's pages after the start, and now and then; pages in use come back. */
export function keepProgramPagesFew(onError: (error: unknown) => void): void {
  if (process.platform !== 'linux') return;
  // Read at the start, because these mappings do not change, and later the kernel needs tens of milliseconds to describe the memory of a large
  // process.
  const mappings = findProgramMappings();
  const release = () => void mappings.then(releaseMappings).catch(onError);
  setTimeout(() => {
    release();
    setInterval(release, INTERVAL_MS).unref();
  }, FIRST_AFTER_MS).unref();
}

/** Unmaps the pages of the program's file. */
export async function releaseProgramPages(): Promise<void> {
  await releaseMappings(await findProgramMappings());
}

async function findProgramMappings(): Promise<Mapping[]> {
  const [program, smaps] = await Promise.all([readlink('/proc/self/exe'), readFile('/proc/self/smaps', 'utf8')]);
  return unchangedMappings(smaps, program);
}

/** A part at a time, so that packets and requests need not wait for all of it. */
async function releaseMappings(mappings: readonly Mapping[]): Promise<void> {
  for (const { start, length } of mappings) {
    for (let offset = 0; offset < length; offset += PART_OCTETS) {
      // A refusal (-1) means that the pages are locked into memory: they stay.
      madvise()(start + offset, Math.min(PART_OCTETS, length - offset), MADV_DONTNEED);
      await nextTurn();
    }
  }
}

/**
 * The read-only mappings of a file without changed pages. Others must stay: pages that the loader has changed (relocations) are read-only too, and
 * exist nowhere else.
 *
 * @param smaps - `/proc/self/smaps`. Source: proc(5).
 */
export function unchangedMappings(smaps: string, file: string): Mapping[] {
  return smaps.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m).flatMap((text) => {
    const [, start = '', end = '', path] = /^([0-9a-f]+)-([0-9a-f]+) r-[x-]p \S+ \S+ \d+ +(.+)$/m.exec(text) ?? [];
    if (path !== file || !/^Anonymous: +0 kB$/m.test(text)) return [];
    const first = Number.parseInt(start, 16);
    return [{ start: first, length: Number.parseInt(end, 16) - first }];
  });
}

type Madvise = (start: number, length: number, advice: number) => number;
let loaded: Madvise | undefined;

function madvise(): Madvise {
  loaded ??= koffi.load(null).func('int madvise(uintptr_t start, size_t length, int advice)') as Madvise;
  return loaded;
}
