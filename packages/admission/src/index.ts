/**
 * Finds what admission would report about files of manifests, without a cluster.
 *
 * @packageDocumentation
 */
export { checkManifests } from './check/check-manifests.js';
export { findManifestFiles } from './check/find-manifest-files.js';
export { formatFindings } from './check/format-findings.js';
