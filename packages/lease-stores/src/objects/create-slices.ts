import type { BindingRecord } from '@vmdhcp/dhcp-allocator';
import { keyOf } from '@vmdhcp/kube-runtime';
import { BindingObjects, type BindingObjectsSettings } from './binding-objects.js';
import { readHead } from './head-content.js';
import { headName } from './lease-slices.js';

/**
 * Resolves when these records are stored as the leases of a ClusterAgent that has none yet, for the next leader of its agents.
 * @throws Error in words if it has some, or if they cannot be written; then none of these is used.
 */
export async function createSlices(
  settings: Omit<BindingObjectsSettings, 'onDamage' | 'onTakenOver'>,
  records: readonly BindingRecord[],
): Promise<void> {
  await refuseExisting(settings);
  const { store } = await BindingObjects.open({ ...settings, onDamage: () => undefined, onTakenOver: () => undefined });
  await store.replace(records);
  await store.close();
}

/** A head without records is from an agent that never had a client. */
async function refuseExisting({
  slices,
  namespace,
  clusterAgent,
}: Pick<BindingObjectsSettings, 'slices' | 'namespace' | 'clusterAgent'>): Promise<void> {
  const head = headName(clusterAgent);
  const { items } = await slices.list({ limit: 2 });
  const isEmpty = items.every((slice) => {
    const { slices: named, records } = readHead(slice);
    return slice.metadata.name === head && named.length === 0 && records === '';
  });
  if (isEmpty) return;
  const names = items.map((slice) => keyOf(slice)).join(', ');
  throw new Error(
    `ClusterAgent ${clusterAgent} has leases in ${namespace} already (LeaseSlice ${names}), which clients use: an import would replace them; delete these objects first if no client does`,
  );
}
