import { BEFORE_MIGRATION_ANNOTATION, MIGRATION_HOLDER } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { afterWrites, SERVED_HERE, workload } from './migration-fixtures.js';
import { planMigration } from './plan-migration.js';

it('a migrate that was interrupted after it released the Leases starts our controller in the next run', () => {
  const lease = {
    kind: 'Lease',
    metadata: { namespace: 'vm-dhcp-agents', name: 'a' },
    spec: { holderIdentity: MIGRATION_HOLDER },
  } as unknown as KubernetesObject;
  const { deployment, ...own } = workload('own-controller', 0);
  const annotations = { [BEFORE_MIGRATION_ANNOTATION]: '2' };
  const stopped = { ...own, deployment: { ...deployment, metadata: { ...deployment.metadata, annotations } } };
  const observed = { ...SERVED_HERE, addOns: [], workloads: [stopped], agentLeases: [lease] };
  const [release] = planMigration(observed);
  if (release === undefined) throw new Error('no step');
  const after = afterWrites(observed, release);
  expect(planMigration(after).map(({ id }) => id)).toEqual(['start harvester-system/vm-dhcp-controller']);
});
