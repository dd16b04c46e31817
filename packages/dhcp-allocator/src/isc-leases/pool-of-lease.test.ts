import { expect, it } from 'vitest';
import { parseIpv4Address } from '../address/ipv4-address.js';
import type { Pool } from '../pool/pool.js';
import { validatePool } from '../pool/validate-pool.js';
import { findPoolOfLease } from './pool-of-lease.js';

function pool(name: string, cidr: string, dynamic: string): Pool {
  const first = cidr.replace(/0\/.*/, '1');
  const checked = validatePool({ name, cidr, serverAddress: first, start: `${first}0`, end: `${first}9`, dynamic: [dynamic] });
  if (!checked.ok) throw new Error('no pool');
  return checked.value;
}

const WIDE = pool('wide', '10.0.0.0/16', '10.0.0.100-10.0.0.199');
const NARROW = pool('narrow', '10.0.1.0/24', '10.0.1.100-10.0.1.199');
const SAME = pool('same', '10.0.0.0/16', '10.0.1.150');

it.each<[address: string, pools: Pool[], found: string]>([
  ['10.0.1.150', [WIDE, NARROW], 'narrow'],
  ['10.0.1.15', [WIDE, NARROW], 'narrow'],
  ['10.0.0.150', [WIDE, NARROW], 'wide'],
  ['10.0.9.9', [WIDE, NARROW], 'wide'],
  ['10.9.0.9', [WIDE, NARROW], 'none'],
  ['10.0.1.150', [SAME, NARROW], 'same or narrow'],
])('%s belongs to the pool that leases it', (text, pools, name) => {
  const found = findPoolOfLease(parseIpv4Address(text) ?? 0, pools);
  expect(found.ok ? (found.pool?.name ?? 'none') : found.pools.map((one) => one.name).join(' or ')).toBe(name);
});
