/**
 * How a process takes memory from the system and returns it. A separate entry point, because it loads koffi.
 *
 * @packageDocumentation
 */
export { keepMemorySmall } from './keep-memory-small.js';
export { separateLargeMemory, trimMemory } from './process-memory.js';
export { keepProgramPagesFew } from './program-pages.js';
