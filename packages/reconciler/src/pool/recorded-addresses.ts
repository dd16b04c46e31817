/** Reads the entries of an IPPool's `status.ipv4.allocated`: the truth about who has which address. */
import {
  type Assignment,
  formatIpv4Address,
  type Ipv4Address,
  type MacAddress,
  parseIpv4Address,
  parseMacAddress,
} from '@vmdhcp/dhcp-allocator';
import { ALLOCATED_EXCLUDED, ALLOCATED_RESERVED } from '@vmdhcp/ippool-api/agent';
import { isRecord, type KubernetesObject, quote, readField } from '@vmdhcp/kube-runtime';

export interface RecordedAddresses {
  readonly assignments: readonly Assignment[];
  /** Invalid entries. They stay as they are, and no client gets their addresses, because a user wrote them for a reason. */
  readonly unreadable: readonly UnreadableEntry[];
  /** The address of each client in `assignments`. */
  readonly addressOf: ReadonlyMap<MacAddress, Ipv4Address>;
  /** All entries except marks, by key. */
  readonly entries: ReadonlyMap<string, ParsedEntry>;
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
  | { readonly value: unknown; readonly address: Ipv4Address | undefined; readonly assignment?: undefined };

export interface UnreadableEntry {
  readonly key: string;
  readonly value: unknown;
  /** Undefined if the key is not an address either. */
  readonly address: Ipv4Address | undefined;
}

/**
 * Reads any status; an invalid entry is reported and does not affect the others.
 *
 * @param before - the entries of an earlier version of the same status: unchanged entries need not be parsed again.
 */
export function readRecordedAddresses({ status }: KubernetesObject, before?: RecordedAddresses): RecordedAddresses {
  const allocated = readField(status, 'ipv4', 'allocated');
  const assignments: Assignment[] = [];
  const unreadable: UnreadableEntry[] = [];
  const addressOf = new Map<MacAddress, Ipv4Address>();
  const entries = new Map<string, ParsedEntry>();
  const values = isRecord(allocated) ? allocated : {};
  for (const key of Object.keys(values)) {
    const value = values[key];
    if (value === ALLOCATED_EXCLUDED || value === ALLOCATED_RESERVED) continue;
    const known = before?.entries.get(key);
    const entry = known !== undefined && known.value === value ? known : parseEntry(key, value);
    entries.set(key, entry);
    const { assignment, address } = entry;
    if (assignment === undefined || addressOf.has(assignment.macAddress)) unreadable.push({ key, value, address });
    else {
      addressOf.set(assignment.macAddress, assignment.address);
      assignments.push(assignment);
    }
  }
  return { assignments, unreadable, addressOf, entries };
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
