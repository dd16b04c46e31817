/**
 * The read-only page as a part of the controller.
 *
 * @packageDocumentation
 */
export { addStatusPage, MOST_ANSWER_OCTETS, type StatusPageSettings } from './add-status-page.js';
