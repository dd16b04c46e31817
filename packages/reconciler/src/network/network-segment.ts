/**
 * The Ethernet segment that a NetworkAttachmentDefinition leads to, as far as its CNI configuration shows. Two networks with one segment
 * are one network to DHCP clients: each of them hears the servers of both.
 */
import { CLUSTER_NETWORK_LABEL } from '@vmdhcp/ippool-api/agent';
import { isRecord, type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';

export interface NetworkSegment {
  /** `bridge` and `ovs` name a switch of the node, `nic` an interface of the node that virtual machines share. */
  readonly kind: 'bridge' | 'ovs' | 'nic';
  /** The bridge or interface, as in `mgmt-br`. */
  readonly link: string;
  /** 1 to 4094; 0 for untagged. */
  readonly vlan: number;
  /** Nodes of different cluster networks may have bridges of the same name; undefined if not specified. */
  readonly clusterNetwork: string | undefined;
}

/**
 * Undefined if the configuration is missing, unreadable, or of a plugin whose segments have no name (overlays, delegates). In a list of plugins the
 * first one counts: the others only modify its result.
 */
export function readNetworkSegment(network: KubernetesObject): NetworkSegment | undefined {
  const place = placeOf(readFirstPlugin(network));
  return place && { ...place, clusterNetwork: network.metadata.labels?.[CLUSTER_NETWORK_LABEL] || undefined };
}

/** The configuration of the plugin that creates the interface, with the name of the network. Undefined if it is missing or unreadable. */
export function readFirstPlugin(network: KubernetesObject): Readonly<Record<string, unknown>> | undefined {
  return readPlugins(network)[0];
}

/** The configurations of all plugins, in order, each with the name of the network. Empty if they are missing or the first is unreadable. */
export function readPlugins({ spec }: KubernetesObject): readonly Readonly<Record<string, unknown>>[] {
  const config = parseJson(readText(spec, 'config') ?? '');
  if (!isRecord(config)) return [];
  const listed = readList(config, 'plugins');
  const plugins = listed.length === 0 ? [config] : listed;
  return isRecord(plugins[0]) ? plugins.filter(isRecord).map((one) => ({ name: config['name'], ...one })) : [];
}

/** True if frames of one reach the other. If one does not specify its cluster network, the names decide. */
export function isSameSegment(one: NetworkSegment, other: NetworkSegment): boolean {
  if (one.kind !== other.kind || one.link !== other.link || one.vlan !== other.vlan) return false;
  return one.clusterNetwork === undefined || other.clusterNetwork === undefined || one.clusterNetwork === other.clusterNetwork;
}

/**
 * True if a switch of the nodes separates them: they are different VLANs of the same bridge, interface or cluster network. Different bridges may be
 * wired together, and the target of an overlay or another plugin is not known.
 */
export function areSegmentsApart(one: NetworkSegment, other: NetworkSegment): boolean {
  if (one.vlan === other.vlan) return false;
  const isSameLink = one.kind === other.kind && one.link === other.link;
  return isSameLink || (one.clusterNetwork !== undefined && one.clusterNetwork === other.clusterNetwork);
}

/** `bridge mgmt-br, VLAN 48`. */
export function describeSegment({ kind, link, vlan }: NetworkSegment): string {
  const words = { bridge: 'bridge', ovs: 'Open vSwitch bridge', nic: 'interface' } as const;
  return `${words[kind]} ${link}, ${vlan === 0 ? 'untagged' : `VLAN ${vlan}`}`;
}

type Place = Pick<NetworkSegment, 'kind' | 'link' | 'vlan'>;

/** By the plugin's type: its target, and the field with the name. */
const PLUGINS: ReadonlyMap<string, { readonly kind: Place['kind']; readonly field: string }> = new Map([
  ['bridge', { kind: 'bridge', field: 'bridge' }],
  ['ovs', { kind: 'ovs', field: 'bridge' }],
  ['macvlan', { kind: 'nic', field: 'master' }],
  ['ipvlan', { kind: 'nic', field: 'master' }],
  ['vlan', { kind: 'nic', field: 'master' }],
]);

/** Interface names of Linux have 15 characters at most, those of Open vSwitch bridges may be longer. */
const MOST_NAME_LENGTH = 64;

function placeOf(plugin: unknown): Place | undefined {
  const type = PLUGINS.get(readText(plugin, 'type') ?? '');
  const link = type && readText(plugin, type.field);
  if (!link || link.length > MOST_NAME_LENGTH) return undefined;
  const { kind } = type;
  const vlan = readVlan(plugin);
  // A VLAN of eth0.48 is a VLAN inside a VLAN, not a VLAN of eth0.
  if (vlan !== undefined || kind !== 'nic') return { kind, link, vlan: vlan ?? 0 };
  return { kind, ...splitName(link) };
}

/** `eth0.48` is VLAN 48 of eth0, as Linux names it by default. */
function splitName(name: string): Pick<Place, 'link' | 'vlan'> {
  const [, parent = name, tag] = /^(.+)\.(\d{1,4})$/.exec(name) ?? [];
  const vlan = Number(tag);
  return isVlan(vlan) ? { link: parent, vlan } : { link: name, vlan: 0 };
}

function readVlan(plugin: unknown): number | undefined {
  return ['vlan', 'vlanId'].map((field) => readField(plugin, field)).find(isVlan);
}

/** Source: IEEE 802.1Q: 0 means no VLAN, 4095 is reserved. */
function isVlan(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) < 4095;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
