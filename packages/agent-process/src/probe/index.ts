/**
 * A DHCP client that sends one request: which servers answer, and what they offer.
 *
 * @packageDocumentation
 */
export { describeServerAnswer } from './describe-server-answer.js';
export { type InterfaceProbeSettings, openDhcpProbe } from './open-dhcp-probe.js';
