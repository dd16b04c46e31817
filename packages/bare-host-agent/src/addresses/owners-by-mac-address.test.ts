import { validatePool } from '@vmdhcp/dhcp-allocator';
import { expect, it } from 'vitest';
import type { ConfiguredPool } from '../pools-file/parse-pools-file.js';
import { ownersByMacAddress } from './owners-by-mac-address.js';

const VM_A = '02:00:00:00:00:0a';
const VM_B = '02:00:00:00:00:0b';

function configured(claims: readonly (readonly [owner: string, macAddress: string])[]): ConfiguredPool {
  const checked = validatePool({ name: 'net', cidr: '10.0.0.0/24' });
  if (!checked.ok) throw new Error('no pool');
  return {
    ...{ pool: checked.value, paused: false, probesConflicts: true, log: {} },
    claims: claims.map(([owner, macAddress], index) => ({ owner, macAddress, index, line: 1, column: 1 })),
  };
}

const assignments = [VM_A, VM_B].map((macAddress, index) => ({ macAddress, address: 0x0a00000a + index }));

it.each<[string, Parameters<typeof configured>[0], { owner: string; macAddress: string }[], string[]]>([
  [
    'each is that of its claim',
    [
      ['vm-a', VM_A],
      ['vm-b', VM_B],
    ],
    [],
    [`${VM_A} vm-a`, `${VM_B} vm-b`],
  ],
  ['a reservation that no object claims has none', [['vm-a', VM_A]], [], [`${VM_A} vm-a`]],
  [
    'of two claims to one MAC address, the one that was not refused',
    [
      ['vm-a', VM_A],
      ['vm-c', VM_A],
    ],
    [{ owner: 'vm-c', macAddress: VM_A }],
    [`${VM_A} vm-a`],
  ],
  [
    'an owner that was refused for one MAC address keeps the other',
    [
      ['vm-a', VM_A],
      ['vm-c', VM_A],
      ['vm-c', VM_B],
    ],
    [{ owner: 'vm-c', macAddress: VM_A }],
    [`${VM_A} vm-a`, `${VM_B} vm-c`],
  ],
  ['a claim without an address owns nothing', [['vm-d', '02:00:00:00:00:0d']], [], []],
])('owners: %s', (_, claims, refused, expected) => {
  const refusals = refused.map((one) => ({ ...one, reason: 'mac-address-claimed-twice' as const, message: '' }));
  const owners = ownersByMacAddress({ configured: configured(claims), assignments, refused: refusals });
  expect([...owners].map(([macAddress, owner]) => `${macAddress} ${owner}`)).toEqual(expected);
});
