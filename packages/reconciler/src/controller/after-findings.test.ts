/** What the agents of a pool have found, and the plan that follows. */
import { formatIpv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { expect, it } from 'vitest';
import { type PoolPlan, planPools } from '../assignment/plan-pools.js';
import { findSettledClaims } from '../assignment/settled-claims.js';
import { pool } from '../fixtures/object-fixtures.js';
import type { InterfaceClaim, NetworkConfigClaims } from '../network-config/interface-claims.js';
import type { ObservedUse } from '../pool/observed-use.js';
import { PoolViews } from '../view/pool-views.js';
import { type AgentFindings, afterFindings } from './after-findings.js';

const ip = (text: string) => parseIpv4Address(text) as number;
const [A, B, HOST] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b', '02:00:00:00:00:66'];
const START = '2026-01-01T00:00:00Z';
const HOUR_MS = 3_600_000;
const START_MS = Date.parse(START);
const use = (address: string, usedBy = HOST): ObservedUse => ({ address: ip(address), usedBy });

interface Story {
  readonly end?: string;
  readonly allocated?: Readonly<Record<string, string>>;
  readonly quarantined?: Readonly<Record<string, { readonly until: string; readonly usedBy?: string }>>;
  readonly agents?: Partial<NonNullable<AgentFindings['agents']>>;
  readonly claims: Readonly<Record<string, readonly InterfaceClaim[]>>;
  readonly nowMs?: number;
  /** Networks whose pool is invalid. */
  readonly broken?: readonly string[];
}

function plan(story: Story): PoolPlan {
  const { end = '10.0.0.17', allocated = {}, quarantined = {}, agents = {}, claims, nowMs = START_MS, broken = [] } = story;
  const object = { ...pool('pool-1', { end }), status: { ipv4: { allocated, quarantined } } };
  const view = new PoolViews().of(object);
  if (!view.reading.ok) throw new Error('the pool is invalid');
  const findings: AgentFindings = { agents: { conflicts: [], observedUses: [], ...agents }, nowMs };
  const { key, network, paused, recorded, reading } = view;
  const configs = Object.entries(claims).map(
    ([owner, all]): NetworkConfigClaims => ({ key: `default/${owner}`, createdAt: START, claims: all, unreadable: [] }),
  );
  const pools = [
    {
      ...{ key, network, paused, nowMs, recorded, pool: reading.pool, lastOwners: new Map(), reserved: new Map() },
      ...afterFindings(view, findings),
    },
  ];
  const plans = planPools({
    pools,
    claims: findSettledClaims(pools, configs),
    whyUnserved: (one) => (broken.includes(one) ? { reason: 'pool-invalid', message: 'it is invalid' } : undefined),
  });
  return plans.get(key) as PoolPlan;
}
const addressesOf = ({ assignments }: PoolPlan) =>
  Object.fromEntries(assignments.map(({ macAddress, address }) => [macAddress, formatIpv4Address(address)]));
const claim = (macAddress: string, wanted?: string, network = 'default/net-1'): InterfaceClaim => ({
  network,
  macAddress,
  ...(wanted !== undefined && { wanted: ip(wanted) }),
});

it('an address that a host uses is quarantined, and no client gets it', () => {
  const planned = plan({ agents: { observedUses: [use('10.0.0.10')] }, claims: { a: [claim(A)] } });
  expect(addressesOf(planned)).toEqual({ [A]: '10.0.0.11' });
  expect(planned.quarantines).toEqual([{ address: ip('10.0.0.10'), usedBy: HOST, untilMs: START_MS + HOUR_MS }]);
});

it('the machine that uses an address may pin it', () => {
  const quarantined = { '10.0.0.11': { until: '2026-01-01T00:30:00Z', usedBy: A } };
  const agents = { observedUses: [use('10.0.0.11', A)] };
  expect(addressesOf(plan({ quarantined, agents, claims: { a: [claim(A, '10.0.0.11')] } }))).toEqual({ [A]: '10.0.0.11' });
});

it('an address is not free in the moment when its quarantine ends, while the host still uses it', () => {
  const planned = plan({
    allocated: { '10.0.0.10': A },
    quarantined: { '10.0.0.11': { until: START, usedBy: HOST } },
    agents: { observedUses: [use('10.0.0.11')] },
    claims: { a: [claim(A)], b: [claim(B)] },
  });
  expect(addressesOf(planned)).toEqual({ [A]: '10.0.0.10', [B]: '10.0.0.12' });
  expect(planned.quarantines).toEqual([{ address: ip('10.0.0.11'), usedBy: HOST, untilMs: START_MS + HOUR_MS }]);
});

it('an address that a host uses is free for no other client because of a pin that cannot be met', () => {
  const planned = plan({
    quarantined: { '10.0.0.10': { until: '2026-01-01T00:30:00Z', usedBy: A } },
    agents: { observedUses: [use('10.0.0.10', A)] },
    claims: { a: [claim(A, '10.0.0.10'), claim(A, undefined, 'default/net-9')], b: [claim(B)] },
    broken: ['default/net-9'],
  });
  expect(addressesOf(planned)).toEqual({ [B]: '10.0.0.11' });
});

it('uses of free addresses leave room for the quarantine of an address that is taken from its client', () => {
  const planned = plan({
    end: '10.0.0.15',
    allocated: { '10.0.0.12': A },
    agents: {
      observedUses: [use('10.0.0.10')],
      conflicts: [{ address: ip('10.0.0.12'), macAddress: A, usedBy: '02:00:00:00:00:67' }],
    },
    claims: { a: [claim(A, '10.0.0.12')] },
  });
  expect(addressesOf(planned)).toEqual({});
});

it('agents of two groups that report the same use quarantine one address', () => {
  const agents = { observedUses: [use('10.0.0.11'), use('10.0.0.11'), use('10.0.0.12')] };
  const planned = plan({ end: '10.0.0.30', agents, claims: { a: [claim(A)] } });
  expect(planned.quarantines.map(({ address }) => address)).toEqual([ip('10.0.0.11'), ip('10.0.0.12')]);
});

it('the machine that uses an address may pin it, also if a client had declined the address before anybody knew who uses it', () => {
  const quarantined = { '10.0.0.11': { until: '2026-01-01T00:30:00Z' } };
  const agents = { observedUses: [use('10.0.0.11', A)] };
  expect(addressesOf(plan({ quarantined, agents, claims: { a: [claim(A, '10.0.0.11')] } }))).toEqual({ [A]: '10.0.0.11' });
});
