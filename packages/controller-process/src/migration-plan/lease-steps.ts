/**
 * On the way back, the Leases of the agents get a holder that serves nothing. The leader removes its server addresses, so that Harvester's
 * agents may add them; its replicas are standbys, which answer clients that no server has answered. They do so until Harvester's agents are
 * ready: no client waits longer than a retransmission.
 */
import {
  BEFORE_MIGRATION_ANNOTATION,
  formatSuspendedPools,
  LEASE_DURATION_ANNOTATION,
  MIGRATION_HOLDER,
  parseSuspendedPools,
  SUSPENDED_POOLS_ANNOTATION,
} from '@vmdhcp/ippool-api';
import { describeCount, type KubernetesObject, keyOf, readField, readText } from '@vmdhcp/kube-runtime';
import { legacyPoolOf } from '@vmdhcp/reconciler';
import type { MigrationObservation } from './migration-observation.js';
import type { MigrationStep } from './migration-step.js';

/**
 * A week: if nobody continues the way back, our agents elect a leader then, which has the server addresses that Harvester's agents may have too. A timer
 * of Node cannot wait for more than 24 days.
 */
const TAKEN_SECONDS = 604_800;
/** The longest Lease of agents. */
const MOST_LEASE_SECONDS = 3_600;

/** The Leases that a way back has taken over. */
export function takenLeases({ agentLeases }: Pick<MigrationObservation, 'agentLeases'>): KubernetesObject[] {
  return agentLeases.filter(isTaken);
}

export function takeLeases(leases: readonly KubernetesObject[]): MigrationStep[] {
  const free = leases.filter((lease) => !isTaken(lease));
  if (free.length === 0) return [];
  const duration = { [LEASE_DURATION_ANNOTATION]: String(TAKEN_SECONDS * 1_000) };
  const spec = { holderIdentity: MIGRATION_HOLDER, leaseDurationSeconds: TAKEN_SECONDS };
  return [
    {
      id: 'take leases',
      title: `release the server addresses of our agents, which answer as standbys from now on: take ${describeLeases(free)}`,
      writes: free.map((object) => {
        const seconds = secondsOf(object);
        const annotations = { ...duration, ...(seconds > 0 && { [BEFORE_MIGRATION_ANNOTATION]: String(seconds) }) };
        return { kind: 'patch', of: 'Lease', object, patch: { metadata: { annotations }, spec } };
      }),
    },
  ];
}

/** A leader that cannot reach the API server does not know that its Lease is taken: it has its addresses until the Lease would have expired. */
export function awaitAddresses(leases: readonly KubernetesObject[]): MigrationStep[] {
  const recent = leases.filter((lease) => isTaken(lease) && beforeOf(lease) !== undefined);
  const seconds = Math.max(0, ...leases.map((lease) => (isTaken(lease) ? Number(beforeOf(lease) ?? 0) : secondsOf(lease))));
  if (seconds === 0) return [];
  const patch = { metadata: { annotations: { [BEFORE_MIGRATION_ANNOTATION]: null } } };
  return [
    {
      id: 'await addresses',
      title: `wait ${seconds} s, after which an agent that cannot reach the API server has lost its server addresses too`,
      settlesMs: 1_000 * seconds,
      writes: recent.map((object) => ({ kind: 'patch', of: 'Lease', object, patch })),
    },
  ];
}

function isTaken({ spec }: KubernetesObject): boolean {
  return readText(spec, 'holderIdentity') === MIGRATION_HOLDER;
}

function beforeOf({ metadata }: KubernetesObject): string | undefined {
  return metadata.annotations?.[BEFORE_MIGRATION_ANNOTATION];
}

/** How long a leader that cannot reach the API server may keep its server addresses. */
function secondsOf({ spec }: KubernetesObject): number {
  const hasHolder = (readText(spec, 'holderIdentity') ?? '') !== '';
  return hasHolder ? Math.min(Number(readField(spec, 'leaseDurationSeconds') ?? 0), MOST_LEASE_SECONDS) : 0;
}

/** A pool that has a pod of Harvester's is suspended until our controller has moved it: that pod has the server address. */
export function releaseLeases(leases: readonly KubernetesObject[], agentPods: readonly KubernetesObject[]): MigrationStep[] {
  if (leases.length === 0) return [];
  const ofPods = agentPods.flatMap((pod) => legacyPoolOf(pod) ?? []);
  return [
    {
      id: 'release leases',
      title: `let our agents elect a leader again: release ${describeLeases(leases)}`,
      writes: leases.map((object) => {
        const before = object.metadata.annotations?.[SUSPENDED_POOLS_ANNOTATION];
        // A pool that was on its way to these agents when the way back began may still be served by others.
        const pools = new Set([...parseSuspendedPools(before), ...ofPods]);
        const suspended = ofPods.length > 0 && { [SUSPENDED_POOLS_ANNOTATION]: formatSuspendedPools(pools, before) };
        const annotations = { [BEFORE_MIGRATION_ANNOTATION]: null, ...suspended };
        return { kind: 'patch', of: 'Lease', object, patch: { metadata: { annotations }, spec: { holderIdentity: '' } } };
      }),
    },
  ];
}

function describeLeases(leases: readonly KubernetesObject[]): string {
  const [first] = leases;
  return leases.length === 1 && first !== undefined ? `Lease ${keyOf(first)}` : describeCount(leases.length, 'Lease');
}
