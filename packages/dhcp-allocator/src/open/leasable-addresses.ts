/**
 * The dynamic addresses of a pool and all that keeps one from being leased: the binding of another client, an offer, a record that is being written,
 * a declaration, a quarantine. After any change of an address, `#refresh` puts it in its place; so there is one rule for what is free.
 */
import type { Ipv4Address } from '../address/ipv4-address.js';
import type { MacAddress } from '../address/mac-address.js';
import { mayBeKept } from '../allocation/address-allocator.js';
import { type Binding, type BindingRecord, isBindingValid } from '../binding/binding.js';
import { BindingTable } from '../binding/binding-table.js';
import { EndOrder } from '../binding/end-order.js';
import type { Pool } from '../pool/pool.js';
import { AddressSupply } from './address-supply.js';
import type { Ahead } from './ahead.js';
import { bindingTableOf, type DeclaredAddress, isOfClient, mayBeMadeUp } from './leasable-records.js';
import { isProven } from './lease-times.js';
import { MOST_OFFERS, OFFER_MS, type Offer, Offers } from './offers.js';
import { PortLeases } from './port-leases.js';
import type { UnknownClient } from './unknown-client.js';

/** How far the clock of another replica may be ahead. */
const MOST_AHEAD_MS = 60_000;

/** A clock that goes back by more than this may make leases valid again that had ended. */
const STEP_MS = 1_000;

export class LeasableAddresses {
  readonly table: BindingTable;
  readonly #offers = new Offers();
  readonly #portLeases = new PortLeases();
  /** When it was first seen that a lease or a quarantine began in the future, by address. */
  readonly #seenAheadMs = new Map<Ipv4Address, number>();
  /** Until this time, clients may still hold offers from before the start. */
  #startIsOverAtMs: number;
  #latestMs: number;
  /** Dynamic addresses that are declared or being recorded, and not leased. */
  readonly #spokenFor = new Set<Ipv4Address>();
  /** What is being recorded, by address. */
  readonly #recording = new Map<Ipv4Address, BindingRecord>();
  readonly #quarantineEnds = new EndOrder();
  /**
   * By address: until when an address that is bound to a client is taken to be in use by another host. Only in memory, because probes find it out
   * again.
   */
  readonly #inUseUntilMs = new Map<Ipv4Address, number>();
  /** Leases that ended, until `takeEnded` returns them. */
  readonly #ended = new Map<Ipv4Address, Binding>();
  /** As passed to `declare`, without the reservations of the pool. */
  #given: readonly DeclaredAddress[] = [];
  #declared: ReadonlyMap<Ipv4Address, DeclaredAddress> = new Map();
  /** The bound address of each client. */
  #boundTo: ReadonlyMap<MacAddress, Ipv4Address> = new Map();
  #pool: Pool;
  #supply: AddressSupply;

  constructor(pool: Pool, records: Iterable<BindingRecord> | BindingTable, nowMs: number) {
    this.table = records instanceof BindingTable ? records : bindingTableOf(pool.name, records);
    this.#startIsOverAtMs = nowMs + OFFER_MS;
    this.#latestMs = nowMs;
    this.#pool = pool;
    this.#supply = new AddressSupply(pool.dynamic);
    this.setPool(pool, nowMs);
  }

  /** Changes the dynamic addresses. Bindings, offers and records in progress stay. */
  setPool(pool: Pool, nowMs: number): void {
    this.#pool = pool;
    this.#supply = new AddressSupply(pool.dynamic);
    for (const { address } of this.table.bindings()) this.#refresh(address, nowMs);
    for (const [address, untilMs] of this.table.quarantines()) {
      if (this.isDynamic(address)) this.#quarantineEnds.set(address, untilMs);
      else this.#quarantineEnds.delete(address);
    }
    for (const address of this.table.quarantines().keys()) this.#refresh(address, nowMs);
    for (const address of this.#recording.keys()) this.#refresh(address, nowMs);
    for (const { address } of this.#offers.all()) this.#refresh(address, nowMs);
    this.declare(this.#given, nowMs);
  }

  /** Declares these addresses, and the reservations of the pool. */
  declare(declared: Iterable<DeclaredAddress>, nowMs: number): void {
    const before = this.#declared;
    this.#given = [...declared];
    const all = [...this.#given, ...this.#pool.reservations.values()];
    this.#declared = new Map(all.map((each) => [each.address, each]));
    this.#boundTo = new Map(
      all.flatMap(({ address, macAddress, isLeasedHere }: DeclaredAddress) =>
        macAddress === undefined || isLeasedHere !== true ? [] : [[macAddress, address]],
      ),
    );
    for (const address of this.#declared.keys()) this.#withdrawOfferAt(address);
    for (const address of this.#inUseUntilMs.keys()) if (!this.#declared.has(address)) this.#inUseUntilMs.delete(address);
    for (const address of new Set([...before.keys(), ...this.#declared.keys()])) this.#refresh(address, nowMs);
  }

  get declared(): ReadonlyMap<Ipv4Address, DeclaredAddress> {
    return this.#declared;
  }

  get size(): number {
    return this.#supply.size;
  }

  get validCount(): number {
    return this.#supply.validCount;
  }

  get quarantinedCount(): number {
    return this.#quarantineEnds.size;
  }

  /** True if less than half of the addresses are free. */
  get isScarce(): boolean {
    return 2 * (this.validCount + this.quarantinedCount + this.#spokenFor.size) > this.size;
  }

  isDynamic(address: Ipv4Address): boolean {
    return this.#supply.contains(address);
  }

  isQuarantined(address: Ipv4Address, nowMs: number): boolean {
    return (this.table.quarantines().get(address) ?? Number.NEGATIVE_INFINITY) > nowMs;
  }

  /**
   * The ends of leases and quarantines that began in the future, and whose whole time has passed since they were first seen here. Whether the clock was ahead then or is behind
   * now cannot be known: so each lasts for its whole time, and no longer.
   */
  overdue(nowMs: number): BindingRecord[] {
    const ahead = new Map([...this.#quarantinesAhead(nowMs), ...this.#leasesAhead(nowMs)]);
    for (const address of this.#seenAheadMs.keys()) if (!ahead.has(address)) this.#seenAheadMs.delete(address);
    return [...ahead].flatMap(([address, { lastsMs, end }]) => {
      const seenMs = Math.min(this.#seenAheadMs.get(address) ?? nowMs, nowMs);
      this.#seenAheadMs.set(address, seenMs);
      return nowMs - seenMs >= lastsMs ? [end] : [];
    });
  }

  *#quarantinesAhead(nowMs: number): Generator<readonly [Ipv4Address, Ahead]> {
    const { poolName } = this.table;
    for (const [address, beganAtMs] of this.table.quarantinedSince()) {
      const lastsMs = (this.table.quarantines().get(address) ?? beganAtMs) - beganAtMs;
      if (beganAtMs > nowMs + MOST_AHEAD_MS)
        yield [address, { lastsMs, end: { kind: 'quarantine', poolName, address, untilMs: nowMs } }];
    }
  }

  *#leasesAhead(nowMs: number): Generator<readonly [Ipv4Address, Ahead]> {
    for (const binding of this.table.grantedAfter(nowMs + MOST_AHEAD_MS)) {
      const { address, boundAtMs, grantedAtMs, endsAtMs } = binding;
      const lastsMs = endsAtMs - grantedAtMs;
      const times = { boundAtMs: nowMs - endsAtMs + boundAtMs, grantedAtMs: nowMs - lastsMs, endsAtMs: nowMs };
      yield [address, { lastsMs, end: { kind: 'binding', poolName: this.table.poolName, ...binding, ...times } }];
    }
  }

  /** The record in progress for the address. */
  recordingAt(address: Ipv4Address): BindingRecord | undefined {
    return this.#recording.get(address);
  }

  /** All records in progress. */
  recordings(): Iterable<BindingRecord> {
    return this.#recording.values();
  }

  /** True if the client is being recorded with another address; it loses this one when that is done. */
  isMoving({ macAddress, address }: Pick<Binding, 'macAddress' | 'address'>): boolean {
    for (const record of this.#recording.values())
      if (record.kind === 'binding' && record.macAddress === macAddress && record.address !== address) return true;
    return false;
  }

  /** Notes that another host uses an address that is bound to a client: until `untilMs` that client gets another one. */
  noteInUse(address: Ipv4Address, untilMs: number): void {
    if (this.#declared.get(address)?.isLeasedHere === true) this.#inUseUntilMs.set(address, untilMs);
  }

  offerOf({ macAddress }: Pick<UnknownClient, 'macAddress'>): Offer | undefined {
    return this.#offers.of(macAddress);
  }

  /** Bindings whose lease has ended without a RELEASE since the last call; one that began anew meanwhile is not among them. */
  takeEnded(nowMs: number): Binding[] {
    this.advance(nowMs);
    const ended = [...this.#ended.values()];
    this.#ended.clear();
    return ended;
  }

  /** Ends offers, leases and quarantines whose time is over. A clock that has gone back begins some of them again. */
  advance(nowMs: number): void {
    if (nowMs < this.#latestMs - STEP_MS) {
      this.#startIsOverAtMs = Number.NEGATIVE_INFINITY;
      this.setPool(this.#pool, nowMs);
    }
    this.#latestMs = nowMs;
    for (const { address } of this.#offers.expire(nowMs)) this.#refresh(address, nowMs);
    for (let address = this.#supply.nextToEnd(nowMs); address !== undefined; address = this.#supply.nextToEnd(nowMs)) {
      this.#refresh(address, nowMs);
      const binding = this.table.at(address);
      if (binding !== undefined) this.#ended.set(address, binding);
    }
    while (this.#quarantineEnds.firstEndsAtMs <= nowMs) {
      const address = this.#quarantineEnds.first as Ipv4Address;
      this.#quarantineEnds.delete(address);
      this.#refresh(address, nowMs);
    }
  }

  /** The binding of the client, valid or ended. */
  bindingOf({ macAddress }: Pick<UnknownClient, 'macAddress'>): Binding | undefined {
    return this.table.ofClient(macAddress);
  }

  /** The address that is bound to this client, whether it may have it yet or not. */
  boundToOf({ macAddress }: Pick<UnknownClient, 'macAddress'>): Ipv4Address | undefined {
    return this.#boundTo.get(macAddress);
  }

  /** The address that is bound to this client, unless another client still has it. */
  boundAddressOf(client: UnknownClient, nowMs: number): Ipv4Address | undefined {
    const address = this.boundToOf(client);
    return address !== undefined && this.mayBind(client, address, nowMs) ? address : undefined;
  }

  /** True if the client may have the address: it has, had or was offered it, and no other client has it. */
  mayBind(client: UnknownClient, address: Ipv4Address, nowMs: number): boolean {
    if (this.#isRecordedForOther(client, address)) return false;
    const binding = this.table.at(address);
    const isBound = this.#boundTo.get(client.macAddress) === address;
    const isOwn = binding?.macAddress === client.macAddress;
    if (binding !== undefined && isBindingValid(binding, nowMs)) return isOwn && this.#mayKeep(client, address);
    if (isBound) return this.#mayKeep(client, address) && !this.#isInUse(address, nowMs);
    return this.#isLeasable(address, nowMs) && this.#mayHave(client, address, nowMs);
  }

  /** True if it had the address or was offered it, and has no other one. */
  #mayHave(client: UnknownClient, address: Ipv4Address, nowMs: number): boolean {
    const isOwn = this.table.at(address)?.macAddress === client.macAddress;
    return (isOwn || this.#mayTake(client, address, nowMs)) && !this.#hasOther(client, address, nowMs);
  }

  /** True if the client keeps another address, or is about to get one. */
  #hasOther(client: UnknownClient, address: Ipv4Address, nowMs: number): boolean {
    const own = this.bindingOf(client);
    const keeps =
      own !== undefined && own.address !== address && isBindingValid(own, nowMs) && this.#mayKeep(client, own.address);
    return keeps || this.isMoving({ macAddress: client.macAddress, address });
  }

  /**
   * The address that the client is offered: the one that is bound to it, else its own, else its last one, else the one of an earlier offer, else the
   * one it wishes for, else the lowest one that no client had, else the one whose lease ended first, else the one of the oldest offer. Undefined if
   * all are in use, or the free ones are kept for clients that had an address here or for clients at other ports.
   *
   * Source: RFC 2131 §4.3.1.
   */
  chooseAddress(client: UnknownClient, wished: Ipv4Address | undefined, nowMs: number): Ipv4Address | undefined {
    const known = [this.#boundTo.get(client.macAddress), this.bindingOf(client)?.address, this.offerOf(client)?.address];
    for (const address of known) if (address !== undefined && this.mayBind(client, address, nowMs)) return address;
    return this.#isPortFull(client) ? undefined : this.#chooseNewAddress(client, wished, nowMs);
  }

  #chooseNewAddress(client: UnknownClient, wished: Ipv4Address | undefined, nowMs: number): Ipv4Address | undefined {
    if (wished !== undefined && this.#supply.isUnused(wished)) return wished;
    const keptSinceMs = this.isKnown(client) ? Number.POSITIVE_INFINITY : this.#keptSinceMs(nowMs);
    const next = () => this.#supply.lowestUnused() ?? this.#supply.oldestEnded(keptSinceMs);
    let address = next();
    while (address === undefined && this.#shareOldestOffer(nowMs)) address = next();
    return address;
  }

  /** How many free addresses are kept for the clients that had them. */
  keptCount(nowMs: number): number {
    return this.#supply.keptCount(this.#keptSinceMs(nowMs));
  }

  /** Addresses are kept for as long again as a lease lasts. */
  #keptSinceMs(nowMs: number): number {
    return nowMs - 1_000 * this.#pool.leaseTimeSeconds;
  }

  /** The client has renewed a lease here. */
  isKnown(client: UnknownClient): boolean {
    const binding = this.bindingOf(client);
    return binding !== undefined && isProven(binding, binding.grantedAtMs);
  }

  /** Keeps the address for the client for a short time. An offer of the client's own lease keeps nothing. */
  offer(client: UnknownClient, address: Ipv4Address, { isShort, nowMs }: { isShort: boolean; nowMs: number }): void {
    const binding = this.table.at(address);
    if (binding !== undefined && isBindingValid(binding, nowMs)) return;
    this.withdrawOffer(client, nowMs);
    if (this.#offers.size >= MOST_OFFERS) this.#shareOldestOffer(nowMs);
    const { macAddress, place } = client;
    this.#offers.add({ macAddress, address, place, isShort, endsAtMs: nowMs + OFFER_MS });
    this.#refresh(address, nowMs);
  }

  withdrawOffer({ macAddress }: Pick<UnknownClient, 'macAddress'>, nowMs: number): void {
    const offer = this.#offers.remove(macAddress);
    if (offer !== undefined) this.#refresh(offer.address, nowMs);
  }

  /** No other client gets the address until `endRecording`. @param port - the client's port, if the client gets the address now. */
  beginRecording(record: BindingRecord, nowMs: number, port?: string): void {
    this.#recording.set(record.address, record);
    if (port !== undefined) this.#portLeases.add(record.address, port);
    this.#refresh(record.address, nowMs);
  }

  endRecording(record: BindingRecord, nowMs: number): void {
    if (this.#recording.get(record.address) === record) this.#recording.delete(record.address);
    this.#refresh(record.address, nowMs);
  }

  /** Applies a record that survives a crash. */
  apply(record: BindingRecord, nowMs: number): void {
    const { address } = record;
    this.#quarantineEnds.delete(address);
    if (record.kind === 'quarantine') this.#quarantineEnds.set(address, record.untilMs);
    else this.withdrawOffer(record, nowMs);
    // The first client that requests an address gets it; another client's offer of it is gone.
    this.#withdrawOfferAt(address);
    for (const changed of this.table.apply(record)) {
      this.#ended.delete(changed);
      this.#refresh(changed, nowMs);
    }
  }

  #mayTake(client: UnknownClient, address: Ipv4Address, nowMs: number): boolean {
    return this.wasOffered(client, address, nowMs) && !this.#isPortFull(client);
  }

  #isInUse(address: Ipv4Address, nowMs: number): boolean {
    return this.isQuarantined(address, nowMs) || (this.#inUseUntilMs.get(address) ?? Number.NEGATIVE_INFINITY) > nowMs;
  }

  #isRecordedForOther(client: UnknownClient, address: Ipv4Address): boolean {
    const recording = this.#recording.get(address);
    return recording !== undefined && !isOfClient(recording, client);
  }

  #withdrawOfferAt(address: Ipv4Address): void {
    const offer = this.#offers.at(address);
    if (offer !== undefined) this.#offers.remove(offer.macAddress);
  }

  #isLeasable(address: Ipv4Address, nowMs: number): boolean {
    return this.isDynamic(address) && !this.#declared.has(address) && !this.isQuarantined(address, nowMs);
  }

  /** Includes an address that is declared without a MAC address: the client may well be the intended host. */
  #mayKeep({ macAddress }: UnknownClient, address: Ipv4Address): boolean {
    if (!mayBeKept(this.#pool, address)) return false;
    const declared = this.#declared.get(address);
    return declared?.macAddress === undefined || declared.macAddress === macAddress;
  }

  /** True if an offered address may be offered again. */
  #shareOldestOffer(nowMs: number): boolean {
    const offer = this.#offers.shareOldest();
    if (offer !== undefined) this.#refresh(offer.address, nowMs);
    return offer !== undefined;
  }

  /** True if this server offered it, or the one before a restart may have: then no client had the address. */
  wasOffered({ macAddress }: UnknownClient, address: Ipv4Address, nowMs: number): boolean {
    if (this.#offers.wasOffered(macAddress, address, nowMs)) return true;
    return nowMs < this.#startIsOverAtMs && this.#supply.isUnused(address);
  }

  /** True if addresses are scarce and clients of this port that may be made up have a quarter of them. */
  #isPortFull({ port }: UnknownClient): boolean {
    if (port === undefined || !this.isScarce) return false;
    return this.#portLeases.countOf(port) >= Math.max(1, Math.floor(this.size / 4));
  }

  #isSpokenFor(address: Ipv4Address, nowMs: number): boolean {
    const binding = this.table.at(address);
    if (!this.isDynamic(address) || this.isQuarantined(address, nowMs)) return false;
    if (binding !== undefined && isBindingValid(binding, nowMs)) return false;
    return this.#declared.has(address) || this.#recording.has(address);
  }

  #refresh(address: Ipv4Address, nowMs: number): void {
    const isBlocked =
      this.#declared.has(address) ||
      this.#recording.has(address) ||
      this.#offers.at(address) !== undefined ||
      this.isQuarantined(address, nowMs);
    const binding = this.table.at(address);
    this.#supply.refresh(address, { binding, isBlocked }, nowMs);
    if (this.#isSpokenFor(address, nowMs)) this.#spokenFor.add(address);
    else this.#spokenFor.delete(address);
    if (!this.#recording.has(address) && !mayBeMadeUp(binding, nowMs)) this.#portLeases.delete(address);
  }
}
