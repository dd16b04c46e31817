/**
 * What becomes of answers to unknown clients: a lease is recorded, and then its ACK is sent; an offer of an address that the client does not have waits
 * until the address was probed; an address that another host uses is recorded as quarantined.
 */
import {
  type Binding,
  type BindingRecord,
  type ClientMessage,
  clientIdOf,
  type Ipv4Address,
  isBindingValid,
  type Lease,
  type MacAddress,
  OFFER_MS,
  type OpenPool,
  OptionCode,
  type RecordAnswer,
  type ReplyAnswer,
} from '@vmdhcp/dhcp-allocator';
import type { LeaseEvent } from '../agent-event.js';
import type { AgentObserver, LateReply } from '../ports.js';
import type { FindAddressUsers } from '../probe/address-users.js';
import type { MessageCounters } from './message-counters.js';
import { queuedReplyOf } from './queued-reply.js';

/** How long no client gets an address that another host uses. */
const QUARANTINE_MS = 3_600_000;
/** Addresses that are probed at the same time; more than that are offered without a probe, so that a flood of made-up clients delays no offer. */
const MOST_PROBED = 256;
/** Addresses that are remembered to be free. */
const MOST_FREE = 4_096;

/** The pools that lease addresses to unknown clients, and where their leases survive. */
export interface OpenPoolsPort {
  readonly openPoolOf: (poolName: string) => OpenPool | undefined;
  readonly all: () => Iterable<OpenPool>;
  /** True when the record survives a crash and counts in its pool. Never rejects. */
  readonly record: (record: BindingRecord) => Promise<boolean>;
  /** True: an address of the pool is probed before a client gets it. */
  readonly probes: (poolName: string) => boolean;
  readonly send: (interfaceName: string, replies: readonly LateReply[]) => void;
}

export interface OpenAnswersPorts extends OpenPoolsPort {
  readonly observer: AgentObserver;
  readonly nowMs: () => number;
  readonly findUsers: FindAddressUsers;
  readonly counters: MessageCounters;
  /** The offer that waited for a probe is sent. */
  readonly onLateOffer: (offer: LateOffer) => void;
}

/** An offer that is sent after its address was probed. */
export interface LateOffer {
  readonly lease: Lease;
  readonly interfaceName: string;
  /** chaddr. */
  readonly hardwareAddress: Uint8Array;
}

/** An address that is probed, with the newest offer of it. */
interface Probed {
  readonly lease: Lease;
  readonly interfaceName: string;
  offer: LateReply;
}

export class OpenAnswers {
  readonly openPoolOf: OpenPoolsPort['openPoolOf'];
  readonly #ports: OpenAnswersPorts;
  /** By pool and address. */
  readonly #probed = new Map<string, Probed>();
  /** By pool and address: until when it need not be probed. */
  readonly #freeUntilMs = new Map<string, number>();
  /** By interface: what is sent in a moment, in one burst. */
  readonly #late = new Map<string, LateReply[]>();

  constructor(ports: OpenAnswersPorts) {
    this.#ports = ports;
    this.openPoolOf = ports.openPoolOf;
  }

  /** The lease that an unknown client has or had of the address. */
  bindingAt(poolName: string, address: Ipv4Address): Binding | undefined {
    return this.openPoolOf(poolName)?.bindings.at(address);
  }

  /** True: the client that sent the message has a lease of the pool now, with this MAC address. */
  hasLease(poolName: string, { macAddress, message }: ClientMessage): boolean {
    const clientId = clientIdOf(macAddress, message.options.get(OptionCode.clientIdentifier));
    const binding = this.openPoolOf(poolName)?.bindings.ofClient(clientId);
    return binding?.macAddress === macAddress && isBindingValid(binding, this.#ports.nowMs());
  }

  /** True: the reply is an offer, and is sent when its address was probed. */
  waitsForProbe(answer: ReplyAnswer, interfaceName: string): boolean {
    const { decision, pool, client } = answer;
    if (decision.kind !== 'offer' || !this.#needsProbe(decision.lease)) return false;
    const key = keyOf(decision.lease);
    const probed = this.#probed.get(key);
    if (probed === undefined && this.#probed.size >= MOST_PROBED) return false;
    this.#ports.counters.count(client.type, 'ignored', 'address-being-probed');
    const queued = queuedReplyOf(answer);
    // The packet and its answer are in memory that the next packet uses.
    const offer = {
      bytes: answer.bytes.slice(),
      queued: { ...queued, hardwareAddress: queued.hardwareAddress.slice(), serverAddress: pool.serverAddress },
    };
    if (probed === undefined) void this.#probe(key, { lease: decision.lease, interfaceName, offer });
    else probed.offer = offer;
    return true;
  }

  /** A DECLINE of the lease was confirmed. False: no unknown client has it. */
  onDeclined(lease: Lease, interfaceName: string, usedBy: MacAddress): boolean {
    const open = this.openPoolOf(lease.poolName);
    const isKnown = open !== undefined && open.bindings.at(lease.address)?.macAddress === lease.macAddress;
    if (open === undefined || !isKnown) return false;
    this.#ports.counters.count('decline', 'declined', '');
    this.#observe('declined', lease, { interface: interfaceName, believed: true, usedBy });
    this.#quarantine(open, lease.address);
    return true;
  }

  /** Notes leases that have ended. To be called every few seconds. */
  noteEnded(): void {
    const nowMs = this.#ports.nowMs();
    for (const open of this.#ports.all())
      for (const { macAddress, address } of open.takeEnded(nowMs))
        this.#observe('expired', { poolName: open.pool.name, macAddress, address });
  }

  /** Sends the reply when the record survives; never if it does not, and false then. Never rejects. */
  async recordThenSend({ record, reply, event, client }: RecordAnswer, interfaceName: string): Promise<boolean> {
    const { counters, record: toStore } = this.#ports;
    if (!(await toStore(record))) {
      counters.count(client.type, 'ignored', 'not-recorded');
      return false;
    }
    if (reply !== undefined) {
      counters.count(client.type, 'ack', '');
      if (reply.omittedOptions.length > 0) counters.omitOptions(reply.omittedOptions.length);
      this.#sendLater(interfaceName, { bytes: reply.bytes, queued: queuedReplyOf(reply) });
    } else counters.count(client.type, 'released', '');
    if (record.kind !== 'binding' || event === 'renewed') return true;
    const { poolName, macAddress, address, hostname } = record;
    const lease = { poolName, macAddress, address, ...(hostname !== undefined && { hostname }) };
    this.#observe(event, lease, { interface: interfaceName });
    return true;
  }

  #needsProbe(lease: Lease): boolean {
    const { probes, nowMs } = this.#ports;
    const open = this.openPoolOf(lease.poolName);
    if (open === undefined || !probes(lease.poolName) || open.addresses.declared.has(lease.address)) return false;
    const binding = open.bindings.at(lease.address);
    if (binding?.macAddress === lease.macAddress && isBindingValid(binding, nowMs())) return false;
    return (this.#freeUntilMs.get(keyOf(lease)) ?? Number.NEGATIVE_INFINITY) <= nowMs();
  }

  async #probe(key: string, probed: Probed): Promise<void> {
    const { lease, interfaceName } = probed;
    const { findUsers, observer, counters } = this.#ports;
    this.#probed.set(key, probed);
    try {
      const [usedBy] = (await findUsers(interfaceName, lease)).others;
      if (usedBy !== undefined) this.#onUsed(lease, usedBy);
      else {
        this.#noteFree(key);
        counters.count('discover', 'offer', '');
        this.#sendLater(interfaceName, probed.offer);
        this.#ports.onLateOffer({ lease, interfaceName, hardwareAddress: probed.offer.queued.hardwareAddress });
      }
    } catch (error) {
      observer.observe({ kind: 'address-not-probed', interfaceName, error });
    } finally {
      this.#probed.delete(key);
    }
  }

  #noteFree(key: string): void {
    this.#freeUntilMs.delete(key);
    this.#freeUntilMs.set(key, this.#ports.nowMs() + OFFER_MS);
    const oldest = this.#freeUntilMs.keys().next();
    if (this.#freeUntilMs.size > MOST_FREE && !oldest.done) this.#freeUntilMs.delete(oldest.value);
  }

  #onUsed({ poolName, macAddress, address }: Lease, usedBy: MacAddress): void {
    this.#ports.observer.observe({ kind: 'address-conflict', pool: poolName, macAddress, address, usedBy });
    const open = this.openPoolOf(poolName);
    if (open !== undefined) this.#quarantine(open, address);
  }

  #quarantine(open: OpenPool, address: Ipv4Address): void {
    const nowMs = this.#ports.nowMs();
    const record = open.beginQuarantine(address, nowMs + QUARANTINE_MS, nowMs);
    if (record !== undefined) void this.#ports.record(record);
  }

  /** Records of one group are reported one after the other: their replies leave together. */
  #sendLater(interfaceName: string, reply: LateReply): void {
    const waiting = this.#late.get(interfaceName);
    if (waiting !== undefined) {
      waiting.push(reply);
      return;
    }
    this.#late.set(interfaceName, [reply]);
    void Promise.resolve().then(() => {
      const replies = this.#late.get(interfaceName) ?? [];
      this.#late.delete(interfaceName);
      this.#ports.send(interfaceName, replies);
    });
  }

  #observe(
    event: LeaseEvent,
    lease: Pick<Lease, 'poolName' | 'macAddress'> & Partial<Lease>,
    details: Readonly<Record<string, unknown>> = {},
  ): void {
    const counts = this.openPoolOf(lease.poolName)?.counts(this.#ports.nowMs());
    const usage = counts === undefined ? {} : { total: counts.size, remaining: counts.free };
    this.#ports.observer.observe({ kind: 'lease', event, lease, details: { ...details, ...usage } });
  }
}

function keyOf({ poolName, address }: Lease): string {
  return `${poolName} ${address}`;
}
