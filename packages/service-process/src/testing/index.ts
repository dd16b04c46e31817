/**
 * For tests of programs.
 *
 * @packageDocumentation
 */
export { loadedBy, type ProgramRun } from './loaded-by.js';
