/**
 * The requirements for a node, so that a pod on it reaches a network. Harvester specifies them by a label of the network, KubeVirt by the resource
 * that virtual machines on it request; without either, networks of one bridge or interface are assumed to be reachable from the same nodes.
 */
import { CLUSTER_NETWORK_LABEL, NETWORK_RESOURCE_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import { compareText, type KubernetesObject, readText } from '@vmdhcp/kube-runtime';
import { readFirstPlugin, readNetworkSegment } from './network-segment.js';

export interface NetworkPlacement {
  /** Harvester: nodes have the label `network.harvesterhci.io/<name>=true`. */
  readonly clusterNetwork: string | undefined;
  /** A resource that nodes with the bridge have, as in `bridge.network.kubevirt.io/br1`. */
  readonly resource: string | undefined;
  /** Labels that nodes must have, according to the pool. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** The bridge or interface, as in `bridge br1`; used only if nothing else is specified. */
  readonly link: string | undefined;
}

/**
 * Resources with which KubeVirt's programs mark the nodes that have a bridge; they cost nothing. With any other resource, such as a GPU, every user
 * who may write an annotation could take it from those who pay for it.
 */
const MARKERS = /^(?:bridge|ovs-cni)\.network\.kubevirt\.io\/[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const OVN_PLUGIN = 'ovn-k8s-cni-overlay';

/** @param network - the NetworkAttachmentDefinition; undefined if it does not exist. */
export function readNetworkPlacement(
  network: KubernetesObject | undefined,
  nodeSelector: Readonly<Record<string, string>>,
): NetworkPlacement {
  const clusterNetwork = network?.metadata.labels?.[CLUSTER_NETWORK_LABEL] || undefined;
  const resource = markerOf(network);
  const isSpecified = clusterNetwork !== undefined || resource !== undefined || Object.keys(nodeSelector).length > 0;
  return { clusterNetwork, resource, nodeSelector, link: isSpecified || network === undefined ? undefined : linkOf(network) };
}

/** Equal texts mean that the same nodes are suitable. */
export function placementKey({ clusterNetwork, resource, nodeSelector, link }: NetworkPlacement): string {
  return JSON.stringify([clusterNetwork ?? '', resource ?? '', selectorTexts(nodeSelector), link ?? '']);
}

/** True for a resource that agents request. */
export function isMarker(resource: string): boolean {
  return MARKERS.test(resource);
}

/** `cluster network mgmt`, `agents on nodes with bridge.network.kubevirt.io/br1`; undefined: any node. */
export function describePlacement({ clusterNetwork, resource, nodeSelector }: NetworkPlacement): string | undefined {
  const wanted = [...(resource === undefined ? [] : [resource]), ...selectorTexts(nodeSelector)];
  const facts = [
    ...(clusterNetwork === undefined ? [] : [`cluster network ${clusterNetwork}`]),
    ...(wanted.length === 0 ? [] : [`agents on nodes with ${wanted.join(' and ')}`]),
  ];
  return facts.length === 0 ? undefined : facts.join('; ');
}

function selectorTexts(nodeSelector: Readonly<Record<string, string>>): string[] {
  return Object.entries(nodeSelector)
    .toSorted(([one], [other]) => compareText(one, other))
    .map(([key, value]) => `${key}=${value}`);
}

function markerOf(network: KubernetesObject | undefined): string | undefined {
  const resource = network?.metadata.annotations?.[NETWORK_RESOURCE_ANNOTATION]?.trim();
  return resource !== undefined && isMarker(resource) ? resource : undefined;
}

function linkOf(network: KubernetesObject): string | undefined {
  const segment = readNetworkSegment(network);
  if (segment !== undefined) return `${segment.kind} ${segment.link}`;
  const plugin = readFirstPlugin(network);
  if (readText(plugin, 'type') !== OVN_PLUGIN || readText(plugin, 'topology') !== 'localnet') return undefined;
  const name = readText(plugin, 'physicalNetworkName') ?? readText(plugin, 'name');
  return name === undefined ? undefined : `localnet ${name}`;
}
