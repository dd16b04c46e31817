/**
 * Kubernetes objects from YAML or JSON text, with line and column of each of their fields.
 *
 * @packageDocumentation
 */
export { type ManifestObject, type Manifests, type Position, readManifests, type SyntaxProblem } from './read-manifests.js';
