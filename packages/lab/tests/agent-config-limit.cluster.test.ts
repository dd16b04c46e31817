/**
 * How much configuration a process can be given in its environment: what we write at most, and what the kernel takes. No cluster takes part:
 * the agent only says what it would serve.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  AGENT_NETWORK_CONFIGS_VARIABLE,
  fitAgentConfigs,
  MOST_CONFIG_OCTETS,
  type PoolForAgents,
  toAgentNetworkConfigs,
} from '@vmdhcp/reconciler';
import { describe, expect, it } from 'vitest';
import { AGENT_BIN } from '../src/index.js';

const pageSize = Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }));
const poolNamed = (name: string): PoolForAgents => ({
  key: `default/${name}`,
  network: 'default/net-1',
  serverIP: '10.0.0.2',
  cidr: '10.0.0.0/24',
});
const valueFor = (pools: readonly PoolForAgents[]) => JSON.stringify(toAgentNetworkConfigs(pools));

/** As many pools as fit, the last one with a network whose name fills the rest. */
function exactlyFull(): PoolForAgents[] {
  const { fitting } = fitAgentConfigs(Array.from({ length: 1_000 }, (_, index) => poolNamed(`net-${index}`)));
  const [last, ...others] = fitting.toReversed();
  const room = MOST_CONFIG_OCTETS - Buffer.byteLength(valueFor(fitting));
  return [...others.toReversed(), { ...(last as PoolForAgents), network: `default/net-1${'0'.repeat(room)}` }];
}

function dryRun(value: string) {
  const env = { PATH: process.env['PATH'], [AGENT_NETWORK_CONFIGS_VARIABLE]: value };
  return spawnSync(process.execPath, [AGENT_BIN, 'serve', '--dry-run'], { env, encoding: 'utf8', maxBuffer: 2 ** 24 });
}

describe.runIf(pageSize === 4_096)('an agent with a configuration of exactly the most octets that we write', () => {
  const full = exactlyFull();

  it('starts and reads every pool', () => {
    expect(Buffer.byteLength(valueFor(full))).toBe(MOST_CONFIG_OCTETS);
    const { status, stdout, stderr } = dryRun(valueFor(full));
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    expect(`${stdout}${stderr}`).toContain(`"ipPoolRef":"${full.at(-1)?.key}"`);
    expect(`${stdout}${stderr}`.split('"ipPoolRef"')).toHaveLength(full.length + 1);
  });

  it('one octet more, and the kernel refuses to start it (E2BIG)', () => {
    expect(dryRun(`${valueFor(full)} `).error).toMatchObject({ code: 'E2BIG' });
  });

  it('one pool more would be refused by the kernel; we leave it out before', () => {
    const more = [...full, poolNamed('one-more')];
    expect(dryRun(valueFor(more)).error).toMatchObject({ code: 'E2BIG' });
    const { fitting, leftOut } = fitAgentConfigs(more);
    expect([fitting, leftOut.map(({ key }) => key)]).toEqual([full, ['default/one-more']]);
  });
});
