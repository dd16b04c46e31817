/** The addresses that one IPPool records, version after version: unchanged entries are compared, but neither parsed nor copied. */
import type { Assignment, Ipv4Address, MacAddress } from '@vmdhcp/dhcp-allocator';
import { isRecord, type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { changedAssignments, type ReadVersion, type RecordedAddresses, readRecordedAddresses } from '@vmdhcp/reconciler/pool';
import { AddressTable } from './address-table.js';

/** The content of a version. It does not change when a later one is read. */
export interface RecordedClients {
  readonly clients: AddressTable<Assignment>;
  /** Addresses that no client gets, because an invalid entry names them. */
  readonly unusable: readonly Ipv4Address[];
}

export class PoolRecord {
  #now: RecordedClients = { clients: AddressTable.of(), unusable: [] };
  /** The last version if all its entries are valid; undefined if the next version must be read completely. */
  #plain: ReadVersion | undefined;
  /** The address of each client in the last version. */
  #addressOf = new Map<MacAddress, Ipv4Address>();
  /** The parsed entries, if some are invalid. */
  #parsed: RecordedAddresses | undefined;

  /** Reads the next version. Never throws, whatever the object contains. */
  read(object: KubernetesObject): RecordedClients {
    const allocated = readField(object.status, 'ipv4', 'allocated');
    this.#now = (isRecord(allocated) ? this.#readChanges(allocated) : undefined) ?? this.#readAll(object, allocated);
    return this.#now;
  }

  /** Whether the client has an address in the last version. */
  readonly has = (macAddress: MacAddress): boolean => this.#addressOf.has(macAddress);

  #readChanges(allocated: Readonly<Record<string, unknown>>): RecordedClients | undefined {
    if (this.#plain === undefined) return undefined;
    const changes = changedAssignments(this.#plain, allocated, this.has);
    if (changes === undefined) return undefined;
    this.#plain = { allocated, size: changes.size };
    const clients = [...changes.removed, ...changes.assigned.map(({ macAddress }) => macAddress)];
    const removed = clients.flatMap((macAddress) => this.#addressOf.get(macAddress) ?? []);
    for (const macAddress of changes.removed) this.#addressOf.delete(macAddress);
    for (const { macAddress, address } of changes.assigned) this.#addressOf.set(macAddress, address);
    const set = changes.assigned.map((one) => [one.address, one] as const);
    return removed.length + set.length === 0 ? this.#now : { clients: this.#now.clients.with({ removed, set }), unusable: [] };
  }

  #readAll(object: KubernetesObject, allocated: unknown): RecordedClients {
    const read = readRecordedAddresses(object, this.#parsed);
    const isPlain = read.unreadable.length === 0 && isRecord(allocated);
    this.#plain = isPlain ? { allocated, size: Object.keys(allocated).length } : undefined;
    this.#parsed = isPlain ? undefined : read;
    this.#addressOf = new Map(read.addressOf);
    const before = this.#now.clients;
    const entries = read.assignments.map((one): [Ipv4Address, Assignment] => {
      const known = before.get(one.address);
      return [one.address, known?.macAddress === one.macAddress ? known : one];
    });
    const clients = AddressTable.of(entries).sharing(before);
    const unusable = read.unreadable.flatMap(({ address }) => (address === undefined || clients.has(address) ? [] : [address]));
    return { clients, unusable };
  }
}
