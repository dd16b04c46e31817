/** Data that Harvester's vm-dhcp-controller cannot read, or that its definitions do not have. */
import { parseIpv4Address, rangeContains } from '@vmdhcp/dhcp-allocator';
import { ALLOCATED_EXCLUDED, ALLOCATED_RESERVED } from '@vmdhcp/ippool-api';
import { isRecord, type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';

export interface AllocatedEntry {
  readonly address: string;
  readonly value: string;
}

/** Entries of `status.ipv4.allocated` outside the range of the pool: with a single one, its controller does not serve the pool. */
export function entriesUnknownUpstream({ spec, status }: KubernetesObject): AllocatedEntry[] {
  const [start, end] = ['start', 'end'].map((name) => parseIpv4Address(readText(spec, 'ipv4Config', 'pool', name) ?? ''));
  const allocated = readField(status, 'ipv4', 'allocated');
  if (start === undefined || end === undefined || !isRecord(allocated)) return [];
  return Object.entries(allocated).flatMap(([address, value]) => {
    if (value === ALLOCATED_EXCLUDED || value === ALLOCATED_RESERVED) return [];
    const parsed = parseIpv4Address(address);
    const isInside = parsed !== undefined && rangeContains({ first: start, last: end }, parsed);
    return isInside ? [] : [{ address, value: String(value) }];
  });
}

/** Excluded ranges of a pool: its controller reads single addresses only. */
export function excludedRanges({ spec }: KubernetesObject): string[] {
  const entries = readList(spec, 'ipv4Config', 'pool', 'exclude').map(String);
  return entries.filter((entry) => parseIpv4Address(entry) === undefined);
}

/** The fields of a specification that Harvester's definitions have; `{}`: any value. */
interface KnownFields {
  readonly [name: string]: KnownFields;
}

const ANY: KnownFields = {};
const KNOWN_FIELDS: Readonly<Record<'IPPool' | 'VirtualMachineNetworkConfig', KnownFields>> = {
  IPPool: {
    networkName: ANY,
    paused: ANY,
    ipv4Config: {
      cidr: ANY,
      serverIP: ANY,
      pool: { start: ANY, end: ANY, exclude: ANY },
      router: ANY,
      dns: ANY,
      domainName: ANY,
      domainSearch: ANY,
      ntp: ANY,
      leaseTime: ANY,
    },
  },
  VirtualMachineNetworkConfig: {
    vmName: ANY,
    paused: ANY,
    networkConfigs: { networkName: ANY, macAddress: ANY, ipAddress: ANY },
  },
};

/** Paths of fields of a specification that Harvester's definitions do not have: the API server removes them when those are applied. */
export function fieldsUnknownUpstream(kind: keyof typeof KNOWN_FIELDS, spec: unknown): string[] {
  return [...new Set(unknownFields(KNOWN_FIELDS[kind], spec, 'spec'))].toSorted();
}

function unknownFields(known: KnownFields, value: unknown, path: string): string[] {
  if (known === ANY) return [];
  if (Array.isArray(value)) return value.flatMap((item) => unknownFields(known, item, path));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, content]) => {
    const inner = known[name];
    return inner === undefined ? [`${path}.${name}`] : unknownFields(inner, content, `${path}.${name}`);
  });
}
