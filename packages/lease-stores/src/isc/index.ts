/**
 * Describes the result of an import of a lease file of ISC dhcpd.
 *
 * @packageDocumentation
 */
export { describeIscImport, toIscImportView } from './describe-isc-import.js';
export { describeIscProblems, describeOtherFile } from './describe-isc-problems.js';
