/** The meaning of each reason why a packet got no reply, or a refusal: log lines and metrics have the same words. */
import type { DropReason } from './answer-packet.js';
import type { IgnoreReason, NakReason } from './decision.js';

/** What a reason for an answer, or for none, means, and where it comes from. */
export interface PacketReason {
  /** dropped: the packet is not a message for this server. ignored: a client's message that gets no reply. nak: a DHCPNAK is sent. */
  readonly outcomes: readonly ('dropped' | 'ignored' | 'nak')[];
  readonly meaning: string;
  /** The RFCs that require it. */
  readonly source?: string;
}

/** By reason. Every reason that `answerPacket` and `answerOpenPacket` return, and `not-recorded`, which their caller finds. */
export const PACKET_REASONS = {
  'message-too-short': {
    outcomes: ['dropped'],
    meaning: 'The packet is shorter than the fixed fields of a DHCP message.',
    source: 'RFC 2131 §2',
  },
  'magic-cookie-missing': {
    outcomes: ['dropped'],
    meaning: 'The options do not begin with the magic cookie: a BOOTP message, or none at all.',
    source: 'RFC 2131 §3',
  },
  'hardware-length-invalid': {
    outcomes: ['dropped'],
    meaning: 'The length of the hardware address (`hlen`) is more than its field holds.',
    source: 'RFC 2131 §2',
  },
  'option-truncated': {
    outcomes: ['dropped'],
    meaning: 'An option is longer than what is left of its field.',
    source: 'RFC 2132 §2',
  },
  'option-overload-invalid': {
    outcomes: ['dropped'],
    meaning: 'The option overload (52) has a value that is not defined.',
    source: 'RFC 2132 §9.3',
  },
  'not-a-request': {
    outcomes: ['dropped'],
    meaning: 'The message is not a BOOTREQUEST: a server sent it.',
    source: 'RFC 2131 §2',
  },
  'hardware-unsupported': {
    outcomes: ['dropped'],
    meaning: 'The client has no Ethernet address of its own: another hardware type or length, a group address, or zeros.',
  },
  'message-type-missing': {
    outcomes: ['dropped'],
    meaning: 'There is no DHCP message type (option 53): a BOOTP message.',
    source: 'RFC 2132 §9.6',
  },
  'message-type-invalid': {
    outcomes: ['dropped'],
    meaning: 'The DHCP message type (option 53) is not defined.',
    source: 'RFC 2132 §9.6',
  },
  'message-type-of-a-server': {
    outcomes: ['dropped'],
    meaning: 'The message has a type that only servers send.',
    source: 'RFC 2131 §3',
  },
  'option-length-invalid': {
    outcomes: ['dropped'],
    meaning: 'The requested address (option 50) or the server identifier (option 54) is not four octets long.',
    source: 'RFC 2132 §9',
  },
  'relay-information-malformed': {
    outcomes: ['dropped'],
    meaning: 'The relay agent information (option 82) cannot be read.',
    source: 'RFC 3046 §2',
  },
  'no-pool-here': {
    outcomes: ['dropped'],
    meaning: 'No pool is served on the interface.',
  },
  'no-pool-for-relay': {
    outcomes: ['dropped'],
    meaning: 'No pool of the interface has the subnet that the relay names.',
  },
  'relay-not-allowed': {
    outcomes: ['dropped'],
    meaning: 'The relay is outside the subnet of the pool, and `spec.ipv4Config.relays` does not have it.',
  },
  'too-many-new-clients': {
    outcomes: ['dropped'],
    meaning:
      'More messages come in from clients that never had a lease of an open pool than the agent answers in a second: clients that have one come first. The client retransmits.',
  },
  'unknown-client': {
    outcomes: ['ignored'],
    meaning: 'The pool has no lease for the MAC address of the client.',
    source: 'RFC 2131 §4.3.2',
  },
  'other-server-selected': {
    outcomes: ['ignored'],
    meaning: 'The client has selected another DHCP server.',
    source: 'RFC 2131 §4.3.2',
  },
  'address-missing': {
    outcomes: ['ignored'],
    meaning: 'The message names no address, and its type needs one.',
    source: 'RFC 2131 §4.4.1',
  },
  'address-not-its-own': {
    outcomes: ['ignored', 'nak'],
    meaning:
      'The address is not the one of the client. A REQUEST for it gets a DHCPNAK, so that the client begins anew; a RELEASE or DECLINE of it changes nothing.',
    source: 'RFC 2131 §4.3.2',
  },
  'client-not-on-this-network': {
    outcomes: ['ignored'],
    meaning: 'The client has an address of another subnet.',
    source: 'RFC 2131 §4.3.5',
  },
  'server-identifier-missing': {
    outcomes: ['ignored'],
    meaning: 'A RELEASE or DECLINE names no server (option 54).',
    source: 'RFC 2131 §4.4.1',
  },
  'reservation-gone': {
    outcomes: ['nak'],
    meaning: 'The client asks for the address that this server has offered it, and the pool no longer has a lease for it.',
    source: 'RFC 2131 §4.3.2',
  },
  'not-authorized-here': {
    outcomes: ['nak'],
    meaning: 'The client asks for an address and has no lease, and `spec.ipv4Config.authoritative` of the IPPool is true.',
    source: 'RFC 2131 §4.3.2',
  },
  'pool-exhausted': {
    outcomes: ['ignored'],
    meaning:
      'An open pool has no address left for an unknown client: each is leased, in quarantine or declared, or kept for clients that had it or for other ports of relays.',
    source: 'RFC 2131 §4.3.1',
  },
  'lease-stays': {
    outcomes: ['ignored'],
    meaning:
      'An unknown client releases its address. Any host can send that in its name, so its lease stays until it ends, or until a person ends it.',
    source: 'RFC 2131 §4.3.4',
  },
  'being-recorded': {
    outcomes: ['ignored'],
    meaning: 'The lease of an unknown client is being recorded because of an earlier message; the reply to that one follows.',
  },
  'not-recorded': {
    outcomes: ['ignored'],
    meaning: 'The lease of an unknown client could not be recorded, so it is not acknowledged. The client retransmits.',
    source: 'RFC 2131 §3.1',
  },
  'address-not-available': {
    outcomes: ['nak'],
    meaning:
      'An unknown client asks for an address of an open pool that it does not have and was not offered, that another client has, that an object declares, or that is in quarantine or not dynamic any more.',
    source: 'RFC 2131 §4.3.2',
  },
} as const satisfies Readonly<Record<DropReason | IgnoreReason | NakReason, PacketReason>>;
