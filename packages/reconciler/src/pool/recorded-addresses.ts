/** What an IPPool's `status.ipv4.allocated` says: the truth about who has which address. */
import { type Assignment, type Ipv4Address, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { ALLOCATED_EXCLUDED, ALLOCATED_RESERVED } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { isRecord, readField } from '../object/read-field.js';

export interface RecordedAddresses {
  readonly assignments: readonly Assignment[];
  /** Entries that make no sense. They stay as they are, and nobody is given their addresses: somebody wrote them for a reason. */
  readonly unreadable: readonly UnreadableEntry[];
}

export interface UnreadableEntry {
  readonly key: string;
  readonly value: unknown;
  /** Undefined where the key is no address either. */
  readonly address: Ipv4Address | undefined;
}

/** Reads any status; an entry that makes no sense is told and does not touch the others. */
export function readRecordedAddresses({ status }: KubernetesObject): RecordedAddresses {
  const allocated = readField(status, 'ipv4', 'allocated');
  const assignments: Assignment[] = [];
  const unreadable: UnreadableEntry[] = [];
  if (!isRecord(allocated)) return { assignments, unreadable };
  const owners = new Set<string>();
  for (const [key, value] of Object.entries(allocated)) {
    if (value === ALLOCATED_EXCLUDED || value === ALLOCATED_RESERVED) continue;
    const address = parseIpv4Address(key);
    const macAddress = typeof value === 'string' ? parseMacAddress(value) : undefined;
    if (address === undefined || macAddress === undefined || owners.has(macAddress)) unreadable.push({ key, value, address });
    else {
      owners.add(macAddress);
      assignments.push({ macAddress, address });
    }
  }
  return { assignments, unreadable };
}

/** `10.0.0.5: nonsense`, bounded. */
export function describeEntry({ key, value }: UnreadableEntry): string {
  return `${key.slice(0, 64)}: ${String(value).slice(0, 64)}`;
}
