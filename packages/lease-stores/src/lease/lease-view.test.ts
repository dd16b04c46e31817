import { describe, expect, it } from 'vitest';
import { toLeaseView } from './lease-view.js';

const LEASE = { poolName: 'default/net-48', address: 0xc0a8300a, macAddress: '02:00:00:00:00:0a' };

describe('toLeaseView', () => {
  it.each([
    ['no client has used it', {}, undefined, { state: 'assigned' }],
    ['a client uses it', { expiresAtMs: 1_700_000_000_000 }, undefined, { state: 'bound', expires: '2023-11-14T22:13:20.000Z' }],
    ['it never ends', { expiresAtMs: Number.POSITIVE_INFINITY }, undefined, { state: 'bound', expires: 'never' }],
    ['with names', { hostname: 'printer' }, 'default/vm-a', { hostname: 'printer', owner: 'default/vm-a', state: 'assigned' }],
  ])('%s', (_, fields, owner, expected) => {
    expect(toLeaseView({ ...LEASE, ...fields }, owner, undefined)).toEqual({
      pool: 'default/net-48',
      address: '192.168.48.10',
      macAddress: '02:00:00:00:00:0a',
      ...expected,
    });
  });
});
