/**
 * Bare-metal hosts as a part of the controller.
 *
 * @packageDocumentation
 */
export { addBareMetal } from './add-bare-metal.js';
