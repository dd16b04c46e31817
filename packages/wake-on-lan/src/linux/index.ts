/**
 * Wake-on-LAN on Linux: magic packets out of this host, and an agent that hears them.
 *
 * @packageDocumentation
 */
export { handleByCommand } from './command-handling.js';
export { WakeAgent, type WakeAgentSettings } from './wake-agent.js';
export { WakeCommand } from './wake-command.js';
export { sendDatagram, sendFrame } from './wake-sender.js';
