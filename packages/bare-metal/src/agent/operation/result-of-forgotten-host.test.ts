import { expect, it } from 'vitest';
import { planOrphanedOperations } from '../../operation/plan-host-operations.js';
import { agentObject, lease, nameOf, Rack } from '../rack-fixtures.js';

it('an action that the management controller accepted is recorded as success, although its HostStatus was deleted meanwhile', async () => {
  const rack = new Rack(agentObject({ enableBindDhcpIP: false }));
  rack.leases = [lease(10)];
  const agent = rack.lead();
  await rack.clock.advance(2_000);
  const answer = Promise.withResolvers<void>();
  rack.operate = async () => {
    await answer.promise;
    return { isSuccess: true, message: 'HTTP 204' };
  };
  rack.order('restart', 'ForceRestart');
  await rack.clock.advance(1_000);
  expect(rack.actions).toEqual([`ForceRestart ${nameOf(10)}`]);
  // The lease ends, for example because the management controller starts again too.
  rack.leases = [];
  agent.leasesChanged();
  await rack.clock.advance(1_000);
  expect(rack.host(10)).toBeUndefined();
  answer.resolve();
  await rack.clock.advance(11 * 60_000);
  // What the controller records then.
  const [step] = planOrphanedOperations({
    clusterAgents: ['rack'],
    operations: [...rack.operations.objects.values()],
    hostStatuses: [],
    nowMs: rack.wallTimeMs,
  }).steps;
  expect([rack.operations.objects.get('restart')?.status, step]).toMatchObject([{ status: 'success' }, undefined]);
});
