import { expect, it } from 'vitest';
import type { AddressCounts, Overview, PoolSummary } from '../../model/page-data.js';
import { applyPoolsChange } from './apply-pools-change.js';

const COUNTS: AddressCounts = { free: 1, used: 2, reserved: 0, excluded: 0, quarantined: 0 };

function pool(key: string, state: PoolSummary['state'] = 'ok'): PoolSummary {
  const [namespace = '', name = ''] = key.split('/');
  const texts = { network: '', cidr: '', start: '', end: '', serverAddress: '', servedByPod: '', agents: '' };
  return { key, namespace, name, counts: COUNTS, state, reasons: [], ...texts };
}

it('replaces, adds and removes pools, and keeps them sorted', () => {
  const overview = { pools: ['a/1', 'a/2', 'b/1'].map((key) => pool(key)), totals: COUNTS } as unknown as Overview;
  const changed = applyPoolsChange(overview, {
    changed: [pool('a/2', 'broken'), pool('a/15')],
    removed: ['a/1'],
    totals: { ...COUNTS, used: 9 },
  });
  expect(changed.pools.map(({ key, state }) => `${key} ${state}`)).toEqual(['a/15 ok', 'a/2 broken', 'b/1 ok']);
  expect(changed.totals.used).toBe(9);
});
