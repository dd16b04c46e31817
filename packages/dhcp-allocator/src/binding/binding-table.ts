/**
 * The bindings of one pool, by address and by client, and its quarantines. Only records change it, so the records restore exactly the table that was
 * lost.
 *
 * A binding is a row of columns instead of an object: a /16 of them takes a third of the memory, and the garbage collector has nothing to look at.
 */
import type { Ipv4Address } from '../address/ipv4-address.js';
import { type MacAddress, macAddressBytes, readMacAddress } from '../address/mac-address.js';
import type { Binding, BindingRecord } from './binding.js';

const SMALLEST_CAPACITY = 64;
const MAC_LENGTH = 6;

export class BindingTable {
  readonly poolName: string;
  /** By address as a signed number, which takes less memory than one above 2^31. */
  readonly #rowOfAddress = new Map<number, number>();
  readonly #rowOfClient = new Map<MacAddress, number>();
  readonly #vacantRows: number[] = [];
  readonly #quarantinedUntilMs = new Map<Ipv4Address, number>();
  /** Only the quarantines whose beginning is known. */
  readonly #quarantinedSinceMs = new Map<Ipv4Address, number>();
  readonly #hostnames = new Map<number, string>();
  #addresses = new Uint32Array(SMALLEST_CAPACITY);
  #macAddresses = new Uint8Array(MAC_LENGTH * SMALLEST_CAPACITY);
  #boundAtMs = new Float64Array(SMALLEST_CAPACITY);
  #grantedAtMs = new Float64Array(SMALLEST_CAPACITY);
  #endsAtMs = new Float64Array(SMALLEST_CAPACITY);
  #isReleased = new Uint8Array(SMALLEST_CAPACITY);

  constructor(poolName: string) {
    this.poolName = poolName;
  }

  /** How many bindings there are, ended ones included. */
  get size(): number {
    return this.#rowOfAddress.size;
  }

  /** The binding of the client, valid or ended. */
  ofClient(macAddress: MacAddress): Binding | undefined {
    const row = this.#rowOfClient.get(macAddress);
    return row === undefined ? undefined : this.#read(row);
  }

  /** The binding of the address, valid or ended. */
  at(address: Ipv4Address): Binding | undefined {
    const row = this.#rowOfAddress.get(address | 0);
    return row === undefined ? undefined : this.#read(row);
  }

  /** Addresses in quarantine, and those whose quarantine is over but that no client got since, each with the time until which no client gets it. */
  quarantines(): ReadonlyMap<Ipv4Address, number> {
    return this.#quarantinedUntilMs;
  }

  /** Addresses in quarantine, each with the time when the quarantine began, if that is known. */
  quarantinedSince(): ReadonlyMap<Ipv4Address, number> {
    return this.#quarantinedSinceMs;
  }

  /** Bindings, in the order in which their rows were first used. */
  *bindings(): Generator<Binding> {
    for (const row of this.#rowOfAddress.values()) yield this.#read(row);
  }

  /** Bindings whose last ACK was decided after this time. */
  *grantedAfter(timeMs: number): Generator<Binding> {
    for (const row of this.#rowOfAddress.values()) if ((this.#grantedAtMs[row] as number) > timeMs) yield this.#read(row);
  }

  /** A record for each binding and each quarantine: applied to an empty table, they restore this one. */
  *records(): Generator<BindingRecord> {
    for (const [address, untilMs] of this.#quarantinedUntilMs) {
      const beganAtMs = this.#quarantinedSinceMs.get(address);
      yield {
        ...{ kind: 'quarantine', poolName: this.poolName, address, untilMs },
        ...(beganAtMs !== undefined && { beganAtMs }),
      };
    }
    for (const binding of this.bindings()) yield { kind: 'binding', poolName: this.poolName, ...binding };
  }

  /**
   * Makes the change. A client has one binding and an address has one: a new binding ends the client's binding of another address, and another
   * client's binding of the address.
   *
   * @returns the addresses whose binding or quarantine changed.
   */
  apply(record: BindingRecord): Ipv4Address[] {
    const { address } = record;
    this.#quarantinedSinceMs.delete(address);
    if (record.kind === 'quarantine') {
      this.#remove(address);
      this.#quarantinedUntilMs.set(address, record.untilMs);
      if (record.beganAtMs !== undefined) this.#quarantinedSinceMs.set(address, record.beganAtMs);
      return [address];
    }
    this.#quarantinedUntilMs.delete(address);
    const formerRow = this.#rowOfClient.get(record.macAddress);
    const former = formerRow === undefined ? address : (this.#addresses[formerRow] as number);
    if (former !== address) this.#remove(former);
    this.#write(record);
    return former === address ? [address] : [former, address];
  }

  #read(row: number): Binding {
    const hostname = this.#hostnames.get(row);
    return {
      address: this.#addresses[row] as number,
      macAddress: this.#macAddressOf(row),
      ...(hostname !== undefined && { hostname }),
      boundAtMs: this.#boundAtMs[row] as number,
      grantedAtMs: this.#grantedAtMs[row] as number,
      endsAtMs: this.#endsAtMs[row] as number,
      isReleased: this.#isReleased[row] === 1,
    };
  }

  #write(binding: Binding): void {
    const known = this.#rowOfAddress.get(binding.address | 0);
    if (known !== undefined) this.#rowOfClient.delete(this.#macAddressOf(known));
    const row = known ?? this.#newRow(binding.address);
    this.#rowOfClient.set(binding.macAddress, row);
    this.#macAddresses.set(macAddressBytes(binding.macAddress), MAC_LENGTH * row);
    this.#boundAtMs[row] = binding.boundAtMs;
    this.#grantedAtMs[row] = binding.grantedAtMs;
    this.#endsAtMs[row] = binding.endsAtMs;
    this.#isReleased[row] = binding.isReleased ? 1 : 0;
    if (binding.hostname === undefined) this.#hostnames.delete(row);
    else this.#hostnames.set(row, binding.hostname);
  }

  #macAddressOf(row: number): MacAddress {
    return readMacAddress(this.#macAddresses, MAC_LENGTH * row);
  }

  #newRow(address: Ipv4Address): number {
    const row = this.#vacantRows.pop() ?? this.#rowOfAddress.size;
    if (row >= this.#addresses.length) this.#grow(2 * this.#addresses.length);
    this.#addresses[row] = address;
    this.#rowOfAddress.set(address | 0, row);
    return row;
  }

  #remove(address: Ipv4Address): void {
    const row = this.#rowOfAddress.get(address | 0);
    if (row === undefined) return;
    this.#rowOfAddress.delete(address | 0);
    this.#rowOfClient.delete(this.#macAddressOf(row));
    this.#hostnames.delete(row);
    this.#vacantRows.push(row);
  }

  #grow(capacity: number): void {
    this.#addresses = copied(this.#addresses, new Uint32Array(capacity));
    this.#macAddresses = copied(this.#macAddresses, new Uint8Array(MAC_LENGTH * capacity));
    this.#boundAtMs = copied(this.#boundAtMs, new Float64Array(capacity));
    this.#grantedAtMs = copied(this.#grantedAtMs, new Float64Array(capacity));
    this.#endsAtMs = copied(this.#endsAtMs, new Float64Array(capacity));
    this.#isReleased = copied(this.#isReleased, new Uint8Array(capacity));
  }
}

function copied<Column extends { set(from: Column): void }>(from: Column, into: Column): Column {
  into.set(from);
  return into;
}
