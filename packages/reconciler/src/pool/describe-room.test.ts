import { validatePool } from '@vmdhcp/dhcp-allocator';
import { expect, it } from 'vitest';
import { describeRoom } from './describe-room.js';

it.each([
  [
    '10.1.0.0/24',
    '10.1.0.10',
    '10.1.0.20',
    'raise spec.ipv4Config.pool.end of the IPPool (up to 10.1.0.254), or delete virtual machines',
  ],
  [
    '10.1.0.0/24',
    '10.1.0.10',
    '10.1.0.254',
    'lower spec.ipv4Config.pool.start of the IPPool (down to 10.1.0.1), or delete virtual machines',
  ],
  [
    '10.1.0.0/24',
    '10.1.0.1',
    '10.1.0.254',
    'delete virtual machines, or attach some to another network: the range fills its subnet',
  ],
  [
    '10.1.0.0/31',
    '10.1.0.0',
    '10.1.0.1',
    'delete virtual machines, or attach some to another network: the range fills its subnet',
  ],
  [
    '10.1.0.0/31',
    '10.1.0.0',
    '10.1.0.0',
    'raise spec.ipv4Config.pool.end of the IPPool (up to 10.1.0.1), or delete virtual machines',
  ],
  [
    '10.1.0.0/31',
    '10.1.0.1',
    '10.1.0.1',
    'lower spec.ipv4Config.pool.start of the IPPool (down to 10.1.0.0), or delete virtual machines',
  ],
  [
    '10.0.0.0/7',
    '11.255.255.1',
    '11.255.255.254',
    'lower spec.ipv4Config.pool.start of the IPPool (down to 10.255.255.255), or delete virtual machines',
  ],
  [
    '10.0.0.0/7',
    '10.0.0.1',
    '10.255.255.254',
    'raise spec.ipv4Config.pool.end of the IPPool (up to 11.0.0.0), or delete virtual machines',
  ],
  [
    '10.0.0.0/7',
    '10.0.0.1',
    '11.0.0.0',
    'delete virtual machines, or attach some to another network: the range fills its subnet',
  ],
])('%s with %s to %s', (cidr, start, end, expected) => {
  const checked = validatePool({ name: 'net', cidr, start, end, serverAddress: start });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  expect(describeRoom(checked.value)).toBe(expected);
});

it('a pool with several ranges gets another one', () => {
  const checked = validatePool({ name: 'net', cidr: '10.1.0.0/24', ranges: ['10.1.0.1-10.1.0.5', '10.1.0.254'] });
  expect(checked.ok && describeRoom(checked.value)).toBe(
    'add addresses to spec.ipv4Config.pool.ranges of the IPPool, or delete virtual machines',
  );
});
