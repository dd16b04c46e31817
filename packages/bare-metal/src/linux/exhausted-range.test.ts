import { readConditions } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { ExhaustedRange, type RangeUse } from './exhausted-range.js';
import { clusterAgent, ip } from './hosts-fixtures.js';
import { World } from './hosts-world-fixtures.js';

it('story: a client finds no free address, which causes a condition and one Event; addresses are free again', async () => {
  const world = new World();
  world.put(clusterAgent({ ipRange: '10.0.0.10-10.0.0.11' }));
  const replica = world.add();
  await world.until('a leader that serves', () => replica.machine.isServing());
  const condition = () =>
    readConditions(world.clusterAgents.objects.get('rack')?.status).find(({ type }) => type === 'AddressesExhausted');
  await world.until('the number of addresses', () => condition()?.status === 'False');
  expect([await world.join(1), await world.join(2)]).toEqual(['10.0.0.10', '10.0.0.11']);
  await world.clock.advance(20_000);
  expect(condition()?.status, 'no client was refused').toBe('False');
  expect([await world.join(3), await world.join(4)]).toEqual([undefined, undefined]);
  await world.until('the condition', () => condition()?.status === 'True');
  expect(condition()).toMatchObject({
    reason: 'AddressesExhausted',
    message:
      'a client got no address: none of the 2 addresses of ipRange 10.0.0.10-10.0.0.11 is free (2 leased, 0 bound to clients that are off, 0 in conflict, 0 kept for clients that had one); widen ipRange, or free addresses of hosts that are gone (vmdhcp-agent release ADDRESS, where one has a lease)',
  });
  await world.join(3);
  await world.clock.advance(20_000);
  expect(world.events).toEqual(['AddressesExhausted on ClusterAgent rack']);
  world.put(clusterAgent({ ipRange: '10.0.0.10-10.0.0.12' }));
  await world.until('the condition to be over', () => condition()?.status === 'False');
  expect(await world.join(3)).toBe('10.0.0.12');
});

it('addresses that are freed and taken again and again cause one Event in ten minutes', () => {
  let nowMs = 0;
  const events: string[] = [];
  const range = new ExhaustedRange({ nowMs: () => nowMs, record: ({ reason }) => events.push(reason) });
  const pool = { range: { first: ip('10.0.0.10'), last: ip('10.0.0.10') } };
  const use = (free: number, refused: number): RangeUse => ({
    ...{ pool, refused },
    counts: { size: 1, valid: 1 - free, quarantined: 0, declared: 0, kept: 0, free },
  });
  range.look(use(0, 7));
  expect([range.isKnown, range.message], 'refused before, while another replica was leader').toEqual([false, undefined]);
  for (let refused = 8; refused < 28; refused++, nowMs += 60_000) {
    range.look(use(0, refused));
    expect(range.message).toBeDefined();
    range.look(use(1, refused));
    expect([range.isKnown, range.message]).toEqual([true, undefined]);
  }
  expect(events).toEqual(['AddressesExhausted', 'AddressesExhausted']);
});

it.each([
  [
    'has leases',
    { valid: 3 },
    'widen ipRange, or free addresses of hosts that are gone (vmdhcp-agent release ADDRESS, where one has a lease)',
  ],
  [
    'is bound',
    { declared: 3 },
    'widen ipRange, or free addresses of hosts that are gone (vmdhcp-agent unbind ADDRESS, where one is bound)',
  ],
  [
    'has and is both',
    { valid: 1, declared: 2 },
    '(vmdhcp-agent release ADDRESS, where one has a lease; vmdhcp-agent unbind ADDRESS, where one is bound)',
  ],
  ['is in conflict', { quarantined: 3 }, '3 in conflict, 0 kept for clients that had one); widen ipRange'],
])('the remedy for a range that %s', (_, used, expected) => {
  const range = new ExhaustedRange({ nowMs: () => 0, record: () => undefined });
  const use = {
    pool: { range: { first: ip('10.0.0.10'), last: ip('10.0.0.12') } },
    counts: { size: 3, valid: 0, quarantined: 0, declared: 0, kept: 0, free: 0, ...used },
  };
  range.look({ ...use, refused: 0 });
  range.look({ ...use, refused: 1 });
  expect(range.message?.endsWith(expected), range.message).toBe(true);
});
