/** A cluster for the tables of admission, and requests to it. */
import { formatPath, parseIpv4Address, parseIpv4Cidr } from '@vmdhcp/dhcp-allocator';
import { parseIpv6Prefix } from '@vmdhcp/dhcp-allocator/address';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { network } from '../fixtures/object-fixtures.js';
import type { ClusterNetworks } from './admission-facts.js';
import type { AdmissionProblem, AdmissionRequest } from './admission-review.js';

export const [A, B, C] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b', '02:00:00:00:00:0c'] as const;

export interface PoolText {
  readonly name?: string;
  readonly namespace?: string;
  readonly network?: string;
  readonly createdAt?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Address to MAC address, or to a mark. */
  readonly allocated?: Readonly<Record<string, string>>;
  readonly quarantined?: Readonly<Record<string, object>>;
}

/** An IPPool of 192.168.0.0/24; fields of `spec.ipv4Config` by name, `undefined` leaves one out. */
export function ipPool(ipv4Config: Readonly<Record<string, unknown>> = {}, text: PoolText = {}): KubernetesObject {
  const { name = 'net-1', namespace = 'default', allocated, quarantined, annotations, createdAt } = text;
  const config = {
    cidr: '192.168.0.0/24',
    serverIP: '192.168.0.2',
    pool: { start: '192.168.0.10', end: '192.168.0.99' },
    leaseTime: 300,
    ...ipv4Config,
  };
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: withoutUndefined({ namespace, name, creationTimestamp: createdAt ?? '2026-01-01T00:00:00Z', annotations }) as never,
    spec: { networkName: text.network ?? 'default/net-1', ipv4Config: withoutUndefined(config) },
    status: { ipv4: withoutUndefined({ used: 0, available: 0, allocated, quarantined }) },
  };
}

function withoutUndefined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export interface EntryText {
  readonly network?: string;
  readonly mac?: string;
  readonly ip?: string | null;
}

export function networkConfig(entries: readonly EntryText[], name = 'vm-a', namespace = 'default'): KubernetesObject {
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'VirtualMachineNetworkConfig',
    metadata: { namespace, name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      vmName: name,
      networkConfigs: entries.map(({ network: networkName = 'default/net-1', mac = A, ip }) => ({
        networkName,
        macAddress: mac,
        ...(ip !== undefined && { ipAddress: ip }),
      })),
    },
  };
}

/** A network that is VLAN 48 of the bridge mgmt-br, or another place. */
export function bridged(name: string, namespace = 'default', place: { bridge?: string; vlan?: number } = {}): KubernetesObject {
  const spec = { config: JSON.stringify({ type: 'bridge', bridge: 'mgmt-br', vlan: 48, ...place }) };
  return { ...network(name), metadata: { namespace, name }, spec };
}

export function clusterNetworks(text: {
  readonly services?: readonly string[];
  readonly pods?: readonly string[];
  readonly apiServers?: readonly string[];
}): ClusterNetworks {
  const cidrs = (texts: readonly string[] = []) => texts.flatMap((one) => parseIpv4Cidr(one) ?? parseIpv6Prefix(one) ?? []);
  return {
    serviceCidrs: cidrs(text.services),
    podCidrs: cidrs(text.pods),
    apiServers: (text.apiServers ?? []).flatMap((one) => parseIpv4Address(one) ?? []),
  };
}

export function creation(object: KubernetesObject): AdmissionRequest {
  const { namespace = 'default', name } = object.metadata;
  return { operation: 'CREATE', object, namespace, name };
}

export function change(oldObject: KubernetesObject, object: KubernetesObject): AdmissionRequest {
  return { ...creation(object), operation: 'UPDATE', oldObject };
}

export function deletion(oldObject: KubernetesObject): AdmissionRequest {
  const { namespace = 'default', name } = oldObject.metadata;
  return { operation: 'DELETE', oldObject, namespace, name };
}

/** A problem in the format of the tables: `spec.ipv4Config.cidr reason: message; remedy`. */
export function shown({ path, reason, message, remedy }: AdmissionProblem): string {
  return `${formatPath(path)} ${reason}: ${message}; ${remedy}`;
}
