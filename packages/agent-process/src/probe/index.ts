/**
 * A DHCP client that asks once: which servers answer, and what they say.
 *
 * @packageDocumentation
 */
export { describeServerAnswer } from './describe-server-answer.js';
export { type InterfaceProbeSettings, openDhcpProbe } from './open-dhcp-probe.js';
