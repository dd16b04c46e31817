import type { ClusterConnection } from '@vmdhcp/kube-runtime/node';
import type { PacketSubject } from '../chain/address-chain.js';
import type { ObservedTraffic } from '../chain/chain-observation.js';
import { askAgent } from './ask-agent.js';

/** A person waits for the rest of the output. */
const ANSWER_WITHIN_MS = 5_000;

/** What the leader saw of one client. Never throws for failures that a pod or a missing right may cause. */
export async function askAboutClient(
  cluster: ClusterConnection,
  { namespace, pod, pool, macAddress }: PacketSubject,
): Promise<ObservedTraffic> {
  const asked = await askAgent(cluster, { namespace, pod }, { timeoutMs: ANSWER_WITHIN_MS, pool, macAddress });
  const name = { pod: `${namespace}/${pod}` };
  if (asked.kind === 'answered') return { ...name, kind: 'found', traffic: asked.traffic };
  if (!asked.isForbidden) return { ...name, kind: 'failed', message: asked.message };
  const rights = (['get', 'create'] as const).map((verb) => ({ verb, group: '', resource: 'pods/exec', namespace }));
  return { ...name, kind: 'refused', rights };
}
