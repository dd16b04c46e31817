import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import type { AddressChange } from '@vmdhcp/reconciler';
import { expect, it } from 'vitest';
import { createAddressLog } from './address-log.js';

const whose = { pool: 'default/net-48', macAddress: '02:00:00:00:00:01', owner: 'default/vm-a' };
const ALLOCATED: AddressChange = { ...whose, kind: 'allocated', address: 0x0a000010, reason: 'moved', previous: 0x0a000011 };
const RELEASED: AddressChange = { ...whose, kind: 'released', address: 0x0a000010, reason: 'not-claimed', owner: undefined };
const REFUSED: AddressChange = { ...whose, kind: 'refused', reason: 'pool-exhausted', message: 'every address is in use' };

function started() {
  const clock = new FakeClock();
  const lines: [fields: unknown, message: unknown][] = [];
  const logger = { info: (fields: unknown, message?: unknown) => void lines.push([fields, message]) };
  return { clock, lines, log: createAddressLog({ logger, clock }) };
}

it('each change is a line with the pool, the address, the MAC address, the owner and the reason', () => {
  const { lines, log } = started();
  for (const change of [ALLOCATED, RELEASED, REFUSED]) log(change);
  expect(lines).toEqual([
    [{ ...whose, address: '10.0.0.16', previous: '10.0.0.17', reason: 'moved' }, 'address allocated'],
    [{ ...whose, owner: undefined, address: '10.0.0.16', reason: 'not-claimed' }, 'address freed'],
    [{ ...whose, reason: 'pool-exhausted', why: 'every address is in use' }, 'no address allocated'],
  ]);
});

it('ten thousand at once cause a hundred lines and one with the number of the others; ten more a second follow', async () => {
  const { clock, lines, log } = started();
  for (let n = 0; n < 9_000; n++) log(ALLOCATED);
  for (let n = 0; n < 1_000; n++) log(REFUSED);
  expect(lines).toHaveLength(100);
  await clock.advance(1_000);
  expect(lines.slice(100)).toEqual([
    [{ leftOut: { allocated: 8_900, refused: 1_000 } }, 'too many address changes: log lines omitted'],
  ]);
  for (let n = 0; n < 20; n++) log(RELEASED);
  expect(lines).toHaveLength(111);
  await clock.advance(1_000);
  expect(lines.at(-1)?.[0]).toEqual({ leftOut: { released: 10 } });
});
