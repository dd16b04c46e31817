import { describe, expect, it } from 'vitest';
import { MOST_CONFIG_OCTETS } from './fit-agent-configs.js';
import { fitGroup } from './fit-group.js';
import { activePool, contextOf, type GroupState, SERVING } from './group-fixtures.js';

/** Names of the maximum length: 144 pools fit, because each is named four times. */
const key = (index: number) => `default/${'p'.repeat(249)}-${String(index).padStart(3, '0')}`;
const many = (count: number) => Array.from({ length: count }, (_, index) => key(index));
const own = (keys: readonly string[]) => Object.fromEntries(keys.map((one) => [one, 'group']));

describe('the pools that fit into the configuration of a group', () => {
  it('are all its own pools, the oldest first', () => {
    const pools = [
      activePool('default/a', { createdAt: '2026-02-01' }),
      activePool('default/b', { createdAt: '2026-01-01' }),
      activePool('default/c'),
    ];
    const { own: fitted, pools: all, leftOut } = fitGroup('group', contextOf({ pools }, own(pools.map((one) => one.key))));
    expect(fitted.map((one) => one.key)).toEqual(['default/c', 'default/b', 'default/a']);
    expect(all).toEqual(fitted);
    expect(leftOut.size).toBe(0);
    expect(fitGroup('other', contextOf({ pools }, own(pools.map((one) => one.key)))).pools).toEqual([]);
  });

  it.each([
    ['per-network', 'set a smaller --max-pools-per-agent'],
    ['unified', 'use --agent-topology per-network'],
  ] as const)('the last ones are left out, with a remedy: %s', (topology, remedy) => {
    const { own: fitted, leftOut } = fitGroup('group', contextOf({}, own(many(200)), { topology }));
    expect(fitted.map((one) => one.key)).toEqual(many(144));
    expect([...leftOut.keys()]).toEqual(many(200).slice(144));
    expect(leftOut.get(key(199))).toEqual({
      reason: 'AgentConfigTooLarge',
      message: `AGENT_NETWORK_CONFIGS of the agents group has no room for the pool beside 144 other pools: Linux takes 131072 octets; ${remedy}`,
    });
    expect(MOST_CONFIG_OCTETS).toBeLessThan(131_072);
  });

  it('configured pools stay, even if older ones come', () => {
    const groups = { group: { configured: [key(199)] } };
    const { own: fitted } = fitGroup('group', contextOf({ groups }, own(many(200))));
    expect(fitted.map((one) => one.key)).toEqual([...many(143), key(199)]);
  });

  describe('pools of other groups', () => {
    const groupOf = { 'default/own': 'group', 'default/a': 'other', 'default/b': 'other' };
    const pools = (state: GroupState) =>
      fitGroup('group', contextOf({ groups: { group: state, other: {} } }, groupOf)).pools.map((one) => one.key);
    const configured = ['default/a', 'default/b', 'default/own'];
    const leased = (suspended: readonly string[]): GroupState => ({
      configured,
      lease: { suspended, report: { 'default/own': SERVING } },
    });

    it('all stay in the configuration until the group has released the last one', () => {
      expect(pools(leased([]))).toEqual(configured);
      expect(pools(leased(['default/a']))).toEqual(configured);
      expect(pools(leased(['default/a', 'default/b']))).toEqual(['default/own']);
    });

    it('that only pods of an earlier template know do not come back', () => {
      const report = { 'default/a': SERVING };
      expect(pools({ configured: ['default/own'], lease: { report } })).toEqual(['default/own']);
    });

    it('a pool that no group should serve leaves at once', () => {
      expect(pools({ configured: ['default/gone', 'default/own'], lease: {} })).toEqual(['default/own']);
    });

    it('a pool of another group that does not fit is not a problem of its own group', () => {
      const state = { groups: { group: { configured: [...many(200)], lease: {} } } };
      const { leftOut } = fitGroup('group', contextOf(state, Object.fromEntries(many(200).map((one) => [one, 'other']))));
      expect(leftOut.size).toBe(0);
    });
  });
});
