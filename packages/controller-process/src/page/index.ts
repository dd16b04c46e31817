/**
 * The read-only page as a part of the controller.
 *
 * @packageDocumentation
 */
export { addStatusPage, type StatusPageSettings } from './add-status-page.js';
