import { AGENT_NETWORK_CONFIGS_VARIABLE, IPPOOL_REFS_VARIABLE } from '@vmdhcp/ippool-api';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitAgentConfigs, MOST_CONFIG_OCTETS } from './fit-agent-configs.js';
import { type PoolForAgents, toAgentNetworkConfigs, toMultusNetworks } from './pool-for-agents.js';

const poolNamed = (name: string): PoolForAgents => ({
  key: `default/${name}`,
  network: 'default/net-1',
  serverIP: '10.0.0.2',
  cidr: '10.0.0.0/24',
});
const octets = (text: string): number => Buffer.byteLength(text);
const valueFor = (pools: readonly PoolForAgents[]): string => JSON.stringify(toAgentNetworkConfigs(pools));
const keys = (pools: readonly PoolForAgents[]): string[] => pools.map(({ key }) => key);

/** Pools whose configuration has exactly the maximum size. A character of a name counts twice. */
function exactlyFull(): PoolForAgents[] {
  const pools: PoolForAgents[] = [];
  const named = (length: number) => poolNamed(String(pools.length).padStart(length, 'p'));
  while (octets(valueFor([...pools, named(100), named(100)])) < MOST_CONFIG_OCTETS) pools.push(named(100));
  const room = MOST_CONFIG_OCTETS - octets(valueFor([...pools, named(4)]));
  const last = named(4 + Math.floor(room / 2));
  return [...pools, room % 2 === 0 ? last : { ...last, network: `${last.network}1` }];
}

describe('fitAgentConfigs', () => {
  const full = exactlyFull();

  it('a configuration of exactly the maximum size in Linux fits', () => {
    // Linux allows 131,072 octets (MAX_ARG_STRLEN): name, equals sign, value, and the zero at the end.
    expect(octets(`${AGENT_NETWORK_CONFIGS_VARIABLE}=${valueFor(full)}\0`)).toBe(131_072);
    expect(fitAgentConfigs(full)).toEqual({ fitting: full, leftOut: [] });
  });

  it('with one character more the last pool is left out', () => {
    const last = full.at(-1) as PoolForAgents;
    const longer = { ...last, network: `${last.network}x` };
    expect(fitAgentConfigs([...full.slice(0, -1), longer])).toEqual({ fitting: full.slice(0, -1), leftOut: [longer] });
  });

  it('a pool that does not fit is skipped for a later one that does', () => {
    const [large, small] = [poolNamed('x'.repeat(240)), poolNamed('s')];
    const others = full.slice(0, -1);
    const { fitting, leftOut } = fitAgentConfigs([...others, large, large, small, large]);
    expect([fitting.length - others.length, leftOut.length]).toEqual([1, 3]);
    expect(fitting.at(-1)).toBe(small);
  });

  it('law: the result is in order and as large as possible, and the other texts with these pools fit too', () => {
    const name = fc.stringMatching(/^[a-z0-9]{1,253}$/);
    const some = fc.tuple(fc.array(fc.tuple(name, name), { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 900 }));
    fc.assert(
      fc.property(some, ([names, count]) => {
        const pools = Array.from({ length: count }, (_, index): PoolForAgents => {
          const [pool, network] = names[index % names.length] as [string, string];
          return { ...poolNamed(`${pool}${index}`), network: `default/${network}` };
        });
        const { fitting, leftOut } = fitAgentConfigs(pools);
        expect(octets(valueFor(fitting))).toBeLessThanOrEqual(MOST_CONFIG_OCTETS);
        for (const one of leftOut.slice(0, 3)) expect(octets(valueFor([...fitting, one]))).toBeGreaterThan(MOST_CONFIG_OCTETS);
        expect(keys(pools.filter((one) => fitting.includes(one)))).toEqual(keys(fitting));
        expect(fitting.length + leftOut.length).toBe(pools.length);
        const configs = toAgentNetworkConfigs(fitting);
        expect(octets(`${IPPOOL_REFS_VARIABLE}=${JSON.stringify(keys(fitting))}`)).toBeLessThan(131_072);
        expect(octets(toMultusNetworks(configs))).toBeLessThan(131_072);
      }),
      { numRuns: 40 },
    );
  });
});
