/** Reads the entries of an IPPool's `status.ipv4.allocated`: the truth about who has which address. */
import {
  type Assignment,
  formatIpv4Address,
  type Ipv4Address,
  type MacAddress,
  parseIpv4Address,
  parseMacAddress,
} from '@vmdhcp/dhcp-allocator';
import { isRecord, type KubernetesObject, quote, readField } from '@vmdhcp/kube-runtime';
import { type Allocated, changedAssignments, isMark, type ReadVersion } from './changed-assignments.js';
import { PersistentMap } from './persistent-map.js';

export interface RecordedAddresses {
  /** In the order of their addresses; made when it is read first. */
  readonly assignments: readonly Assignment[];
  /** Invalid entries. They stay as they are, and no client gets their addresses, because a user wrote them for a reason. */
  readonly unreadable: readonly UnreadableEntry[];
  /** The address of each client in `assignments`. */
  readonly addressOf: PersistentMap<MacAddress, Ipv4Address>;
  /** The entry with this key; undefined for a mark, and if there is none. */
  readonly entryAt: (key: string) => ParsedEntry | undefined;
  /** Keys of marks. */
  readonly marks: readonly string[];
  /** Keys of valid entries that the controller would write otherwise. */
  readonly misspelled: readonly string[];
  readonly version: ReadVersion;
}

export type ParsedEntry =
  | {
      readonly value: unknown;
      readonly address: Ipv4Address;
      readonly assignment: Assignment;
      /** True if the controller would write it the same way. */
      readonly isCanonical: boolean;
    }
  /** It is invalid. */
  | {
      readonly value: unknown;
      readonly address: Ipv4Address | undefined;
      readonly assignment?: undefined;
      readonly isCanonical?: undefined;
    };

export interface UnreadableEntry {
  readonly key: string;
  readonly value: unknown;
  /** Undefined if the key is not an address either. */
  readonly address: Ipv4Address | undefined;
}

/**
 * Reads any status; an invalid entry is reported and does not affect the others.
 *
 * @param before - an earlier version of the same status: only the entries that differ are read.
 */
export function readRecordedAddresses({ status }: KubernetesObject, before?: RecordedAddresses): RecordedAddresses {
  const field = readField(status, 'ipv4', 'allocated');
  const allocated = isRecord(field) ? field : {};
  return (before && readChanges(before, allocated)) ?? readAll(allocated);
}

function readAll(allocated: Allocated): RecordedAddresses {
  const unreadable: UnreadableEntry[] = [];
  const addressOf = new Map<MacAddress, Ipv4Address>();
  const [marks, misspelled]: [string[], string[]] = [[], []];
  const keys = Object.keys(allocated);
  for (const key of keys) {
    const value = allocated[key];
    if (isMark(value)) {
      marks.push(key);
      continue;
    }
    const { assignment, address, isCanonical } = parseEntry(key, value);
    if (assignment === undefined || addressOf.has(assignment.macAddress)) unreadable.push({ key, value, address });
    else {
      addressOf.set(assignment.macAddress, assignment.address);
      if (!isCanonical) misspelled.push(key);
    }
  }
  const version = { allocated, size: keys.length };
  return toRecord({ unreadable, addressOf: PersistentMap.of(addressOf), marks, misspelled, version });
}

/** Undefined if either version has anything else than marks and plain entries of clients, or if marks differ. */
function readChanges(before: RecordedAddresses, allocated: Allocated): RecordedAddresses | undefined {
  const { marks, version } = before;
  if (before.unreadable.length + before.misspelled.length > 0) return undefined;
  const changes = changedAssignments(version, allocated, (macAddress) => before.addressOf.has(macAddress));
  if (changes === undefined || marks.some((key) => allocated[key] !== version.allocated[key])) return undefined;
  const { assigned, removed, size } = changes;
  if (assigned.some(({ address, macAddress }) => allocated[formatIpv4Address(address)] !== macAddress)) return undefined;
  const addressOf = before.addressOf.with([
    ...removed.map((macAddress) => [macAddress, undefined] as const),
    ...assigned.map(({ macAddress, address }) => [macAddress, address] as const),
  ]);
  // Otherwise there are new marks.
  if (addressOf.size + marks.length !== size) return undefined;
  return toRecord({ unreadable: [], misspelled: [], addressOf, marks, version: { allocated, size } });
}

type RecordParts = Pick<RecordedAddresses, 'unreadable' | 'addressOf' | 'marks' | 'misspelled' | 'version'>;

function toRecord(parts: RecordParts): RecordedAddresses {
  const { allocated } = parts.version;
  let assignments: readonly Assignment[] | undefined;
  return {
    ...parts,
    get assignments() {
      assignments ??= [...parts.addressOf]
        .map(([macAddress, address]) => ({ macAddress, address }))
        .sort((one, other) => one.address - other.address);
      return assignments;
    },
    entryAt: (key) => (!Object.hasOwn(allocated, key) || isMark(allocated[key]) ? undefined : parseEntry(key, allocated[key])),
  };
}

function parseEntry(key: string, value: unknown): ParsedEntry {
  const address = parseIpv4Address(key);
  const macAddress = typeof value === 'string' ? parseMacAddress(value) : undefined;
  if (address === undefined || macAddress === undefined) return { value, address };
  const isCanonical = key === formatIpv4Address(address) && value === macAddress;
  return { value, address, assignment: { macAddress, address }, isCanonical };
}

/** `"10.0.0.5": "nonsense"`, bounded. */
export function describeEntry({ key, value }: UnreadableEntry): string {
  return `${quote(key)}: ${quote(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))}`;
}
