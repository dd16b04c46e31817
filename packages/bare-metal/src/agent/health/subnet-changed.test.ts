import { expect, it } from 'vitest';
import { agentObject, lease, Rack } from '../rack-fixtures.js';

it('a host that is no longer polled, because its address is outside the new subnet, is not reported as healthy', async () => {
  const rack = new Rack();
  rack.leases = [lease(10)];
  rack.lead();
  await rack.clock.advance(2_000);
  expect(rack.host(10)?.status).toMatchObject({ healthy: true });
  // Its lease lasts, as the server keeps the leases of a former subnet until they end.
  rack.clusterAgents.put(agentObject({ subnet: '10.9.0.0/16', ipRange: '10.9.0.10-10.9.0.20', gateway: '10.9.0.1' }));
  await rack.clock.advance(1_000);
  rack.health = async () => ({ kind: 'unhealthy', message: 'it is off' });
  const before = rack.polled.length;
  await rack.clock.advance(3_600_000);
  expect({ polls: rack.polled.length - before, status: rack.host(10)?.status }).toMatchObject({
    polls: 0,
    status: { healthy: false },
  });
});
