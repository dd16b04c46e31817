/**
 * Wake-on-LAN on Linux: sends magic packets from this host, and runs an agent that receives them.
 *
 * @packageDocumentation
 */
export { handleByCommand } from './command-handling.js';
export { WakeAgent, type WakeAgentSettings } from './wake-agent.js';
export { WakeCommand } from './wake-command.js';
export { sendDatagram, sendFrame } from './wake-sender.js';
