import type { PoolReport } from '@vmdhcp/ippool-api/agent';
import { describe, expect, it } from 'vitest';
import type { FollowedPool } from '../pool/followed-pools.js';
import { type ReportedPoolState, reportOn, servedPools } from './pool-report.js';

const ACTIVE = { kind: 'active', stopsForRogueServer: false } as FollowedPool;
const STOPS = { kind: 'active', stopsForRogueServer: true } as FollowedPool;
const FOREIGN = [{ address: '10.0.0.9', macAddress: '02:00:00:00:00:09' }];
const LEADS = { has: () => true, mayHave: () => true, problemOf: () => undefined };
const RELEASED = { has: () => false, mayHave: () => false, problemOf: () => undefined };

const SERVED: ReportedPoolState = {
  interfaceName: 'net1',
  followed: ACTIVE,
  version: '7',
  socket: { kind: 'serving' },
  isSuspended: false,
  isDryRun: false,
  addresses: LEADS,
  conflicts: [],
  rogueServers: [],
  observedUses: [],
  silentForMs: 0,
};

it.each([
  [0, undefined],
  [119_999, undefined],
  [120_000, 2],
  [239_999, 2],
  [3_600_000, 60],
])('silent for %i ms: %s minutes, in steps', (silentForMs, silentMinutes) => {
  expect(reportOn({ ...SERVED, silentForMs }).silentMinutes).toBe(silentMinutes);
});

it.each<[string, string, Partial<ReportedPoolState>]>([
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
  const { serving, reason } = reportOn({ ...SERVED, ...state });
  expect(serving ? 'serving' : reason).toBe(expected);
});

type Conflict = ReportedPoolState['conflicts'][number];
const conflictOf = (number: number): Conflict => ({ address: 0x0a000000 + number, macAddress: '02:00:00:00:00:0a' });

describe('the details of a pool in a report', () => {
  it.each<[string, Partial<ReportedPoolState>, Omit<PoolReport, 'serving'>]>([
    ['its version', {}, { version: '7' }],
    ['no version if the pool was not listed', { version: undefined }, {}],
    ['no list of other DHCP servers if none were searched', { rogueServers: undefined }, { version: '7' }],
    ['an empty list if none were found', { rogueServers: [] }, { version: '7', rogueServers: [] }],
    ['those that were found', { rogueServers: FOREIGN }, { version: '7', rogueServers: FOREIGN }],
    [
      'a conflict, with the host that uses the address',
      { conflicts: [{ ...conflictOf(10), usedBy: '02:00:00:00:00:66' }] },
      { version: '7', conflicts: [{ address: '10.0.0.10', macAddress: '02:00:00:00:00:0a', usedBy: '02:00:00:00:00:66' }] },
    ],
    [
      'a conflict whose host is not known',
      { conflicts: [conflictOf(10)] },
      { version: '7', conflicts: [{ address: '10.0.0.10', macAddress: '02:00:00:00:00:0a' }] },
    ],
  ])('%s', (_, state, expected) => {
    expect(reportOn({ ...SERVED, rogueServers: undefined, ...state })).toStrictEqual({ serving: true, ...expected });
  });

  it('64 conflicts at most: the first', () => {
    const conflicts = Array.from({ length: 70 }, (_, number) => conflictOf(number));
    const reported = reportOn({ ...SERVED, conflicts }).conflicts ?? [];
    expect(reported.map(({ address }) => address)).toEqual(Array.from({ length: 64 }, (_, number) => `10.0.0.${number}`));
  });

  it.each<[string, Partial<ReportedPoolState>]>([
    ['the pool is paused', { followed: { kind: 'paused' } }],
    ['the pool is suspended', { isSuspended: true, addresses: RELEASED }],
    ['the replica does not lead', { addresses: undefined }],
    ['the interface is missing', { socket: { kind: 'missing' } }],
    ['it is a dry run', { isDryRun: true }],
  ])('all details even if %s', (_, state) => {
    expect(reportOn({ ...SERVED, rogueServers: FOREIGN, conflicts: [conflictOf(10)], ...state })).toMatchObject({
      serving: false,
      version: '7',
      rogueServers: FOREIGN,
      conflicts: [{ address: '10.0.0.10' }],
    });
  });
});

describe('a person reads what is wrong and where', () => {
  it.each<[string, string, Partial<ReportedPoolState>]>([
    ['Opening', 'interface net1 is being opened', { socket: { kind: 'opening' } }],
    ['Opening', 'the server address is being added to interface net1', { addresses: RELEASED }],
    ['InterfaceMissing', 'the pod has no interface net1; look at its Multus networks', { socket: { kind: 'missing' } }],
    ['InterfaceNotIsolated', 'EPERM', { socket: { kind: 'not-isolated', message: 'EPERM' } }],
    ['SocketFailed', 'EADDRINUSE', { socket: { kind: 'failed', message: 'EADDRINUSE' } }],
    ['AddressFailed', 'ENOBUFS', { addresses: { ...LEADS, problemOf: (name) => (name === 'net1' ? 'ENOBUFS' : undefined) } }],
    ['PoolMissing', 'there is none', { followed: { kind: 'unserved', reason: 'PoolMissing', message: 'there is none' } }],
    ['Paused', 'the pool is paused; set spec.paused to false', { followed: { kind: 'paused' } }],
  ])('%s: %s', (reason, message, state) => {
    expect(reportOn({ ...SERVED, ...state })).toMatchObject({ serving: false, reason, message });
  });
});

describe('which of several reasons is reported', () => {
  const GONE: FollowedPool = { kind: 'unserved', reason: 'PoolMissing', message: '' };
  const FAILED = { ...LEADS, problemOf: () => 'EPERM' };
  const MAY_HAVE = { has: () => false, mayHave: () => true, problemOf: () => 'EPERM' };

  it.each<[string, string, Partial<ReportedPoolState>]>([
    ['suspended, gone, and the address may be there', 'Draining', { isSuspended: true, followed: GONE, addresses: MAY_HAVE }],
    ['suspended, paused, and the address may be there', 'Draining', { isSuspended: true, followed: { kind: 'paused' } }],
    ['suspended in a dry run that may have the address', 'Draining', { isSuspended: true, isDryRun: true, addresses: MAY_HAVE }],
    ['suspended and gone', 'PoolMissing', { isSuspended: true, followed: GONE, addresses: RELEASED }],
    ['suspended and paused', 'Paused', { isSuspended: true, followed: { kind: 'paused' }, addresses: RELEASED }],
    ['suspended, on a standby', 'Suspended', { isSuspended: true, addresses: undefined }],
    ['suspended, on a standby in a dry run', 'Suspended', { isSuspended: true, isDryRun: true, addresses: undefined }],
    [
      'suspended, on a standby without the interface',
      'InterfaceMissing',
      { isSuspended: true, addresses: undefined, socket: { kind: 'missing' } },
    ],
    ['paused in a dry run', 'Paused', { isDryRun: true, followed: { kind: 'paused' } }],
    ['paused, without the interface', 'Paused', { followed: { kind: 'paused' }, socket: { kind: 'missing' } }],
    ['gone, on a standby', 'PoolMissing', { followed: GONE, addresses: undefined }],
    ['a standby without the interface', 'InterfaceMissing', { addresses: undefined, socket: { kind: 'missing' } }],
    ['a leader without socket and address', 'SocketFailed', { addresses: FAILED, socket: { kind: 'failed', message: '' } }],
    [
      'a leader whose address failed, beside another server',
      'AddressFailed',
      { addresses: FAILED, rogueServers: FOREIGN, followed: STOPS },
    ],
    [
      'a leader whose address is added, beside another server',
      'Opening',
      { addresses: RELEASED, rogueServers: FOREIGN, followed: STOPS },
    ],
    ['a standby beside another server', 'NotLeading', { addresses: undefined, rogueServers: FOREIGN, followed: STOPS }],
    ['it stops for other servers, and there is none', 'serving', { rogueServers: [], followed: STOPS }],
    ['it stops for other servers, and none were searched', 'serving', { rogueServers: undefined, followed: STOPS }],
  ])('%s: %s', (_, expected, state) => {
    const { serving, reason } = reportOn({ ...SERVED, ...state });
    expect(serving ? 'serving' : reason).toBe(expected);
  });
});

it('a pool that nobody is to serve here is not counted as one that is not served', () => {
  const report = new Map<string, PoolReport>([
    ['served', { serving: true }],
    ['broken', { serving: false, reason: 'AddressFailed' }],
    ['standby', { serving: false, reason: 'NotLeading' }],
    ...(['Paused', 'Draining', 'Suspended', 'DryRun'] as const).map((reason) => [reason, { serving: false, reason }] as const),
  ]);
  expect([...servedPools(report)]).toEqual([
    ['served', true],
    ['broken', false],
    ['standby', false],
  ]);
});
