/**
 * A DHCP server on one host without Kubernetes: it follows the pools file, and serves its pools on the given interfaces.
 *
 * @packageDocumentation
 */
export { BareHostAgent } from './agent/bare-host-agent.js';
export type { BareHostView } from './agent/bare-host-view.js';
