/**
 * OCI images of the controller and of the agent, made of files alone.
 *
 * @packageDocumentation
 */
export { type ReadImage, readImages } from './scan/read-image.js';
export { scanImage } from './scan/scan-image.js';
