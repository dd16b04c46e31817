/** A migration that was interrupted on its way back, and goes forward again. */
import { formatSuspendedPools, MIGRATION_HOLDER, parseSuspendedPools, SUSPENDED_POOLS_ANNOTATION } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { afterWrites, agentPod, SERVED_HERE, workload } from './migration-fixtures.js';
import { planMigration } from './plan-migration.js';

function takenLease(name: string, suspended: readonly string[]): KubernetesObject {
  return {
    kind: 'Lease',
    metadata: {
      namespace: 'vm-dhcp-agents',
      name,
      annotations: { [SUSPENDED_POOLS_ANNOTATION]: formatSuspendedPools(suspended) },
    },
    spec: { holderIdentity: MIGRATION_HOLDER, leaseDurationSeconds: 604_800 },
  };
}

it('a pool that was moving between two groups stays suspended for the one that must not serve it yet', () => {
  // Pool default/moving is served by group a, and configured and suspended in b. Harvester's controller has already deployed one pod, for default/net.
  const observed = {
    ...SERVED_HERE,
    workloads: [workload('upstream-controller', 0), workload('own-controller', 0)],
    agentLeases: [takenLease('a', []), takenLease('b', ['default/moving'])],
    agentPods: [agentPod('default/net')],
  };
  const [release] = planMigration(observed);
  expect(release?.id).toBe('release leases');
  const after = afterWrites(observed, release ?? { id: '', title: '', writes: [] });
  const suspendedFor = (name: string) =>
    [
      ...parseSuspendedPools(
        after.agentLeases.find((one) => one.metadata.name === name)?.metadata.annotations?.[SUSPENDED_POOLS_ANNOTATION],
      ),
    ].toSorted();
  expect(suspendedFor('b')).toEqual(['default/moving', 'default/net']);
});

it('goes on although Harvester’s chart was removed meanwhile: our agents have no leader for a week otherwise', () => {
  const observed = {
    ...SERVED_HERE,
    addOns: [],
    workloads: [workload('own-controller', 0)],
    agentLeases: [takenLease('a', [])],
  };
  expect(planMigration(observed).map(({ id }) => id)).toEqual(['release leases', 'start harvester-system/vm-dhcp-controller']);
});
