/**
 * Wake-on-LAN as a part of the controller.
 *
 * @packageDocumentation
 */
export { addWakeOnLan, type WakeOnLanSettings } from './add-wake-on-lan.js';
