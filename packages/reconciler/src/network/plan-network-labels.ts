import { IPPOOL_NAME_LABEL, IPPOOL_NAMESPACE_LABEL } from '@vmdhcp/ippool-api';
import type { MergePatch } from '../machinery/object-client.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';

/**
 * The patch that makes a NetworkAttachmentDefinition's labels name the pool that serves it, or none; undefined if they do.
 *
 * @param pool - the IPPool that serves the network; undefined: none does.
 */
export function planNetworkLabels(network: KubernetesObject, pool: KubernetesObject | undefined): MergePatch | undefined {
  const labels = network.metadata.labels ?? {};
  const wanted: Record<string, string | undefined> = {
    [IPPOOL_NAMESPACE_LABEL]: pool?.metadata.namespace,
    [IPPOOL_NAME_LABEL]: pool?.metadata.name,
  };
  const patch = Object.entries(wanted).flatMap(([key, value]) => (labels[key] === value ? [] : [[key, value ?? null]]));
  return patch.length === 0 ? undefined : { metadata: { labels: Object.fromEntries(patch) } };
}
