import { isRecord, type KubernetesObject, readField } from '@vmdhcp/kube-runtime';

/** True if two versions of a HostStatus differ only in what polls write: no plan of the inventory depends on that. */
export function isOnlyHealth(before: KubernetesObject | undefined, now: KubernetesObject | undefined): boolean {
  return before !== undefined && now !== undefined && JSON.stringify(planned(before)) === JSON.stringify(planned(now));
}

/** The parts that a plan reads. For health and information, only their presence matters. */
function planned({ metadata, status }: KubernetesObject): unknown {
  const { uid, labels, annotations, ownerReferences, deletionTimestamp } = metadata;
  const { lastUpdateTime: _time, log: _log, healthReady: _mirror, ...others } = isRecord(status) ? status : {};
  const kinds = { healthy: typeof readField(status, 'healthy'), info: typeof readField(status, 'info') };
  return [uid, labels, annotations, ownerReferences, deletionTimestamp, { ...others, ...kinds }];
}
