/** Data that Harvester's vm-dhcp-controller cannot read, or that its definitions do not have. */
import { parseIpv4Address, rangeContains } from '@vmdhcp/dhcp-allocator';
import { ALLOCATED_EXCLUDED, ALLOCATED_RESERVED } from '@vmdhcp/ippool-api';
import { isRecord, type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';

export interface AllocatedEntry {
  readonly address: string;
  readonly value: string;
}

/** Clients that have an excluded address, or the router's: with a single one, its controller does not serve the pool, and overwrites the entry. */
export function excludedInUse({ spec, status }: KubernetesObject): AllocatedEntry[] {
  const excluded = new Set(readList(spec, 'ipv4Config', 'pool', 'exclude').map(String));
  const router = readText(spec, 'ipv4Config', 'router');
  return clientsIn(status).filter(({ address }) => excluded.has(address) || address === router);
}

/** Entries of `status.ipv4.allocated` outside the range of the pool: with a single one, its controller does not serve the pool. */
export function entriesUnknownUpstream({ spec, status }: KubernetesObject): AllocatedEntry[] {
  const [start, end] = ['start', 'end'].map((name) => parseIpv4Address(readText(spec, 'ipv4Config', 'pool', name) ?? ''));
  if (start === undefined || end === undefined) return [];
  return clientsIn(status).filter(({ address }) => {
    const parsed = parseIpv4Address(address);
    return parsed === undefined || !rangeContains({ first: start, last: end }, parsed);
  });
}

function clientsIn(status: unknown): AllocatedEntry[] {
  const allocated = readField(status, 'ipv4', 'allocated');
  const entries = Object.entries(isRecord(allocated) ? allocated : {});
  return entries.flatMap(([address, value]) =>
    value === ALLOCATED_EXCLUDED || value === ALLOCATED_RESERVED ? [] : [{ address, value: String(value) }],
  );
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
