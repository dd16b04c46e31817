import { separateLargeMemory, trimMemory } from './process-memory.js';
import { keepProgramPagesFew } from './program-pages.js';

const TRIM_INTERVAL_MS = 5_000;

/** For a process that reads and forgets much: free memory goes back to the system as long as it runs. To be called before it begins. */
export function keepMemorySmall(onError: (error: unknown) => void): void {
  separateLargeMemory();
  setInterval(trimMemory, TRIM_INTERVAL_MS).unref();
  keepProgramPagesFew(onError);
}
