import { isRecord, readField } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { Running } from './controller-fixtures.js';

it('a quarantine that was recorded while a clock was ahead lasts for an hour from now, and a shorter one stays as it is', async () => {
  const running = await Running.withPool();
  const quarantined = { '10.0.0.11': { until: '2036-01-01T00:00:00Z' }, '10.0.0.12': { until: '2026-01-01T00:30:00Z' } };
  running.change('IPPool', 'pool-1', ({ status, ...object }) => {
    const ipv4 = readField(status, 'ipv4');
    return { ...object, status: { ...(status as object), ipv4: { ...(isRecord(ipv4) ? ipv4 : {}), quarantined } } };
  });
  await running.settle();
  const stored = readField(running.cluster.ipPools.objects.get('default/pool-1')?.status, 'ipv4', 'quarantined');
  expect(stored).toEqual({ ...quarantined, '10.0.0.11': { until: '2026-01-01T01:00:00Z' } });
});
