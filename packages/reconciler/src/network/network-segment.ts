/**
 * The Ethernet segment that a NetworkAttachmentDefinition leads to, as far as its CNI configuration shows. Two networks with one segment
 * are one network to DHCP clients: each of them hears the servers of both.
 */
import { CLUSTER_NETWORK_LABEL } from '@vmdhcp/ippool-api';
import { isRecord, type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';

export interface NetworkSegment {
  /** `bridge` and `ovs` name a switch of the node, `nic` an interface of the node that virtual machines share. */
  readonly kind: 'bridge' | 'ovs' | 'nic';
  /** The bridge or interface, as in `mgmt-br`. */
  readonly link: string;
  /** 1 to 4094; 0: untagged. */
  readonly vlan: number;
  /** Nodes of different cluster networks may have bridges of the same name; undefined: not specified. */
  readonly clusterNetwork: string | undefined;
}

/**
 * Undefined where the configuration is missing, unreadable, or of a plugin whose segments have no name (overlays, delegates). The first
 * plugin counts in a list of plugins: the others only change what it made.
 */
export function readNetworkSegment({ metadata, spec }: KubernetesObject): NetworkSegment | undefined {
  const config = parseRecord(readText(spec, 'config') ?? '');
  const plugin = readList(config, 'plugins')[0] ?? config;
  const place = linkOf(plugin);
  if (place === undefined) return undefined;
  const vlan = readVlan(plugin) ?? place.vlan;
  return { ...place, vlan, clusterNetwork: metadata.labels?.[CLUSTER_NETWORK_LABEL] || undefined };
}

/** True if frames of one reach the other. If one does not specify its cluster network, the names decide. */
export function isSameSegment(one: NetworkSegment, other: NetworkSegment): boolean {
  if (one.kind !== other.kind || one.link !== other.link || one.vlan !== other.vlan) return false;
  return one.clusterNetwork === undefined || other.clusterNetwork === undefined || one.clusterNetwork === other.clusterNetwork;
}

/** `bridge mgmt-br, VLAN 48`. */
export function describeSegment({ kind, link, vlan }: NetworkSegment): string {
  const words = { bridge: 'bridge', ovs: 'Open vSwitch bridge', nic: 'interface' } as const;
  return `${words[kind]} ${link}, ${vlan === 0 ? 'untagged' : `VLAN ${vlan}`}`;
}

type Place = Pick<NetworkSegment, 'kind' | 'link' | 'vlan'>;

/** By the plugin's type: what it leads to, and the field that names it. */
const PLUGINS: ReadonlyMap<string, readonly [kind: Place['kind'], field: string]> = new Map([
  ['bridge', ['bridge', 'bridge']],
  ['ovs', ['ovs', 'bridge']],
  ['macvlan', ['nic', 'master']],
  ['ipvlan', ['nic', 'master']],
  ['vlan', ['nic', 'master']],
]);

function linkOf(plugin: unknown): Place | undefined {
  const [kind, field] = PLUGINS.get(readText(plugin, 'type') ?? '') ?? [];
  return kind === undefined || field === undefined ? undefined : named(kind, readText(plugin, field));
}

/** `eth0.48` is VLAN 48 of eth0, as Linux names it by default. */
function named(kind: Place['kind'], link: string | undefined): Place | undefined {
  if (link === undefined || link === '' || link.length > MOST_NAME_LENGTH) return undefined;
  const [, parent, tag] = (kind === 'nic' && /^(.+)\.(\d{1,4})$/.exec(link)) || [];
  return parent === undefined ? { kind, link, vlan: 0 } : { kind, link: parent, vlan: Number(tag) };
}

/** Interface names of Linux have 15 characters at most, those of Open vSwitch bridges may be longer. */
const MOST_NAME_LENGTH = 64;

function readVlan(plugin: unknown): number | undefined {
  for (const field of ['vlan', 'vlanId']) {
    const vlan = readField(plugin, field);
    if (typeof vlan === 'number' && Number.isInteger(vlan) && vlan > 0 && vlan < 4095) return vlan;
  }
  return undefined;
}

function parseRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
