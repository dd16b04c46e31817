import { validatePool } from '@vmdhcp/dhcp-allocator';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { expect, it } from 'vitest';
import { OpenLeases } from './open-leases.js';

function poolOf(name: string, fields: object) {
  const checked = validatePool({ name, cidr: '10.0.0.0/24', serverAddress: '10.0.0.2', ...fields });
  if (!checked.ok) throw new Error('no pool');
  return checked.value;
}

it('addresses are probed before unknown clients get them only in the pools that request it', () => {
  const clock = new FakeClock();
  const open = new OpenLeases({
    ...{ clock, nowMs: clock.nowMs, logger: { info: () => {}, warn: () => {}, error: () => {} } },
    ...{ hasRecords: () => false, openRecords: () => Promise.reject(new Error('not asked for')), onRecorded: () => {} },
  });
  const [probing, trusting] = ['probing', 'trusting'].map((name) => poolOf(name, { dynamic: ['10.0.0.10-10.0.0.12'] }));
  const serve = (pool: typeof probing, probes: boolean) => open.setPool({ pool: pool as never, assignments: [], probes });
  serve(probing, true);
  serve(trusting, false);
  expect([open.probes('probing'), open.probes('trusting')]).toEqual([true, false]);
  serve(probing, false);
  serve(trusting, true);
  expect([open.probes('probing'), open.probes('trusting')]).toEqual([false, true]);
});
