/** The bare pods of upstream's controller, each of which serves one pool. */
import { AGENT_GROUP_LABEL, IPPOOL_NAME_LABEL, IPPOOL_NAMESPACE_LABEL } from '@vmdhcp/ippool-api';
import { type KubernetesObject, parseTime, readList, readText } from '@vmdhcp/kube-runtime';

/** The margin after its grace period; a pod that still runs then is on a disconnected node. */
const MARGIN_MS = 30_000;

/** The pool that such a pod serves; undefined for any other pod. */
export function legacyPoolOf({ metadata: { labels = {}, ownerReferences = [] } }: KubernetesObject): string | undefined {
  const [namespace, name] = [labels[IPPOOL_NAMESPACE_LABEL], labels[IPPOOL_NAME_LABEL]];
  if (ownerReferences.length > 0 || labels[AGENT_GROUP_LABEL] !== undefined) return undefined;
  return namespace === undefined || name === undefined ? undefined : `${namespace}/${name}`;
}

/**
 * True for a pod that has ended, or that should have ended long ago on a node that does not answer: it would stay forever, and its pool would stay
 * without DHCP.
 */
export function isGoneForGood({ metadata, status }: KubernetesObject, nowMs: number): boolean {
  const phase = readText(status, 'phase');
  if (phase === 'Succeeded' || phase === 'Failed') return true;
  const endsAtMs = parseTime(metadata.deletionTimestamp);
  const isReady = readList(status, 'conditions').some(
    (condition) => readText(condition, 'type') === 'Ready' && readText(condition, 'status') === 'True',
  );
  return nowMs > endsAtMs + MARGIN_MS && !isReady;
}
