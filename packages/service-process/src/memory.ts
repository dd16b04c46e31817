/**
 * How a process takes memory from the system and returns it. Of its own entry point, as it loads koffi.
 *
 * @packageDocumentation
 */
export { keepMemorySmall } from './keep-memory-small.js';
export { separateLargeMemory, trimMemory } from './process-memory.js';
export { keepProgramPagesFew } from './program-pages.js';
