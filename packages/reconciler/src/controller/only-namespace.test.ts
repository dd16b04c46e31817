/** A controller with `--only-namespace` leaves agents of other namespaces alone, and never serves a pool beside them. */
import {
  AGENT_LABEL,
  AGENT_LABEL_VALUE,
  IPPOOL_NAME_LABEL,
  IPPOOL_NAMESPACE_LABEL,
  parseSuspendedPools,
  SUSPENDED_POOLS_ANNOTATION,
} from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { SETTINGS } from '../agents/group-fixtures.js';
import { deployment, GROUP, lease, NAMESPACE, observing } from '../view/agents-fixtures.js';
import { AgentGroupsReconciler } from './agent-groups-reconciler.js';

const PODS = { ...SETTINGS.pods, namespace: NAMESPACE };

it('an agent pod of Harvester that serves a pool of another namespace is not deleted', async () => {
  const { clock, context, pods, started } = observing(['pool-1'], { pods: PODS }, 'default');
  const labels = { [AGENT_LABEL]: AGENT_LABEL_VALUE, [IPPOOL_NAMESPACE_LABEL]: 'tenant-b', [IPPOOL_NAME_LABEL]: 'net' };
  const other: KubernetesObject = {
    kind: 'Pod',
    metadata: { namespace: NAMESPACE, name: 'tenant-b-net-agent', uid: 'u', labels },
  };
  pods.put(other);
  await started();
  void new AgentGroupsReconciler(context).reconcile();
  await clock.advance(1_000);
  expect([...pods.objects.keys()]).toEqual([`${NAMESPACE}/tenant-b-net-agent`]);
});

it('a pool that agents of several namespaces serve is suspended for its new group', async () => {
  // Before, the controller saw all namespaces: this group serves two pools. Now it is started with --only-namespace default --agent-topology per-pool.
  const { clock, context, deployments, leases, started } = observing(['pool-1'], { topology: 'per-pool', pods: PODS }, 'default');
  deployments.put(deployment(['default/pool-1', 'other/b']));
  leases.put(lease({ 'default/pool-1': { serving: true }, 'other/b': { serving: true } }));
  await started();
  const reconciler = new AgentGroupsReconciler(context);
  for (let round = 0; round < 5; round++) {
    void reconciler.reconcile();
    await clock.advance(1_000);
  }
  expect(deployments.objects.get(`${NAMESPACE}/${GROUP}`)?.metadata.name).toBe(GROUP);
  const own = leases.objects.get(`${NAMESPACE}/default-pool-1-agent`);
  const suspended = parseSuspendedPools(own?.metadata.annotations?.[SUSPENDED_POOLS_ANNOTATION]);
  // Either it has no agents of its own, or they are suspended as long as the others serve.
  const hasOwn = deployments.objects.has(`${NAMESPACE}/default-pool-1-agent`);
  expect({ hasOwn, suspended: [...suspended] }).not.toEqual({ hasOwn: true, suspended: [] });
});
