/** The reasons that the agent adds to `PACKET_REASONS`, with their meanings; log lines and metrics use the same words. */
import type { DropReason, IgnoreReason, NakReason } from '@vmdhcp/dhcp-allocator';
import type { DeclineDoubt } from './decline-checks.js';

/** Why a composed reply is not sent, or why a client's message changes nothing. */
export type SuppressReason = 'standing-by' | 'address-being-probed' | 'address-in-use';
/** Why a DECLINE changes nothing. */
export type DeclineIgnoreReason = DeclineDoubt | 'address-reserved';
/** Why the agent drops a packet. */
export type AgentDropReason = 'internal-error' | 'send-failed';

export type MessageReason = IgnoreReason | NakReason | SuppressReason | DeclineIgnoreReason;
/** Why an agent dropped a packet: reasons of the protocol, and those of the agent itself. */
export type PacketDropReason = DropReason | AgentDropReason;

/** By reason. Every reason of the unions above that `PACKET_REASONS` does not have, and no other. */
export const AGENT_PACKET_REASONS = {
  'standing-by': {
    outcomes: ['ignored'],
    meaning: 'This replica is not the leader, which answers. A standby answers a client that retransmits without a reply.',
  },
  'address-being-probed': {
    outcomes: ['ignored'],
    meaning: 'The agent probes the address for a conflict before the client gets it for the first time. The client retransmits.',
    source: 'RFC 2131 §2.2, RFC 5227 §2.1',
  },
  'address-in-use': {
    outcomes: ['ignored'],
    meaning:
      'Another host answers the probe of the address that the client requests. If it is the last client of the address, its lease goes on; otherwise the address is quarantined. The client gets a DHCPNAK when it retransmits, and then another address.',
    source: 'RFC 2131 §2.2',
  },
  'address-reserved': {
    outcomes: ['ignored'],
    meaning: 'The client declines an address that `spec.ipv4Config.reservations` reserves for it. The reservation stays.',
  },
  'decline-limit': {
    outcomes: ['ignored'],
    meaning: 'The client, or the pool, has had too many DECLINEs: the address was not probed.',
  },
  'decline-being-checked': {
    outcomes: ['ignored'],
    meaning: 'The address is being probed because of an earlier DECLINE of the client.',
  },
  'decline-address-in-use-by-client': {
    outcomes: ['ignored'],
    meaning: 'The client itself answers the probe of the address that it declines.',
  },
  'decline-unconfirmed': {
    outcomes: ['ignored'],
    meaning: 'No host answers the probe of the address that the client declines.',
  },
  'decline-answered-too-often': {
    outcomes: ['ignored'],
    meaning: 'The host that answers the probe has confirmed too many DECLINEs.',
  },
  'decline-not-checked': {
    outcomes: ['ignored'],
    meaning: 'The address could not be probed; the log has the error.',
  },
  'internal-error': {
    outcomes: ['dropped'],
    meaning: 'A bug: the log has the error. The packet is lost, and the agent goes on.',
  },
  'send-failed': {
    outcomes: ['dropped'],
    meaning: 'The kernel did not accept the reply; the log has the error. The client retransmits.',
  },
} as const satisfies Readonly<
  Record<
    SuppressReason | DeclineIgnoreReason | AgentDropReason,
    { outcomes: readonly ('dropped' | 'ignored')[]; meaning: string; source?: string }
  >
>;
