/**
 * The pools file: its pools, and every problem with line and column.
 *
 * @packageDocumentation
 */
export { findRefusedClaims } from './find-refused-claims.js';
export { loadPoolsFile } from './load-pools-file.js';
export type { PoolsFile } from './parse-pools-file.js';
export { describePoolsFileFinding, type PoolsFileFinding } from './pools-file-finding.js';
export { fileState } from './watch-file.js';
