import { IPPOOL_NAME_LABEL, IPPOOL_NAMESPACE_LABEL } from '@vmdhcp/ippool-api';
import type { KubernetesObject, MergePatch } from '@vmdhcp/kube-runtime';

/**
 * The patch that makes a NetworkAttachmentDefinition's labels name the pool that serves it, or none; undefined if they already do. A pool of another
 * namespace is not written, because its label would continue to allow it after the owner of the network has revoked the permission; existing labels
 * of upstream stay.
 *
 * @param pool - the IPPool that serves the network; undefined if none does.
 */
export function planNetworkLabels(network: KubernetesObject, pool: KubernetesObject | undefined): MergePatch | undefined {
  const { labels = {}, namespace } = network.metadata;
  const isOwn = pool?.metadata.namespace === namespace;
  const named = pool !== undefined && (isOwn || areNaming(labels, pool)) ? pool.metadata : undefined;
  const wanted: Record<string, string | undefined> = {
    [IPPOOL_NAMESPACE_LABEL]: named?.namespace,
    [IPPOOL_NAME_LABEL]: named?.name,
  };
  const patch = Object.entries(wanted).flatMap(([key, value]) => (labels[key] === value ? [] : [[key, value ?? null]]));
  return patch.length === 0 ? undefined : { metadata: { labels: Object.fromEntries(patch) } };
}

function areNaming(labels: Readonly<Record<string, string>>, { metadata: { namespace, name } }: KubernetesObject): boolean {
  return labels[IPPOOL_NAMESPACE_LABEL] === namespace && labels[IPPOOL_NAME_LABEL] === name;
}
