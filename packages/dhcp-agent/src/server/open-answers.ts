/**
 * Handles answers to unknown clients: a lease is recorded before its ACK is sent, and an address is probed before a client gets it for the first
 * time. If another host uses the address, that host's lease goes on if it is remembered as the client; otherwise the address is recorded as
 * quarantined.
 */
import {
  type Binding,
  type BindingRecord,
  type Ipv4Address,
  isBindingValid,
  isProven,
  type Lease,
  type MacAddress,
  OFFER_MS,
  type OpenPool,
  type RecordAnswer,
  type ReplyAnswer,
  shortenLease,
} from '@vmdhcp/dhcp-allocator';
import type { LeaseEvent } from '../agent-event.js';
import type { AgentObserver, LateReply } from '../ports.js';
import type { FindAddressUsers } from '../probe/address-users.js';
import type { MessageReason } from './agent-packet-reasons.js';
import { type LeaseEnd, LeaseEnds } from './lease-ends.js';
import type { MessageCounters } from './message-counters.js';
import { queuedReplyOf } from './queued-reply.js';

/** How long no client gets an address that another host uses. */
const QUARANTINE_MS = 3_600_000;
/**
 * The maximum number of simultaneous probes; further addresses are offered without a probe, so that a flood of made-up clients does not delay offers.
 */
const MOST_PROBED = 256;
/** After so many addresses in use, the client has to ask again: a host that answers for all of them costs no more. */
const MOST_FOUND_IN_USE = 8;
/** The maximum number of simultaneous probes for REQUESTs; further requests get no reply. */
const MOST_REQUESTED = 4_096;
/** A shorter lease is not worth an acknowledgement: the client asks again. */
const LEAST_LEASE_SECONDS = 10;
/** The maximum number of addresses remembered as free. */
const MOST_FREE = 4_096;

/** The pools that lease addresses to unknown clients, and the store for their leases. */
export interface OpenPoolsPort {
  readonly openPoolOf: (poolName: string) => OpenPool | undefined;
  readonly all: () => Iterable<OpenPool>;
  /** Resolves to true when the record survives a crash and has taken effect in its pool. Never rejects. */
  readonly record: (record: BindingRecord) => Promise<boolean>;
  /** True if an address of the pool is probed before a client gets it. */
  readonly probes: (poolName: string) => boolean;
  /** The interfaces on which the pool is served: a host with one of its addresses may be on any of them. */
  readonly interfacesOf: (poolName: string) => readonly string[];
  readonly send: (interfaceName: string, replies: readonly LateReply[]) => void;
  /** Answers a packet that came in earlier. It does so before it returns, or not at all. Default: the client has to ask again. */
  readonly again?: (interfaceName: string, packet: Uint8Array) => void;
}

export interface OpenAnswersPorts extends OpenPoolsPort {
  readonly observer: AgentObserver;
  readonly nowMs: () => number;
  readonly findUsers: FindAddressUsers;
  readonly counters: MessageCounters;
  /** Sends the offer that waited for a probe. */
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
  /** The newest DISCOVER. */
  packet: Uint8Array;
  offer: LateReply;
  /** How many addresses before this one were found in use because of one DISCOVER. */
  readonly found: number;
}

/** Why an address may not be leased. */
type AddressDoubt =
  | { readonly reason: 'address-being-probed' }
  | { readonly reason: 'address-in-use'; readonly users: readonly MacAddress[] };

export class OpenAnswers {
  readonly openPoolOf: OpenPoolsPort['openPoolOf'];
  readonly #ports: OpenAnswersPorts;
  /** By pool and address. */
  readonly #probed = new Map<string, Probed>();
  /** By pool and address: the client for which it was probed, and until when that is valid. */
  readonly #free = new Map<string, { readonly macAddress: MacAddress; readonly untilMs: number }>();
  #requested = 0;
  /** While a DISCOVER is answered again. */
  #found = 0;
  readonly #ends: LeaseEnds;
  /** By interface: replies that are sent in one burst in a moment. */
  readonly #late = new Map<string, LateReply[]>();

  constructor(ports: OpenAnswersPorts) {
    this.#ports = ports;
    this.openPoolOf = ports.openPoolOf;
    const { openPoolOf, record, probes, nowMs, observer } = ports;
    this.#ends = new LeaseEnds({
      ...{ openPoolOf, record, probes, nowMs, findUsers: this.#findUsers },
      onNotProbed: (interfaceName, error) => observer.observe({ kind: 'address-not-probed', interfaceName, error }),
      onReleased: (lease, details) => this.#observe('released', lease, details),
    });
  }

  /** The current or last lease of the address to an unknown client. */
  bindingAt(poolName: string, address: Ipv4Address): Binding | undefined {
    return this.openPoolOf(poolName)?.bindings.at(address);
  }

  /** True if the client has a lease of the pool. */
  hasLease(poolName: string, macAddress: MacAddress): boolean {
    const binding = this.openPoolOf(poolName)?.bindings.ofClient(macAddress);
    return binding !== undefined && isBindingValid(binding, this.#ports.nowMs());
  }

  /** Ends the lease of an unknown client, or a quarantine, because a person wants it, if no host answers for the address. Never rejects. */
  endLease(poolName: string, address: Ipv4Address, interfaceName: string): Promise<LeaseEnd> {
    return this.#ends.end(poolName, address, interfaceName);
  }

  /** True if the reply is an offer that waits for a probe, or if the client should ask again because its bound address may be free then. */
  waitsForProbe(answer: ReplyAnswer, packet: Uint8Array, interfaceName: string): boolean {
    const { decision, pool, client } = answer;
    if (decision.kind !== 'offer') return false;
    if (this.#probesFormerHolder(decision.lease, interfaceName)) {
      this.#ports.counters.count(client.type, 'ignored', 'address-being-probed');
      return true;
    }
    if (!this.#needsProbe(decision.lease)) return false;
    const key = keyOf(decision.lease);
    const probed = this.#probed.get(key);
    if (probed === undefined && this.#probed.size >= MOST_PROBED) return false;
    this.#ports.counters.count(client.type, 'ignored', 'address-being-probed');
    const queued = queuedReplyOf(answer);
    // Copied, because the next packet reuses the memory.
    const offer = {
      poolName: pool.name,
      bytes: answer.bytes.slice(),
      queued: { ...queued, hardwareAddress: queued.hardwareAddress.slice(), serverAddress: pool.serverAddress },
    };
    const asked = { packet: packet.slice(), offer };
    if (probed === undefined) void this.#probe(key, { lease: decision.lease, interfaceName, ...asked, found: this.#found });
    else Object.assign(probed, asked);
    return true;
  }

  /** No address is left for the client, but the one that is bound to it may be free when it asks again. */
  onExhausted(poolName: string, macAddress: MacAddress, interfaceName: string): void {
    this.#probesFormerHolder({ poolName, macAddress }, interfaceName);
  }

  /** Handles a confirmed DECLINE. False if no unknown client has the lease. */
  onDeclined(lease: Lease, interfaceName: string, usedBy: MacAddress): boolean {
    const open = this.openPoolOf(lease.poolName);
    const isKnown = open !== undefined && open.bindings.at(lease.address)?.macAddress === lease.macAddress;
    if (open === undefined || !isKnown) return false;
    this.#ports.counters.count('decline', 'declined', '');
    this.#observe('declined', lease, { interface: interfaceName, believed: true, usedBy });
    this.#quarantine(open, lease.address);
    return true;
  }

  /** Notes leases that have ended, and ends leases that a clock that was ahead made too long. Call it every few seconds. */
  noteEnded(): void {
    const nowMs = this.#ports.nowMs();
    for (const open of this.#ports.all()) {
      for (const record of open.beginOverdueEnds(nowMs)) void this.#ports.record(record);
      for (const { macAddress, address } of open.takeEnded(nowMs))
        this.#observe('expired', { poolName: open.pool.name, macAddress, address });
    }
  }

  /** Sends the reply if no other host uses the address and the record survives a crash; otherwise returns why not. Never rejects. */
  async recordThenSend(answer: RecordAnswer, interfaceName: string): Promise<MessageReason | undefined> {
    const { counters } = this.#ports;
    const { record, reply, client } = answer;
    const before = this.bindingAt(record.poolName, record.address);
    const notRecorded = await this.#record(answer, interfaceName);
    if (notRecorded !== undefined) {
      counters.count(client.type, 'ignored', notRecorded);
      return notRecorded;
    }
    const bytes = reply && this.#withTimeLeft(record, reply);
    if (reply !== undefined && bytes === undefined) counters.count(client.type, 'ignored', 'being-recorded');
    if (reply !== undefined && bytes !== undefined) {
      counters.count(client.type, 'ack', '');
      if (reply.omittedOptions.length > 0) counters.omitOptions(reply.omittedOptions.length);
      this.#sendLater(interfaceName, { poolName: record.poolName, bytes, queued: queuedReplyOf(reply) });
    }
    if (record.kind === 'binding') this.#onBound(record, { event: answer.event, before, interfaceName });
    return undefined;
  }

  /** A client that has sent again meanwhile counts from then, so it is granted what is left of the record. Undefined if that is next to nothing. */
  #withTimeLeft(record: BindingRecord, { bytes }: ReplyAnswer): Uint8Array | undefined {
    const waitedMs = record.kind === 'binding' ? this.#ports.nowMs() - record.grantedAtMs : 0;
    if (waitedMs < 1_000) return bytes;
    const left = shortenLease(bytes, Math.ceil(waitedMs / 1_000));
    return left.leaseSeconds < LEAST_LEASE_SECONDS ? undefined : left.bytes;
  }

  /** Why the lease is not recorded; undefined if it is. */
  async #record({ record, event }: RecordAnswer, interfaceName: string): Promise<MessageReason | undefined> {
    const doubt = event === 'bound' && record.kind === 'binding' ? await this.#whyNotFree(record, interfaceName) : undefined;
    if (doubt === undefined) return (await this.#store(record)) ? undefined : 'not-recorded';
    const open = this.openPoolOf(record.poolName);
    open?.notRecorded(record, this.#ports.nowMs());
    if (doubt.reason === 'address-in-use' && record.kind === 'binding') this.#onUsed(record, doubt.users, interfaceName);
    return doubt.reason;
  }

  /** An answer that waited for a probe may be of an earlier leadership: its pool began anew, and another client may have the address. */
  async #store(record: BindingRecord): Promise<boolean> {
    const isCurrent = this.openPoolOf(record.poolName)?.addresses.recordingAt(record.address) === record;
    return isCurrent && (await this.#ports.record(record));
  }

  /** The hosts that use the address, on each interface of its pool. Rejects if one of the probes fails. */
  readonly #findUsers: FindAddressUsers = async (interfaceName, lease) => {
    const { findUsers, interfacesOf } = this.#ports;
    const interfaces = new Set([interfaceName, ...interfacesOf(lease.poolName)]);
    const uses = await Promise.all([...interfaces].map((one) => findUsers(one, lease)));
    return { byClient: uses.some(({ byClient }) => byClient), others: uses.flatMap(({ others }) => others) };
  };

  /** Probes the address, unless it was probed for this client shortly before. Undefined if no other host uses it. */
  async #whyNotFree(lease: Lease, interfaceName: string): Promise<AddressDoubt | undefined> {
    if (!this.#needsProbe(lease)) return undefined;
    if (this.#requested >= MOST_REQUESTED) return { reason: 'address-being-probed' };
    this.#requested += 1;
    try {
      const { others } = await this.#findUsers(interfaceName, lease);
      return others.length > 0 ? { reason: 'address-in-use', users: others } : undefined;
    } catch (error) {
      this.#ports.observer.observe({ kind: 'address-not-probed', interfaceName, error });
      return { reason: 'address-being-probed' };
    } finally {
      this.#requested -= 1;
    }
  }

  #onBound(
    { poolName, macAddress, address, hostname, grantedAtMs }: Binding & Pick<Lease, 'poolName'>,
    { event, before, interfaceName }: Pick<RecordAnswer, 'event'> & { before: Binding | undefined; interfaceName: string },
  ): void {
    // For the next client the address has to be probed again.
    this.#free.delete(keyOf({ poolName, address }));
    if (event === 'renewed') {
      this.#probesFormerHolder({ poolName, macAddress }, interfaceName);
      if (before !== undefined && !isProven(before, before.grantedAtMs) && isProven(before, grantedAtMs))
        this.#ports.observer.observe({ kind: 'client-proven', pool: poolName, macAddress });
    } else {
      const lease = { poolName, macAddress, address, ...(hostname !== undefined && { hostname }) };
      this.#observe(event, lease, { interface: interfaceName });
    }
  }

  #probesFormerHolder({ poolName, macAddress }: Pick<Lease, 'poolName' | 'macAddress'>, interfaceName: string): boolean {
    const open = this.openPoolOf(poolName);
    return open !== undefined && this.#ends.probesFormerHolder(open, macAddress, interfaceName);
  }

  #needsProbe(lease: Lease): boolean {
    const { probes, nowMs } = this.#ports;
    const open = this.openPoolOf(lease.poolName);
    if (open === undefined || !probes(lease.poolName)) return false;
    const binding = open.bindings.at(lease.address);
    if (binding?.macAddress === lease.macAddress && isBindingValid(binding, nowMs())) return false;
    const free = this.#free.get(keyOf(lease));
    // The wall clock may have been set back meanwhile.
    const isFresh = free !== undefined && free.untilMs > nowMs() && free.untilMs <= nowMs() + OFFER_MS;
    return !isFresh || free.macAddress !== lease.macAddress;
  }

  async #probe(key: string, probed: Probed): Promise<void> {
    const { lease, interfaceName } = probed;
    const { observer, counters } = this.#ports;
    this.#probed.set(key, probed);
    let isUsed = false;
    try {
      const { others } = await this.#findUsers(interfaceName, lease);
      isUsed = others.length > 0;
      if (isUsed) this.#onUsed(lease, others, interfaceName);
      else {
        this.#noteFree(key, lease);
        counters.count('discover', 'offer', '');
        this.#sendLater(interfaceName, probed.offer);
        this.#ports.onLateOffer({ lease, interfaceName, hardwareAddress: probed.offer.queued.hardwareAddress });
      }
    } catch (error) {
      observer.observe({ kind: 'address-not-probed', interfaceName, error });
    } finally {
      this.#probed.delete(key);
    }
    if (isUsed) this.#askAgain(probed);
  }

  /** Many hosts have addresses that are not recorded after a backup of the leases was restored: the next client shall not have to ask for each of them. */
  #askAgain({ packet, interfaceName, found }: Probed): void {
    if (found + 1 >= MOST_FOUND_IN_USE) return;
    this.#found = found + 1;
    this.#ports.again?.(interfaceName, packet);
    this.#found = 0;
  }

  #noteFree(key: string, { macAddress }: Lease): void {
    this.#free.delete(key);
    this.#free.set(key, { macAddress, untilMs: this.#ports.nowMs() + OFFER_MS });
    const oldest = this.#free.keys().next();
    if (this.#free.size > MOST_FREE && !oldest.done) this.#free.delete(oldest.value);
  }

  #onUsed({ poolName, macAddress, address }: Lease, users: readonly MacAddress[], interfaceName: string): void {
    const open = this.openPoolOf(poolName);
    const owner = open?.bindings.at(address)?.macAddress;
    if (open !== undefined && owner !== undefined && users.includes(owner)) {
      void this.#restore(open, { poolName, macAddress: owner, address }, interfaceName);
      return;
    }
    const usedBy = users[0] as MacAddress;
    this.#ports.observer.observe({ kind: 'address-conflict', pool: poolName, macAddress, address, usedBy });
    if (open !== undefined) this.#quarantine(open, address);
  }

  /** The remembered client of the address uses it: its lease goes on. */
  async #restore(open: OpenPool, lease: Lease, interfaceName: string): Promise<void> {
    const record = open.beginRestoring(lease.address, lease.macAddress, this.#ports.nowMs());
    if (record === undefined || !(await this.#ports.record(record))) return;
    this.#observe('bound', lease, { interface: interfaceName, isInUse: true });
  }

  #quarantine(open: OpenPool, address: Ipv4Address): void {
    const nowMs = this.#ports.nowMs();
    const record = open.beginQuarantine(address, nowMs + QUARANTINE_MS, nowMs);
    if (record === undefined) open.noteInUse(address, nowMs + QUARANTINE_MS);
    else void this.#ports.record(record);
  }

  /** Records of one group are reported one after the other, so their replies can leave together. */
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

function keyOf({ poolName, address }: Pick<Lease, 'poolName' | 'address'>): string {
  return `${poolName} ${address}`;
}
