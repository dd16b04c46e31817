import { parseIpv4Address, validatePool } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import { PersistentMap } from '../pool/persistent-map.js';
import { readRecordedAddresses } from '../pool/recorded-addresses.js';
import type { AssignmentPlan } from './assignment-plan.js';
import { planPoolStatus, type WantedPoolStatus } from './plan-pool-status.js';

const ip = (last: number) => parseIpv4Address(`10.0.0.${last}`) as number;
const [A, B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'] as const;
const NOW = '2026-01-02T00:00:00Z';
const READY = { type: 'CacheReady', status: 'True' } as const;

const checked = validatePool({
  name: 'default/net',
  cidr: '10.0.0.0/24',
  serverAddress: '10.0.0.10',
  start: '10.0.0.10',
  end: '10.0.0.13',
  options: { router: '10.0.0.1' },
});
if (!checked.ok) throw new Error('the pool is invalid');
const pool = checked.value;

function planOf(more: Partial<AssignmentPlan> = {}): AssignmentPlan {
  const counts = { total: 3, used: 1, free: 2, quarantined: 0 } as unknown as AssignmentPlan['counts'];
  const { assignments = [{ macAddress: A, address: ip(11) }] } = more;
  const addressOf = PersistentMap.of(assignments.map(({ macAddress, address }) => [macAddress, address] as const));
  const nothingRefused = { outside: new Set<number>(), refused: [], refusals: new Map() };
  return {
    assignments,
    addressOf,
    planned: new Set([A, B]),
    quarantines: [],
    ...nothingRefused,
    owners: PersistentMap.of(),
    counts,
    ...more,
  };
}

const CONDITIONS = [
  { type: 'CacheReady', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z', lastUpdateTime: '2026-01-01T00:00:00Z' },
];
const SETTLED = {
  ipv4: { allocated: { '10.0.0.10': 'RESERVED', '10.0.0.11': A }, used: 1, available: 2 },
  conditions: CONDITIONS,
};
const NO_AGENTS: WantedPoolStatus['agents'] = { deploymentRef: undefined, servedBy: undefined, isMigrated: false };

type Wanted = Omit<WantedPoolStatus, 'addresses'> & {
  readonly addresses: Omit<NonNullable<WantedPoolStatus['addresses']>, 'recorded'> | undefined;
};

function patch(status: unknown, wanted: Partial<Wanted> = {}, spec: object = {}) {
  const object = { metadata: { name: 'net' }, spec, status };
  const given: Wanted = { addresses: { pool, plan: planOf() }, conditions: [READY], agents: NO_AGENTS, now: NOW, ...wanted };
  const all = { ...given, addresses: given.addresses && { ...given.addresses, recorded: readRecordedAddresses(object) } };
  return planPoolStatus(object, all)?.['status'] as Record<string, unknown> | undefined;
}

describe('the status of an IPPool', () => {
  it('contains everything once, and nothing is written when it is correct', () => {
    const first = patch(undefined);
    expect(first).toMatchObject({ lastUpdate: NOW, ipv4: SETTLED.ipv4, conditions: [{ type: 'CacheReady', status: 'True' }] });
    expect(patch({ ...SETTLED, conditions: first?.['conditions'] })).toBeUndefined();
  });

  it('the patch has only changed keys, and null for removed ones', () => {
    const status = {
      ...SETTLED,
      ipv4: { ...SETTLED.ipv4, allocated: { '10.0.0.10': 'RESERVED', '10.0.0.11': A, '10.0.0.12': B } },
    };
    expect(patch(status)).toMatchObject({ ipv4: { allocated: { '10.0.0.12': null } } });
    const moved = planOf({ assignments: [{ macAddress: A, address: ip(12) }] });
    expect(patch(SETTLED, { addresses: { pool, plan: moved } })?.['ipv4']).toEqual({
      used: 1,
      available: 2,
      allocated: { '10.0.0.12': A, '10.0.0.11': null },
    });
  });

  it.each([
    ['used', { used: 7 }],
    ['available', { available: 7 }],
  ])('a wrong count is corrected: %s', (_, counts) => {
    expect(patch({ ...SETTLED, ipv4: { ...SETTLED.ipv4, ...counts } })?.['ipv4']).toEqual({ used: 1, available: 2 });
  });

  it('unreadable entries stay; excluded addresses and the router inside the range are marked', () => {
    const status = { ...SETTLED, ipv4: { ...SETTLED.ipv4, allocated: { ...SETTLED.ipv4.allocated, here: 'x' } } };
    expect(JSON.stringify(patch(status) ?? {})).not.toContain('here');
    const spec = { ipv4Config: { pool: { exclude: ['10.0.0.13'] } } };
    expect(patch(SETTLED, {}, spec)).toMatchObject({ ipv4: { allocated: { '10.0.0.13': 'EXCLUDED' } } });
    const inside = { ...pool, options: { ...pool.options, router: ip(12) } };
    expect(patch(SETTLED, { addresses: { pool: inside, plan: planOf() } })).toMatchObject({
      ipv4: { allocated: { '10.0.0.12': 'RESERVED' } },
    });
  });

  it('an entry in another spelling is rewritten, and a client that keeps an excluded address is listed', () => {
    const upper = { ...SETTLED, ipv4: { ...SETTLED.ipv4, allocated: { '10.0.0.10': 'RESERVED', '10.0.0.11': A.toUpperCase() } } };
    expect(patch(upper)).toMatchObject({ ipv4: { allocated: { '10.0.0.11': A } } });
    const spec = { ipv4Config: { pool: { exclude: ['10.0.0.11'] } } };
    expect(JSON.stringify(patch(SETTLED, {}, spec) ?? {})).not.toContain('allocated');
    const twice = { ...SETTLED, ipv4: { ...SETTLED.ipv4, allocated: { ...SETTLED.ipv4.allocated, '10.0.0.12': A } } };
    expect(JSON.stringify(patch(twice) ?? {})).not.toContain('allocated');
  });

  it('quarantines are written, and removed', () => {
    const untilMs = Date.parse('2026-01-03T00:00:00Z');
    const plan = planOf({ quarantines: [{ address: ip(12), untilMs }] });
    expect(patch(SETTLED, { addresses: { pool, plan } })).toMatchObject({
      ipv4: { quarantined: { '10.0.0.12': { until: '2026-01-03T00:00:00Z' } } },
    });
    const quarantined = { '10.0.0.12': { until: '2026-01-03T00:00:00Z' } };
    const status = { ...SETTLED, ipv4: { ...SETTLED.ipv4, quarantined } };
    expect(JSON.stringify(patch(status, { addresses: { pool, plan } }) ?? {})).not.toContain('ipv4');
    expect(patch(status)).toMatchObject({ ipv4: { quarantined: { '10.0.0.12': null } } });
  });

  it('recorded addresses stay while their owners are not known', () => {
    expect(patch({ ipv4: { allocated: { '10.0.0.12': B } } }, { addresses: undefined })).not.toHaveProperty('ipv4');
  });

  describe('of the agents', () => {
    const deploymentRef = { namespace: 'agents', name: 'group', image: 'agent:v1', uid: 'u' };
    const there = { ...SETTLED, agentDeploymentRef: deploymentRef, servedBy: 'pod', agentPodRef: { name: 'old' } };

    it.each<readonly [string, Partial<WantedPoolStatus['agents']>, object]>([
      ['another leader', { deploymentRef, servedBy: 'other' }, { servedBy: 'other' }],
      ['no leader', { deploymentRef, servedBy: null }, { servedBy: null }],
      ['no Deployment', { deploymentRef: null, servedBy: 'pod' }, { agentDeploymentRef: null }],
      [
        'another image',
        { deploymentRef: { ...deploymentRef, image: 'agent:v2' } },
        { agentDeploymentRef: { image: 'agent:v2' } },
      ],
      ['no pod of an earlier version', { isMigrated: true }, { agentPodRef: null }],
    ])('%s', (_, agents, expected) => {
      expect(patch(there, { agents: { ...NO_AGENTS, ...agents } })).toMatchObject({ ...expected, lastUpdate: NOW });
    });

    it('unknown and correct fields stay', () => {
      const settled = { ...there, conditions: patch(undefined)?.['conditions'] };
      expect(patch(settled)).toBeUndefined();
      expect(patch(settled, { agents: { deploymentRef, servedBy: 'pod', isMigrated: false } })).toBeUndefined();
      expect(patch('nonsense', { addresses: undefined, agents: { ...NO_AGENTS, servedBy: 'pod' } })).toMatchObject({
        servedBy: 'pod',
      });
    });
  });

  it('only the changed condition is written', () => {
    const settled = { ...SETTLED, conditions: patch(undefined)?.['conditions'] };
    const changed = patch(settled, {
      conditions: [{ type: 'CacheReady', status: 'False', reason: 'PoolInvalid', message: 'x' }],
    } as Partial<WantedPoolStatus>);
    expect(Object.keys(changed ?? {}).toSorted()).toEqual(['conditions', 'lastUpdate']);
  });
});
