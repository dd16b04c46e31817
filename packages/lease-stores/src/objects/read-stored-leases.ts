import type { BindingRecord } from '@vmdhcp/dhcp-allocator';
import { readHead } from './head-content.js';
import { headName, type LeaseSlicePorts } from './lease-slices.js';
import { readSlices } from './read-slices.js';

interface StoredLeases {
  readonly slices: Pick<LeaseSlicePorts['slices'], 'get' | 'list'>;
  readonly namespace: string;
  readonly clusterAgent: string;
}

/**
 * Yields every record that counts, in order. It takes over from no agent, and changes nothing.
 * @throws Error in words if there are none, or if they are incomplete; and the error of the API client.
 */
export async function readStoredLeases({ slices, namespace, clusterAgent }: StoredLeases): Promise<BindingRecord[]> {
  const name = headName(clusterAgent);
  const head = await slices.get(`${namespace}/${name}`);
  if (head === undefined)
    throw new Error(
      `LeaseSlice ${namespace}/${name} does not exist: ClusterAgent ${clusterAgent} has no leases there; give the namespace of its agents, or --state-dir where they keep leases in a directory`,
    );
  const records: BindingRecord[] = [];
  const { damaged } = await readSlices(slices, { ...readHead(head), name }, (record) => records.push(record));
  if (damaged.length === 0) return records;
  const names = damaged.map((one) => `${namespace}/${one.name} ${one.text === undefined ? 'does not exist' : 'was changed'}`);
  throw new Error(
    `leases of ClusterAgent ${clusterAgent} are incomplete (LeaseSlice ${names.join(', ')}): if its agents run, set agentYaml.replicas to 0, wait until they have ended, and export again; else start them, and they set aside what cannot be read`,
  );
}
