import { expect, it } from 'vitest';
import { LeaderAddress } from './leader-address.js';

const KEY = 'network.harvesterhci.io/wake-on-lan-leader';

it('is the one in the Lease, unless that is this process', () => {
  const address = new LeaderAddress('10.0.0.1:9090');
  expect([address.annotations(), address.other]).toEqual([{ [KEY]: '10.0.0.1:9090' }, undefined]);
  address.note({ [KEY]: '10.0.0.2:9090' });
  expect(address.other).toBe('10.0.0.2:9090');
  address.note({ [KEY]: '10.0.0.1:9090' });
  expect(address.other).toBeUndefined();
});

it('is not known if the leader has none, or does not wake machines; and a leader without an address removes that of the previous one', () => {
  const address = new LeaderAddress(undefined);
  expect(address.annotations()).toEqual({ [KEY]: '' });
  for (const annotations of [{ [KEY]: '' }, {}]) {
    address.note({ [KEY]: '10.0.0.2:9090' });
    address.note(annotations);
    expect(address.other).toBeUndefined();
  }
});
