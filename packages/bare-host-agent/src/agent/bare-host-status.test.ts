import type { OpenLeases } from '@vmdhcp/lease-stores';
import { expect, it } from 'vitest';
import { BareHostStatus, type BareHostStatusParts } from './bare-host-status.js';

it('metrics leave out a pool that is no longer in the pools file, whose leases are kept', async () => {
  const counts = { size: 2, valid: 1, quarantined: 0, declared: 0, kept: 0, free: 1 };
  const all = new Map<string, unknown>([['blue', {}]]);
  const parts = {
    open: { counts: () => new Map(['blue', 'gone'].map((name) => [name, counts])), failures: 0 } as unknown as OpenLeases,
    planned: () => ({ all, counts: new Map(), refusedClaims: new Map() }),
    interfaces: () => ({ unserved: () => [] }),
    file: () => ({ pools: new Map() }),
    events: { counts: () => new Map() },
  };
  const { metrics } = new BareHostStatus(parts as unknown as BareHostStatusParts);
  const text = await metrics.registry.getSingleMetricAsString('vmdhcp_agent_dynamic_addresses');
  expect([text.includes('pool="blue"'), text.includes('pool="gone"')]).toEqual([true, false]);
});
