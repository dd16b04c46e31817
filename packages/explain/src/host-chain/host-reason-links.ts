/**
 * Where each reason of bare-metal hosts belongs on the way to an address, and how grave it is there. A reason that is missing
 * here does not compile.
 */
import type { HostReasonAt, HostReasonPlace } from '@vmdhcp/ippool-api/bare-metal/keys';
import type { HostLinkName } from './host-links.js';

type PlaceOnTheWay =
  | Extract<HostReasonPlace, `ClusterAgent ${string}`>
  | Extract<HostReasonPlace, `Warning Event on ${'ClusterAgent' | 'HostEndpoint' | 'HostStatus'}`>
  | 'kubectl vmdhcp why';

/** The reasons that may explain a host without an address, or one that does not answer. */
export type HostChainReason = Exclude<HostReasonAt<PlaceOnTheWay>, 'HostAgentsReady' | 'BMCLogEntry'>;

/** `waiting`: it ends without action. `note`: the host has its address nevertheless, or should not have one. */
export type HostGravity = 'note' | 'waiting' | 'broken';

interface HostReasonLink {
  readonly link: HostLinkName;
  readonly gravity: HostGravity;
}

const at = (link: HostLinkName, gravity: HostGravity = 'broken'): HostReasonLink => ({ link, gravity });

/** The link that each reason about a host breaks, and how grave it is. */
export const HOST_REASON_LINKS: Readonly<Record<HostChainReason, HostReasonLink>> = {
  ClusterAgentMissing: at('cluster-agent'),
  ClusterAgentInvalid: at('cluster-agent'),
  UnderlayShared: at('cluster-agent'),
  SelfIpInUse: at('cluster-agent'),
  OneAgentOnly: at('cluster-agent', 'note'),
  OtherServerAnswers: at('cluster-agent', 'note'),
  // Hosts that have an address keep it.
  AddressesExhausted: at('cluster-agent', 'note'),

  HostAgentsStarting: at('host-agents', 'waiting'),
  HostAgentsOff: at('host-agents'),
  HostAgentsStuck: at('host-agents'),
  HostAgentsFailed: at('host-agents'),
  HostAgentsRefused: at('host-agents'),
  HostAgentsNotLeading: at('host-agents'),
  HostAgentCannotServe: at('host-agents'),

  HostEndpointInvalid: at('host-endpoint'),
  HostEndpointAddressTaken: at('host-endpoint'),
  HostStatusPending: at('host-endpoint', 'waiting'),
  HostStatusNameTaken: at('host-endpoint'),

  LeaseEnded: at('lease', 'note'),
  LeaseKept: at('lease', 'note'),
  HostAddressFree: at('lease', 'note'),
  BoundAddressInUse: at('lease', 'note'),
  BoundElsewhere: at('lease', 'note'),
  MacAddressChanged: at('lease', 'note'),

  BindingUnreadable: at('host', 'note'),

  HostSecretUnusable: at('management-controller'),
  HostUnhealthy: at('management-controller'),
};
