/** Compares the addresses of a pool with the last records: finds the assignments that have ended and begun. */
import type { Ipv4Address } from '@vmdhcp/dhcp-allocator';
import {
  type AssignedClient,
  type AssignmentRecord,
  type BeginReason,
  type EndReason,
  isSameClient,
  type Moment,
} from './assignment-record.js';

/** The assignments of a pool that have not ended. */
export interface OpenRecords {
  readonly byAddress: ReadonlyMap<Ipv4Address, AssignmentRecord>;
  /** The serial of the next record. */
  readonly nextSerial: number;
}

/** A pool without records of assignments. */
export const NO_RECORDS: OpenRecords = { byAddress: new Map(), nextSerial: 1 };

/** The context of changes. */
export interface ChangeFacts {
  readonly network: string;
  /** The addresses that may have another client than in the last comparison; absent if any may. */
  readonly among?: ReadonlySet<Ipv4Address>;
  /** When all of them happened. */
  readonly when: Moment;
  /** Set if nothing was recorded when they happened, so that their reasons are unknown; new records get this one. */
  readonly late?: 'adopted' | 'not-recorded';
  /** Why a client has an address that it did not have before. */
  readonly whyBegan: (client: AssignedClient) => BeginReason;
  /** Why an assignment ended, if its address and its client do not show it. */
  readonly whyEnded: (record: AssignmentRecord) => EndReason;
  /** True if another machine uses the address. */
  readonly isInConflict: (address: Ipv4Address) => boolean;
}

/** The records that changes of a pool begin and end. */
export interface PoolChanges {
  readonly open: OpenRecords;
  /** Ended assignments, in the order of their addresses, then new ones. */
  readonly records: readonly AssignmentRecord[];
}

/** Nothing is copied while nothing has changed. @param current - all clients that have an address (of `facts.among`), at most one for each. */
export function followPool(open: OpenRecords, current: Iterable<AssignedClient>, facts: ChangeFacts): PoolChanges {
  const seen = new Set<Ipv4Address>();
  const begun: AssignedClient[] = [];
  for (const client of current) {
    seen.add(client.address);
    const record = open.byAddress.get(client.address);
    if (record === undefined || !isSameClient(record, client)) begun.push(client);
  }
  const replaced = new Map(begun.map((client) => [client.address, client]));
  const over = recordsAmong(open, facts.among).filter(({ address }) => !seen.has(address) || replaced.has(address));
  if (begun.length + over.length === 0) return { open, records: [] };
  return changesOf(open, { over: sorted(over), begun: sorted(begun), replaced }, facts);
}

function recordsAmong({ byAddress }: OpenRecords, among: ReadonlySet<Ipv4Address> | undefined): AssignmentRecord[] {
  return among === undefined ? [...byAddress.values()] : [...among].flatMap((address) => byAddress.get(address) ?? []);
}

interface Differences {
  readonly over: readonly AssignmentRecord[];
  readonly begun: readonly AssignedClient[];
  readonly replaced: ReadonlyMap<Ipv4Address, AssignedClient>;
}

function changesOf(open: OpenRecords, { over, begun, replaced }: Differences, facts: ChangeFacts): PoolChanges {
  const addressNow = new Map(begun.map((client) => [clientOf(client), client.address]));
  const addressBefore = new Map(over.map((record) => [clientOf(record), record.address]));
  const ended = over.map((record): AssignmentRecord => {
    const change = { here: replaced.get(record.address), elsewhere: addressNow.get(clientOf(record)) };
    return { ...record, end: { to: facts.when, reason: whyEnded(record, change, facts) } };
  });
  const started = begun.map((client, index): AssignmentRecord => {
    const change = { here: open.byAddress.get(client.address), elsewhere: addressBefore.get(clientOf(client)) };
    const { address, macAddress, virtualMachine, uid } = client;
    const whose = { address, macAddress, virtualMachine, uid, interface: client.interface };
    const began = whyBegan(client, change, facts);
    return { ...whose, serial: open.nextSerial + index, network: facts.network, from: facts.when, began };
  });
  const byAddress = new Map(open.byAddress);
  for (const { address } of ended) byAddress.delete(address);
  for (const record of started) byAddress.set(record.address, record);
  return { open: { byAddress, nextSerial: open.nextSerial + started.length }, records: [...ended, ...started] };
}

interface OtherSide {
  /** The former or new client of the address. */
  readonly here: AssignedClient | undefined;
  /** The former or new address of the same client. */
  readonly elsewhere: Ipv4Address | undefined;
}

function whyEnded(record: AssignmentRecord, { here, elsewhere }: OtherSide, facts: ChangeFacts): EndReason {
  if (facts.late !== undefined) return 'not-recorded';
  if (facts.isInConflict(record.address)) return 'address-conflict';
  const reason = (here && changeAtAddress(record, here)) ?? facts.whyEnded(record);
  return elsewhere !== undefined && elsewhere !== record.address && reason !== 'pool-changed' ? 'moved' : reason;
}

function whyBegan(client: AssignedClient, { here, elsewhere }: OtherSide, facts: ChangeFacts): BeginReason {
  if (facts.late !== undefined) return facts.late;
  if (elsewhere !== undefined && elsewhere !== client.address)
    return facts.isInConflict(elsewhere) ? 'address-conflict' : 'moved';
  return (here && changeAtAddress(here, client)) ?? facts.whyBegan(client);
}

/** Undefined if neither the MAC address nor the virtual machine is the same. */
function changeAtAddress(before: AssignedClient, after: AssignedClient): 'mac-address-changed' | 'owner-changed' | undefined {
  if (before.macAddress === after.macAddress) return before.virtualMachine === after.virtualMachine ? undefined : 'owner-changed';
  return before.virtualMachine !== undefined && before.virtualMachine === after.virtualMachine && before.uid === after.uid
    ? 'mac-address-changed'
    : undefined;
}

function clientOf({ macAddress, virtualMachine = '', uid = '' }: AssignedClient): string {
  return `${macAddress} ${virtualMachine} ${uid}`;
}

function sorted<One extends AssignedClient>(clients: readonly One[]): One[] {
  return clients.toSorted((one, other) => one.address - other.address);
}
