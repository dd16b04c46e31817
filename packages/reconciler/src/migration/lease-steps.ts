/**
 * On the way back, the Leases of the agents get a holder that serves nothing. The leader removes its server addresses, so that Harvester's
 * agents may add them; its replicas are standbys, which answer clients that no server has answered. They do so until Harvester's agents are
 * ready: no client waits longer than a retransmission.
 */
import { LEASE_DURATION_ANNOTATION } from '@vmdhcp/ippool-api';
import { describeCount, type KubernetesObject, keyOf, readField, readText } from '@vmdhcp/kube-runtime';
import type { MigrationObservation } from './migration-observation.js';
import type { MigrationStep } from './migration-step.js';

/** The holder of a Lease whose agents must not become leader. */
export const MIGRATION_HOLDER = 'vmdhcp-controller-migrate';
/** Agents believe no longer time. */
const TAKEN_SECONDS = 3_600;

/** The Leases that a way back has taken from the agents. */
export function takenLeases({ agentLeases }: Pick<MigrationObservation, 'agentLeases'>): KubernetesObject[] {
  return agentLeases.filter((lease) => readText(lease.spec, 'holderIdentity') === MIGRATION_HOLDER);
}

export function takeLeases(leases: readonly KubernetesObject[]): MigrationStep[] {
  const free = leases.filter((lease) => readText(lease.spec, 'holderIdentity') !== MIGRATION_HOLDER);
  if (free.length === 0) return [];
  const annotations = { [LEASE_DURATION_ANNOTATION]: String(TAKEN_SECONDS * 1_000) };
  const spec = { holderIdentity: MIGRATION_HOLDER, leaseDurationSeconds: TAKEN_SECONDS };
  return [
    {
      id: 'take leases',
      title: `release the server addresses of our agents, which answer as standbys from now on: take ${describeLeases(free)}`,
      writes: free.map((object) => ({ kind: 'patch', of: 'Lease', object, patch: { metadata: { annotations }, spec } })),
      settlesMs: 1_000 * Math.max(...free.map(secondsOf)),
    },
  ];
}

/** As long as a leader that cannot reach the API server has its server addresses at most. */
function secondsOf({ spec }: KubernetesObject): number {
  const hasHolder = (readText(spec, 'holderIdentity') ?? '') !== '';
  return hasHolder ? Math.min(Number(readField(spec, 'leaseDurationSeconds') ?? 0), TAKEN_SECONDS) : 0;
}

export function releaseLeases(leases: readonly KubernetesObject[]): MigrationStep[] {
  if (leases.length === 0) return [];
  const patch = { spec: { holderIdentity: '' } };
  return [
    {
      id: 'release leases',
      title: `let our agents elect a leader again: release ${describeLeases(leases)}`,
      writes: leases.map((object) => ({ kind: 'patch', of: 'Lease', object, patch })),
    },
  ];
}

function describeLeases(leases: readonly KubernetesObject[]): string {
  const [first] = leases;
  return leases.length === 1 && first !== undefined ? `Lease ${keyOf(first)}` : describeCount(leases.length, 'Lease');
}
