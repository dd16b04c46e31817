import { separateLargeMemory, trimMemory } from './process-memory.js';
import { keepProgramPagesFew } from './program-pages.js';

const TRIM_INTERVAL_MS = 5_000;

/** For a process that reads and drops a lot of data: returns free memory to the system while it runs. Call it at the start. */
export function keepMemorySmall(onError: (error: unknown) => void): void {
  separateLargeMemory();
  setInterval(trimMemory, TRIM_INTERVAL_MS).unref();
  keepProgramPagesFew(onError);
}
