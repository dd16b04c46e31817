/**
 * Composes the reply for a decision. Everything in a reply that does not repeat the request depends on the pool and on what the client asks for, and
 * thousands of clients ask for the same. So the options are composed once for each parameter request list, and remembered.
 */

import type { Ipv4Address } from '../address/ipv4-address.js';
import type { Lease } from '../lease/lease.js';
import { encodeText } from '../options/text.js';
import { INFINITE_LEASE_TIME_SECONDS, type Pool } from '../pool/pool.js';
import { toBytes } from '../wire/big-endian.js';
import type { OutgoingMessage } from '../wire/encode-message.js';
import { BROADCAST_FLAG, type MessageType, MessageTypeCode, OP_REPLY, OptionCode } from '../wire/layout.js';
import type { ClientMessage } from './client-message.js';
import type { Decision, NakReason } from './decision.js';
import { type BootValues, bootValues, poolOptionValues } from './pool-option-values.js';

type OptionEntry = readonly [code: number, value: Uint8Array];

/** Besides the pool, the options of a reply depend on this. */
export interface Wishes {
  /** Option 55. */
  readonly requestList?: Uint8Array | undefined;
  /** The first type of option 93. */
  readonly architecture?: number | undefined;
}

/** The part of a reply that all clients with the same requests get. */
export interface SharedReply {
  /** siaddr. */
  readonly nextServer: Ipv4Address;
  readonly bootFile: Uint8Array;
  readonly options: readonly OptionEntry[];
}

/** A decision that is sent. */
export type Reply = Extract<Decision, { readonly kind: 'offer' | 'ack' | 'nak' | 'inform' }>;

const NOTHING = new Uint8Array(0);

/** The number of request lists that are remembered for each pool; a client with another one is served too, only slower. */
const REMEMBERED_LISTS = 128;

/** The text of a NAK (option 56), for the person who reads the client's log. */
const NAK_TEXT: Readonly<Record<NakReason, string>> = {
  'reservation-gone': 'no address is assigned to this client here',
  'address-not-its-own': 'the claimed address is not assigned to this client',
  'not-authorized-here': 'unknown client',
  'address-not-available': 'the address is not available to this client',
};

export class ReplyComposer {
  readonly #pool: Pool;
  readonly #values: Map<number, Uint8Array>;
  readonly #generalBoot: BootValues;
  readonly #bootByArchitecture: Map<number, BootValues>;
  readonly #remembered = new Map<string, SharedReply>();

  constructor(pool: Pool) {
    this.#pool = pool;
    this.#values = poolOptionValues(pool);
    this.#generalBoot = bootValues(pool.options);
    this.#bootByArchitecture = new Map(
      [...pool.options.bootByArchitecture].map(([architecture, boot]) => [
        architecture,
        bootValues({ ...pool.options, ...boot }),
      ]),
    );
  }

  /**
   * The reply to a client: fields as RFC 2131 table 3 wants them, options in the order the client asked for them.
   * Sources: RFC 2131 §4.3.1, table 3; RFC 6842 §3 (61 echoed); RFC 3046 §2.2 (82 echoed, last).
   */
  compose(client: ClientMessage, reply: Reply): OutgoingMessage {
    const { message } = client;
    const shared = reply.kind === 'nak' ? this.#nak(reply.reason) : this.shared(reply.kind, wishesOf(client));
    const relayedNak = reply.kind === 'nak' && client.relayAddress !== undefined;
    return {
      op: OP_REPLY,
      htype: message.htype,
      hlen: message.hlen,
      hops: 0,
      xid: message.xid,
      secs: 0,
      // "the server MUST set the broadcast bit in the DHCPNAK, so that the relay agent will broadcast" it. RFC 2131 §4.3.2.
      flags: relayedNak ? message.flags | BROADCAST_FLAG : message.flags,
      ciaddr: echoesClientAddress(reply) ? message.ciaddr : 0,
      yiaddr: 'lease' in reply ? reply.lease.address : 0,
      siaddr: shared.nextServer,
      giaddr: message.giaddr,
      chaddr: message.chaddr,
      sname: NOTHING,
      file: shared.bootFile,
      options: withOwnOptions(shared.options, client, reply),
    };
  }

  /** The part that every client with these requests gets. */
  shared(kind: Exclude<Reply['kind'], 'nak'>, wishes: Wishes): SharedReply {
    const { requestList, architecture } = wishes;
    const key = `${kind} ${architecture ?? ''} ${requestList === undefined ? '' : String.fromCharCode(...requestList)}`;
    const remembered = this.#remembered.get(key);
    if (remembered !== undefined) return remembered;
    const { nextServer, bootFile, options } = this.#bootFor(architecture);
    const values = new Map([...this.#values, ...options]);
    // RFC 8925 §3.3: it is only for clients that request it, and comes with an address.
    if (kind === 'inform' || requestList?.includes(OptionCode.ipv6OnlyPreferred) !== true)
      values.delete(OptionCode.ipv6OnlyPreferred);
    const shared = { nextServer, bootFile, options: [...this.#leaseOptions(kind), ...inWishedOrder(values, requestList)] };
    if (this.#remembered.size < REMEMBERED_LISTS) this.#remembered.set(key, shared);
    return shared;
  }

  #nak(reason: NakReason): SharedReply {
    const options: OptionEntry[] = [
      [OptionCode.messageType, Uint8Array.of(MessageTypeCode.nak)],
      [OptionCode.serverIdentifier, toBytes(this.#pool.serverAddress, 4)],
      [OptionCode.message, encodeText(NAK_TEXT[reason])],
    ];
    return { nextServer: 0, bootFile: NOTHING, options };
  }

  #leaseOptions(kind: Exclude<Reply['kind'], 'nak'>): OptionEntry[] {
    const type: MessageType = kind === 'inform' ? 'ack' : kind;
    const entries: OptionEntry[] = [
      [OptionCode.messageType, Uint8Array.of(MessageTypeCode[type])],
      [OptionCode.serverIdentifier, toBytes(this.#pool.serverAddress, 4)],
    ];
    if (kind === 'inform') return entries;
    const { leaseTimeSeconds } = this.#pool;
    entries.push([OptionCode.leaseTime, toBytes(leaseTimeSeconds, 4)]);
    if (leaseTimeSeconds === INFINITE_LEASE_TIME_SECONDS) return entries;
    // "T1 defaults to (0.5 * duration_of_lease). T2 defaults to (0.875 * duration_of_lease)." RFC 2131 §4.4.5.
    const renewal = Math.floor(leaseTimeSeconds / 2);
    const rebinding = Math.floor(leaseTimeSeconds * 0.875);
    // "T1 MUST be earlier than T2": whole seconds have no room for that in the shortest leases.
    if (renewal === 0 || renewal >= rebinding) return entries;
    entries.push([OptionCode.renewalTime, toBytes(renewal, 4)], [OptionCode.rebindingTime, toBytes(rebinding, 4)]);
    return entries;
  }

  #bootFor(architecture: number | undefined): BootValues {
    return (architecture === undefined ? undefined : this.#bootByArchitecture.get(architecture)) ?? this.#generalBoot;
  }
}

function wishesOf(client: ClientMessage): Wishes {
  return {
    requestList: client.message.options.get(OptionCode.parameterRequestList),
    architecture: architectureOf(client),
  };
}

/** Option 80 of a rapid ACK, the client's host name, and the options that repeat the request. */
function withOwnOptions(shared: readonly OptionEntry[], client: ClientMessage, reply: Reply): OptionEntry[] {
  const entries = [...shared];
  if (reply.kind === 'ack' && reply.rapid) entries.push([OptionCode.rapidCommit, NOTHING]);
  if ('lease' in reply) pushHostName(entries, client, reply.lease);
  echo(entries, client, OptionCode.clientIdentifier);
  echo(entries, client, OptionCode.relayAgentInformation);
  return entries;
}

/**
 * The values that a client asked for, in its order; all of them if it asked for none. The subnet mask is always sent, and before the router: "the
 * subnet mask option MUST be first". Source: RFC 2132 §3.3, §9.8.
 */
function inWishedOrder(values: ReadonlyMap<number, Uint8Array>, requested: Uint8Array | undefined): OptionEntry[] {
  if (requested === undefined || requested.length === 0) return [...values];
  const codes = new Set<number>();
  for (const code of requested) {
    if (code === OptionCode.routers) codes.add(OptionCode.subnetMask);
    codes.add(code);
  }
  codes.add(OptionCode.subnetMask);
  return [...codes].flatMap((code): OptionEntry[] => {
    const value = values.get(code);
    return value === undefined ? [] : [[code, value]];
  });
}

function pushHostName(entries: OptionEntry[], client: ClientMessage, lease: Lease): void {
  if (lease.hostname === undefined) return;
  const requested = client.message.options.get(OptionCode.parameterRequestList);
  if (requested === undefined || requested.includes(OptionCode.hostName)) {
    entries.push([OptionCode.hostName, encodeText(lease.hostname)]);
  }
}

function echo(entries: OptionEntry[], client: ClientMessage, code: number): void {
  const value = client.message.options.get(code);
  if (value !== undefined) entries.push([code, value]);
}

/** Source: RFC 2131 table 3: 'ciaddr' of the request in an ACK, 0 in an OFFER and a NAK. */
function echoesClientAddress({ kind }: Reply): boolean {
  return kind === 'ack' || kind === 'inform';
}

/** "one or more 16-bit types", the first being what the client runs on. Source: RFC 4578 §2.1. */
function architectureOf({ message }: ClientMessage): number | undefined {
  const [high, low] = message.options.get(OptionCode.clientArchitecture) ?? NOTHING;
  return high === undefined || low === undefined ? undefined : high * 256 + low;
}
