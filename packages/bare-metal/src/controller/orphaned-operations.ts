/** Operations that no agent accepts: they fail with a reason, instead of waiting for ever. */

import { BARE_METAL_API_VERSION, type HostEventOf } from '@vmdhcp/ippool-api/bare-metal/keys';
import {
  type CacheSubscription,
  type KubernetesObject,
  mostUrgent,
  type ObjectClient,
  type ReconcileResult,
  toReconcileResult,
  toRegarding,
} from '@vmdhcp/kube-runtime';
import { planOrphanedOperations } from '../operation/plan-host-operations.js';

interface OrphanCaches {
  readonly clusterAgents: CacheSubscription;
  readonly operations: CacheSubscription;
  readonly hostStatuses: CacheSubscription;
}

interface OrphanPorts {
  readonly client: Pick<ObjectClient<KubernetesObject>, 'patchStatus'>;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  readonly record: (regarding: ReturnType<typeof toRegarding>, event: HostEventOf<'HostOperation'>) => void;
  readonly onEnded: (name: string) => void;
  /** In milliseconds. */
  readonly planAgainAfter: (ms: number) => void;
}

/** Ends those that have waited long enough for an agent. */
export async function endOrphanedOperations(caches: OrphanCaches, ports: OrphanPorts): Promise<ReconcileResult> {
  const { client, nowMs, record, onEnded, planAgainAfter } = ports;
  const { steps, planAgainAtMs } = planOrphanedOperations({
    clusterAgents: [...caches.clusterAgents.values()].map(({ metadata }) => metadata.name),
    operations: [...caches.operations.values()],
    hostStatuses: [...caches.hostStatuses.values()],
    nowMs,
  });
  let result: ReconcileResult = { kind: 'settled' };
  for (const step of steps) {
    if (step.kind !== 'record-result') continue;
    const { name, resourceVersion, patch, events } = step;
    const written = await client.patchStatus({ key: name, resourceVersion }, patch);
    if (!written.ok) {
      result = mostUrgent(result, toReconcileResult(written));
      continue;
    }
    caches.operations.wrote(written.object);
    onEnded(name);
    const regarding = { ...toRegarding(written.object), apiVersion: BARE_METAL_API_VERSION, kind: 'HostOperation' };
    for (const { event } of events) record(regarding, event as HostEventOf<'HostOperation'>);
  }
  if (planAgainAtMs !== undefined) planAgainAfter(planAgainAtMs - nowMs);
  return result;
}
