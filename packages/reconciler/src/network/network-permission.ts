/**
 * Decides which networks an IPPool may serve: those of its own namespace, and others only with the permission of the network's owner. Otherwise any
 * user who may create IPPools in one namespace could answer the DHCP clients of every other.
 */
import { ALLOWED_POOL_NAMESPACES_ANNOTATION, IPPOOL_NAME_LABEL, IPPOOL_NAMESPACE_LABEL } from '@vmdhcp/ippool-api/agent';
import { type KubernetesObject, readText, readTexts } from '@vmdhcp/kube-runtime';
import type { Explanation } from '../explanation.js';

/**
 * True if the pool may serve the network. For a network of another namespace the annotation decides if it is set, even if it is empty; otherwise
 * labels that name exactly this pool allow it, because upstream's controller wrote them.
 *
 * @param networkKey - `namespace/name` of the NetworkAttachmentDefinition.
 * @param network - undefined if it does not exist, so that nothing is allowed.
 */
export function mayServeNetwork(
  { metadata: { namespace = '', name } }: KubernetesObject,
  networkKey: string,
  network: KubernetesObject | undefined,
): boolean {
  if (namespace === namespaceOf(networkKey)) return true;
  const allowed = readText(network, 'metadata', 'annotations', ALLOWED_POOL_NAMESPACES_ANNOTATION);
  const labels = readTexts(network, 'metadata', 'labels');
  if (allowed !== undefined) return splitNames(allowed).some((one) => one === '*' || one === namespace);
  return labels[IPPOOL_NAMESPACE_LABEL] === namespace && labels[IPPOOL_NAME_LABEL] === name;
}

/** Why the pool may not serve the network, and the remedy. */
export function explainMissingPermission(
  { metadata: { namespace = '' } }: KubernetesObject,
  networkKey: string,
  network: KubernetesObject | undefined,
): Explanation {
  const owner = namespaceOf(networkKey);
  const message =
    network === undefined
      ? `network ${networkKey} does not exist, or this controller does not read namespace ${owner}, so nothing allows IPPools of namespace ${namespace}`
      : `network ${networkKey} belongs to namespace ${owner}, which does not allow IPPools of namespace ${namespace}`;
  const remedy = `add "${namespace}" to the annotation ${ALLOWED_POOL_NAMESPACES_ANNOTATION} of NetworkAttachmentDefinition ${networkKey} (names with commas, or *)`;
  return { message, remedy: `${remedy}, or create the IPPool in namespace ${owner}` };
}

/** The problem of a network that an older pool serves, and the remedy. The reader may not delete a pool of another namespace. */
export function explainNetworkTaken(
  { metadata: { namespace = '' } }: KubernetesObject,
  networkKey: string,
  { metadata: { namespace: servingNamespace = '', name } }: KubernetesObject,
): Explanation {
  const message = `network ${networkKey} is served by the older IPPool ${servingNamespace}/${name} already`;
  if (servingNamespace === namespace) return { message, remedy: 'delete one of the two' };
  if (namespace !== namespaceOf(networkKey)) return { message, remedy: 'delete this IPPool' };
  const remedy = `to have this IPPool serve it, set the annotation ${ALLOWED_POOL_NAMESPACES_ANNOTATION} of NetworkAttachmentDefinition ${networkKey} to the namespaces that are allowed without "${servingNamespace}", or to "" for none`;
  return { message: `${message}, as the network allows namespace ${servingNamespace}`, remedy };
}

function namespaceOf(networkKey: string): string {
  return networkKey.slice(0, networkKey.indexOf('/'));
}

function splitNames(text: string): string[] {
  return text.split(',').map((name) => name.trim());
}
