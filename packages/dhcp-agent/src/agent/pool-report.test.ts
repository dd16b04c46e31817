import { expect, it } from 'vitest';
import type { FollowedPool } from '../pool/followed-pools.js';
import { type PoolState, reportOn } from './pool-report.js';

const ACTIVE = { kind: 'active', stopsForRogueServer: false } as FollowedPool;
const STOPS = { kind: 'active', stopsForRogueServer: true } as FollowedPool;
const FOREIGN = [{ address: '10.0.0.9', macAddress: '02:00:00:00:00:09' }];
const LEADS = { has: () => true, mayHave: () => true, problemOf: () => undefined };
const RELEASED = { has: () => false, mayHave: () => false, problemOf: () => undefined };

it.each<[string, string, Partial<PoolState>]>([
  ['leads, has the address, and the port is open', 'serving', {}],
  ['another server is there, which does not matter', 'serving', { rogueServers: FOREIGN }],
  ['another server is there, which does', 'RogueServer', { rogueServers: FOREIGN, followed: STOPS }],
  ['does not lead', 'NotLeading', { addresses: undefined }],
  ['is leader, and the address is on its way', 'Opening', { addresses: RELEASED }],
  ['leads, and cannot have the address', 'AddressFailed', { addresses: { ...LEADS, problemOf: () => 'EPERM' } }],
  ['no interface', 'InterfaceMissing', { socket: { kind: 'missing' } }],
  ['no socket', 'SocketFailed', { socket: { kind: 'failed', message: 'EADDRINUSE' } }],
  ['packets could pass', 'InterfaceNotIsolated', { socket: { kind: 'not-isolated', message: 'EPERM' } }],
  ['suspended, and the address may still be there', 'Draining', { isSuspended: true }],
  [
    'suspended, with a port that failed and an address that may be there',
    'Draining',
    { isSuspended: true, socket: { kind: 'missing' } },
  ],
  ['suspended and ready', 'Suspended', { isSuspended: true, addresses: RELEASED }],
  ['suspended, and could not serve', 'InterfaceMissing', { isSuspended: true, addresses: RELEASED, socket: { kind: 'missing' } }],
  ['a dry run', 'DryRun', { isDryRun: true, addresses: RELEASED, socket: { kind: 'opening' } }],
  [
    'a dry run, suspended: pools move as in any other',
    'Suspended',
    { isDryRun: true, isSuspended: true, addresses: RELEASED, socket: { kind: 'opening' } },
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
    addresses: LEADS,
    conflicts: [],
    rogueServers: [],
    ...state,
  });
  expect(serving ? 'serving' : reason).toBe(expected);
});
