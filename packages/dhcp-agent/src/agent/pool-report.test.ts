import { expect, it } from 'vitest';
import type { FollowedPool } from '../pool/followed-pools.js';
import { type PoolState, reportOn } from './pool-report.js';

const ACTIVE = { kind: 'active', stopsForRogueServer: false } as FollowedPool;
const STOPS = { kind: 'active', stopsForRogueServer: true } as FollowedPool;
const ROGUE = [{ address: '10.0.0.9', macAddress: '02:00:00:00:00:09' }];
const PRESENT = { has: () => true, mayHave: () => true, problemOf: () => undefined };
const ABSENT = { has: () => false, mayHave: () => false, problemOf: () => undefined };

it.each<[string, string, Partial<PoolState>]>([
  ['leader with the address and an open socket', 'serving', {}],
  ['a rogue server that does not matter', 'serving', { rogueServers: ROGUE }],
  ['a rogue server that stops the service', 'RogueServer', { rogueServers: ROGUE, followed: STOPS }],
  ['standby', 'NotLeading', { addresses: undefined }],
  ['leader whose address is being added', 'Opening', { addresses: ABSENT }],
  ['leader whose address the kernel refuses', 'AddressFailed', { addresses: { ...PRESENT, problemOf: () => 'EPERM' } }],
  ['no interface', 'InterfaceMissing', { socket: { kind: 'missing' } }],
  ['no socket', 'SocketFailed', { socket: { kind: 'failed', message: 'EADDRINUSE' } }],
  ['packets could pass', 'InterfaceNotIsolated', { socket: { kind: 'not-isolated', message: 'EPERM' } }],
  ['suspended, and the address may still be there', 'Draining', { isSuspended: true }],
  [
    'suspended, with a port that failed and an address that may be there',
    'Draining',
    { isSuspended: true, socket: { kind: 'missing' } },
  ],
  ['suspended and ready', 'Suspended', { isSuspended: true, addresses: ABSENT }],
  ['suspended, and could not serve', 'InterfaceMissing', { isSuspended: true, addresses: ABSENT, socket: { kind: 'missing' } }],
  ['a dry run', 'DryRun', { isDryRun: true, addresses: ABSENT, socket: { kind: 'opening' } }],
  [
    'a dry run, suspended: pools move as in any other',
    'Suspended',
    { isDryRun: true, isSuspended: true, addresses: ABSENT, socket: { kind: 'opening' } },
  ],
  [
    'a dry run of a pool that is gone',
    'PoolMissing',
    { isDryRun: true, followed: { kind: 'unserved', reason: 'PoolMissing', message: '' } },
  ],
  ['paused', 'Paused', { followed: { kind: 'paused' } }],
  ['gone', 'PoolMissing', { followed: { kind: 'unserved', reason: 'PoolMissing', message: 'there is none' } }],
])('%s: %s', (_, expected, state) => {
  const { serving, reason } = reportOn({
    interfaceName: 'net1',
    followed: ACTIVE,
    version: '7',
    socket: { kind: 'serving' },
    isSuspended: false,
    isDryRun: false,
    addresses: PRESENT,
    conflicts: [],
    rogueServers: [],
    ...state,
  });
  expect(serving ? 'serving' : reason).toBe(expected);
});
