/**
 * A pool whose dynamic addresses unknown clients may lease. It does no I/O and reads no clock.
 *
 * A binding takes two steps: a decision returns its record, and the binding takes effect when the caller reports that the record survives a crash
 * (`recorded`). Until then no other client gets its address. So every acknowledged address is among the records.
 */
import type { Ipv4Address } from '../address/ipv4-address.js';
import type { MacAddress } from '../address/mac-address.js';
import { mayBeKept } from '../allocation/address-allocator.js';
import { type Binding, type BindingRecord, isBindingValid } from '../binding/binding.js';
import type { BindingTable } from '../binding/binding-table.js';
import type { Pool } from '../pool/pool.js';
import { leaseExpiry } from '../server/answer-packet.js';
import type { ServedPool } from '../server/served-pool.js';
import { LeasableAddresses } from './leasable-addresses.js';
import type { DeclaredAddress } from './leasable-records.js';
import { isProven, LeaseTimes } from './lease-times.js';
import type { UnknownClient } from './unknown-client.js';

/** A declared address that an unknown client still uses. */
export interface WaitingDeclaration {
  readonly declared: DeclaredAddress;
  /** When the lease of the unknown client ends. */
  readonly binding: Binding;
}

/** How the dynamic addresses are used: `size = valid + quarantined + declared + kept + free`. */
export interface OpenPoolCounts {
  readonly size: number;
  /** Leased now. */
  readonly valid: number;
  readonly quarantined: number;
  /** Not leased because an object declares them. */
  readonly declared: number;
  /** Free, and leased only to clients that had one, as few others are free. */
  readonly kept: number;
  /** Free to be leased to any client, offered ones included. */
  readonly free: number;
}

/** The lease of a client that was declared. */
export interface LeaseToAdopt {
  readonly macAddress: MacAddress;
  readonly address: Ipv4Address;
  /** Infinity for a lease that never ends. */
  readonly endsAtMs: number;
}

export class OpenPool {
  readonly #addresses: LeasableAddresses;
  #leaseTimes: LeaseTimes;

  /**
   * @param records - what was recorded for the pool, in order; records of other pools are ignored. If it is a table, the pool takes it over, and the
   * caller must not change it afterwards.
   * @param nowMs - milliseconds on the clock of the records.
   */
  constructor(served: ServedPool, records: Iterable<BindingRecord> | BindingTable, nowMs: number) {
    this.#leaseTimes = new LeaseTimes(served);
    this.#addresses = new LeasableAddresses(served.pool, records, nowMs);
  }

  get pool(): Pool {
    return this.served.pool;
  }

  get served(): ServedPool {
    return this.#leaseTimes.served;
  }

  /** Bindings, valid and ended, and quarantines. Read only. `records()` returns all of them, to replace a store. */
  get bindings(): Pick<BindingTable, 'ofClient' | 'at' | 'bindings' | 'records' | 'quarantines' | 'quarantinedSince' | 'size'> {
    return this.#addresses.table;
  }

  /** The state that decisions read. */
  get addresses(): LeasableAddresses {
    return this.#addresses;
  }

  /**
   * Replaces the definition of the pool; the name must stay the same. Bindings, offers and what is being recorded stay; a client whose address is not
   * dynamic any more keeps it as long as it renews its lease.
   */
  setPool(served: ServedPool, nowMs: number): void {
    this.#leaseTimes = new LeaseTimes(served);
    this.#addresses.setPool(served.pool, nowMs);
  }

  /** The addresses that objects declare now, all of them; the reservations of the pool count too. No unknown client gets one that it does not have. */
  declare(declared: Iterable<DeclaredAddress>, nowMs: number): void {
    this.#addresses.declare(declared, nowMs);
  }

  /**
   * Declared addresses that must not be served yet, because a client with another MAC address leases them, or will when its record survives. That
   * client gets a DHCPNAK when it renews its lease, and then another address.
   */
  waitingDeclarations(nowMs: number): WaitingDeclaration[] {
    return [...this.#addresses.declared.values()].flatMap((declared) => {
      const { address, macAddress } = declared;
      const recording = this.#addresses.recordingAt(address);
      const users = [recording?.kind === 'binding' ? recording : undefined, this.#addresses.table.at(address)];
      const binding = users.find((user) => user !== undefined && user.macAddress !== macAddress && isBindingValid(user, nowMs));
      return macAddress === undefined || binding === undefined ? [] : [{ declared, binding }];
    });
  }

  /**
   * The record that lets a client that was declared keep its address as an unknown client until its lease ends. Record it, and call `recorded`,
   * before the declaration goes. Undefined if no client may have the address in this pool, or an unknown client still uses it.
   */
  adoptionOf({ macAddress, address, endsAtMs }: LeaseToAdopt, nowMs: number): BindingRecord | undefined {
    if (!mayBeKept(this.pool, address) || this.waitingDeclarations(nowMs).some(({ binding }) => binding.address === address))
      return undefined;
    return {
      ...{ kind: 'binding', poolName: this.pool.name, address, macAddress },
      ...{ boundAtMs: nowMs, grantedAtMs: nowMs, endsAtMs, isReleased: false },
    };
  }

  /**
   * The record that quarantines the address until `untilMs`, because another machine uses it, and ends its binding. Record it, and call `recorded`.
   * Undefined if a quarter of the dynamic addresses (at least one) is in quarantine, or the address is not dynamic, is declared, or is being
   * recorded.
   *
   * Source: RFC 2131 §4.3.3.
   */
  beginQuarantine(address: Ipv4Address, untilMs: number, nowMs: number): BindingRecord | undefined {
    const addresses = this.#addresses;
    addresses.advance(nowMs);
    const isFull = addresses.quarantinedCount >= Math.max(1, Math.floor(addresses.size / 4));
    if (isFull && !addresses.isQuarantined(address, nowMs)) return undefined;
    if (!addresses.isDynamic(address) || this.#isAssigned(address)) return undefined;
    if (addresses.recordingAt(address) !== undefined) return undefined;
    // The client may still believe in its lease: until that ends, no other client gets the address.
    const leasedUntilMs = addresses.table.at(address)?.endsAtMs ?? untilMs;
    const times = { untilMs: Math.max(untilMs, leasedUntilMs), beganAtMs: nowMs };
    const record: BindingRecord = { kind: 'quarantine', poolName: this.pool.name, address, ...times };
    addresses.beginRecording(record, nowMs);
    return record;
  }

  /** The record that ends the quarantine of the address early. Undefined if it is not in quarantine, or is being recorded. */
  beginQuarantineEnd(address: Ipv4Address, nowMs: number): BindingRecord | undefined {
    const addresses = this.#addresses;
    if (!addresses.isQuarantined(address, nowMs) || addresses.recordingAt(address) !== undefined) return undefined;
    const record: BindingRecord = { kind: 'quarantine', poolName: this.pool.name, address, untilMs: nowMs };
    addresses.beginRecording(record, nowMs);
    return record;
  }

  /**
   * The records that end leases and quarantines which were recorded while a clock was ahead, and would last for years: each has lasted for its whole
   * time since this pool first saw it. Call it every few seconds; record each result, and call `recorded`.
   */
  beginOverdueEnds(nowMs: number): BindingRecord[] {
    const records = this.#addresses
      .overdue(nowMs)
      .filter((record) =>
        record.kind === 'binding' ? !this.#isChanging(record) : this.#addresses.recordingAt(record.address) === undefined,
      );
    for (const record of records) this.#addresses.beginRecording(record, nowMs);
    return records;
  }

  /**
   * Notes that another host uses the address, for which `beginQuarantine` returned no record: a client to which the address is bound gets another one
   * until `untilMs`. Only in memory.
   */
  noteInUse(address: Ipv4Address, untilMs: number): void {
    this.#addresses.noteInUse(address, untilMs);
  }

  /**
   * The record that ends the lease, because a person ends it, or because the address is bound to another client and the client does not answer a
   * probe. The client is remembered. Record it, and call `recorded`. Undefined if there is no such lease any more, its client has renewed it since,
   * or the address, or another one of the client, is being recorded.
   *
   * @param grantedAtMs - `grantedAtMs` of the binding when the probe began.
   */
  beginRelease(address: Ipv4Address, grantedAtMs: number, nowMs: number): BindingRecord | undefined {
    const binding = this.#addresses.table.at(address);
    if (binding === undefined || !isBindingValid(binding, nowMs) || binding.grantedAtMs !== grantedAtMs) return undefined;
    if (this.#isChanging(binding)) return undefined;
    const record: BindingRecord = { kind: 'binding', poolName: this.pool.name, ...binding, endsAtMs: nowMs, isReleased: true };
    this.#addresses.beginRecording(record, nowMs);
    return record;
  }

  /**
   * The record that continues a lease that has ended, because its client still uses the address: it did not answer when a person ended the lease, or
   * it did not hear that the lease has ended. Record it, and call `recorded`. Undefined if the address is not remembered for a client with this MAC
   * address, or is being recorded.
   */
  beginRestoring(address: Ipv4Address, usedBy: MacAddress, nowMs: number): BindingRecord | undefined {
    const binding = this.#addresses.table.at(address);
    if (binding?.macAddress !== usedBy || isBindingValid(binding, nowMs)) return undefined;
    if (this.#isChanging(binding)) return undefined;
    const wasProven = isProven(binding, binding.grantedAtMs);
    const known = this.#addresses.isScarce ? this.#leaseTimes.proven(binding, nowMs) : this.served;
    const served = wasProven ? known : this.#leaseTimes.short;
    const endsAtMs = leaseExpiry(served.pool, nowMs);
    const boundAtMs = wasProven ? binding.boundAtMs : nowMs;
    const times = { boundAtMs, grantedAtMs: nowMs, endsAtMs, isReleased: false };
    const record: BindingRecord = { kind: 'binding', poolName: this.pool.name, ...binding, ...times };
    this.#addresses.beginRecording(record, nowMs);
    return record;
  }

  /**
   * The lease of another client that keeps this client from its bound address. Probe it when this client asks: if its host does not answer,
   * `beginRelease` ends it.
   */
  formerHolderOf(client: Pick<UnknownClient, 'macAddress'>, nowMs: number): Binding | undefined {
    const address = this.#addresses.boundToOf(client);
    const binding = address === undefined ? undefined : this.#addresses.table.at(address);
    if (binding === undefined || binding.macAddress === client.macAddress) return undefined;
    return isBindingValid(binding, nowMs) ? binding : undefined;
  }

  /** Applies a record that survives a crash. Call it in the order in which records were recorded, also with the records of another replica. */
  recorded(record: BindingRecord, nowMs: number): void {
    this.#addresses.apply(record, nowMs);
    this.#addresses.endRecording(record, nowMs);
  }

  /** Drops a record that may not survive a crash: its client gets no reply, and may ask again. */
  notRecorded(record: BindingRecord, nowMs: number): void {
    this.#addresses.endRecording(record, nowMs);
  }

  /**
   * Bindings whose lease has ended without a RELEASE since the last call, for logs and watchers. Their clients are remembered. A lease that began
   * anew before the call is left out.
   */
  takeEnded(nowMs: number): Binding[] {
    return this.#addresses.takeEnded(nowMs);
  }

  counts(nowMs: number): OpenPoolCounts {
    const addresses = this.#addresses;
    addresses.advance(nowMs);
    const { size, validCount: valid, quarantinedCount: quarantined } = addresses;
    const isFree = (address: Ipv4Address) => {
      const binding = addresses.table.at(address);
      return binding === undefined || !isBindingValid(binding, nowMs);
    };
    const declared = [...addresses.declared.keys()].filter((address) => {
      return addresses.isDynamic(address) && !addresses.isQuarantined(address, nowMs) && isFree(address);
    }).length;
    const kept = addresses.keptCount(nowMs);
    return { size, valid, quarantined, declared, kept, free: Math.max(0, size - valid - quarantined - declared - kept) };
  }

  /** The pool with the lease time that the client gets for the address: its own, or a shorter one, `SHORT_LEASE_SECONDS` at least. */
  servedFor(client: UnknownClient, address: Ipv4Address, nowMs: number): ServedPool {
    const boundTo = this.#addresses.boundToOf(client);
    // A bound address has the pool's full lease time, because no other client gets it. Any other lease of the bound client is short: it moves as soon
    // as it can.
    if (boundTo !== undefined) return boundTo === address ? this.served : this.#leaseTimes.short;
    const own = this.#addresses.bindingOf(client);
    if (own?.address !== address || !isBindingValid(own, nowMs))
      return this.#isShortAtFirst(client, address) ? this.#leaseTimes.short : this.served;
    return this.#addresses.isScarce || !isProven(own, nowMs) ? this.#leaseTimes.proven(own, nowMs) : this.served;
  }

  /** Keeps the address for the client for a short time, in memory. */
  offer(client: UnknownClient, address: Ipv4Address, nowMs: number): void {
    this.#addresses.offer(client, address, { isShort: this.#isShortAtFirst(client, address), nowMs });
  }

  /** The record of the client's new or renewed binding. Nothing else happens to the address until `recorded` or `notRecorded` is called with it. */
  beginRecording(client: UnknownClient, address: Ipv4Address, nowMs: number): Extract<BindingRecord, { kind: 'binding' }> {
    const { macAddress } = client;
    const own = this.#addresses.bindingOf(client);
    const isRenewal = own?.address === address && isBindingValid(own, nowMs);
    const hostname = client.hostname ?? own?.hostname;
    const record = {
      ...{ kind: 'binding' as const, poolName: this.pool.name, address, macAddress },
      ...(hostname !== undefined && { hostname }),
      // Even if its lease had ended: a client that comes back was not made up.
      boundAtMs: own?.address === address ? own.boundAtMs : nowMs,
      grantedAtMs: nowMs,
      // The client learns of a shorter lease from the ACK, which may be lost: it may use the address until the longer lease ends.
      endsAtMs: Math.max(isRenewal ? own.endsAtMs : 0, leaseExpiry(this.servedFor(client, address, nowMs).pool, nowMs)),
      isReleased: false,
    };
    this.#addresses.beginRecording(record, nowMs, client.port);
    return record;
  }

  /** True if the address, or another one of its client, is being recorded: a second record would end what the first has acknowledged. */
  #isChanging(binding: Binding): boolean {
    return this.#addresses.recordingAt(binding.address) !== undefined || this.#addresses.isMoving(binding);
  }

  /** True if an object assigns the address, or keeps it from all clients: this pool does not lease it. */
  #isAssigned(address: Ipv4Address): boolean {
    const declared = this.#addresses.declared.get(address);
    return declared !== undefined && declared.isLeasedHere !== true;
  }

  #isShortAtFirst(client: UnknownClient, address: Ipv4Address): boolean {
    const offer = this.#addresses.offerOf(client);
    return offer?.address === address ? offer.isShort : this.#addresses.isScarce || !this.#addresses.isKnown(client);
  }
}
