/** The entries of an IPPool's `status.ipv4.allocated`: the truth about who has which address. */
import { type Assignment, type Ipv4Address, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { ALLOCATED_EXCLUDED, ALLOCATED_RESERVED } from '@vmdhcp/ippool-api';
import { isRecord, type KubernetesObject, quote, readField } from '@vmdhcp/kube-runtime';

export interface RecordedAddresses {
  readonly assignments: readonly Assignment[];
  /** Entries that make no sense. They stay as they are, and no client gets their addresses: a user wrote them for a reason. */
  readonly unreadable: readonly UnreadableEntry[];
  /** Every entry but marks, by its key. */
  readonly entries: ReadonlyMap<string, ParsedEntry>;
}

interface ParsedEntry {
  readonly value: unknown;
  readonly address: Ipv4Address | undefined;
  /** Undefined where the entry makes no sense. */
  readonly assignment: Assignment | undefined;
}

export interface UnreadableEntry {
  readonly key: string;
  readonly value: unknown;
  /** Undefined where the key is no address either. */
  readonly address: Ipv4Address | undefined;
}

/**
 * Reads any status; an entry that makes no sense is reported and does not affect the others.
 *
 * @param before - the entries of an earlier version of the same status: entries that are still the same need not be parsed again.
 */
export function readRecordedAddresses({ status }: KubernetesObject, before?: RecordedAddresses): RecordedAddresses {
  const allocated = readField(status, 'ipv4', 'allocated');
  const assignments: Assignment[] = [];
  const unreadable: UnreadableEntry[] = [];
  const entries = new Map<string, ParsedEntry>();
  const owners = new Set<string>();
  for (const [key, value] of Object.entries(isRecord(allocated) ? allocated : {})) {
    if (value === ALLOCATED_EXCLUDED || value === ALLOCATED_RESERVED) continue;
    const known = before?.entries.get(key);
    const entry = known !== undefined && known.value === value ? known : parseEntry(key, value);
    entries.set(key, entry);
    const { assignment, address } = entry;
    if (assignment === undefined || owners.has(assignment.macAddress)) unreadable.push({ key, value, address });
    else {
      owners.add(assignment.macAddress);
      assignments.push(assignment);
    }
  }
  return { assignments, unreadable, entries };
}

function parseEntry(key: string, value: unknown): ParsedEntry {
  const address = parseIpv4Address(key);
  const macAddress = typeof value === 'string' ? parseMacAddress(value) : undefined;
  return { value, address, assignment: address === undefined || macAddress === undefined ? undefined : { macAddress, address } };
}

/** `"10.0.0.5": "nonsense"`, bounded. */
export function describeEntry({ key, value }: UnreadableEntry): string {
  return `${quote(key)}: ${quote(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))}`;
}
