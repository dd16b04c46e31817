/**
 * CustomResourceDefinitions, applied as far as they differ.
 *
 * @packageDocumentation
 */
export { applyCrds, CUSTOM_RESOURCES, toVersionedDefinition, WAKE_ON_LAN_RESOURCES } from './apply-crds.js';
