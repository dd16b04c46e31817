/**
 * How much configuration a process can be given in its environment: what we write at most, and what the kernel takes. No cluster takes part:
 * the agent only reports what it would serve.
 */

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { AGENT_NETWORK_CONFIGS_VARIABLE } from '@vmdhcp/ippool-api';
import { fitAgentConfigs, MOST_CONFIG_OCTETS, type PoolForAgents, toAgentNetworkConfigs } from '@vmdhcp/reconciler';
import { describe, expect, it } from 'vitest';
import { AGENT_BIN } from '../src/index.js';

const KUBECONFIG = `apiVersion: v1
kind: Config
clusters: [{ name: none, cluster: { server: "https://127.0.0.1:1" } }]
users: [{ name: none, user: { token: none } }]
contexts: [{ name: none, context: { cluster: none, user: none } }]
current-context: none
`;
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

const AGENT = [AGENT_BIN, 'serve', '--dry-run', '--http', 'off'];
const environment = (value: string) => ({ PATH: process.env['PATH'], [AGENT_NETWORK_CONFIGS_VARIABLE]: value });

/** The first log line of an agent with this configuration; its API server is not there. */
async function firstLine(value: string, kubeconfig: string): Promise<{ readonly pools: readonly string[] }> {
  const started = spawn(process.execPath, [...AGENT, '--kubeconfig', kubeconfig], { env: environment(value) });
  try {
    for await (const line of createInterface({ input: started.stdout })) return JSON.parse(line) as { pools: string[] };
    throw new Error('the agent ended without a word');
  } finally {
    started.kill('SIGKILL');
  }
}

const startWith = (value: string) => spawnSync(process.execPath, AGENT, { env: environment(value), encoding: 'utf8' });

describe.runIf(pageSize === 4_096)('an agent with a configuration of exactly the maximum size', () => {
  const full = exactlyFull();

  it('starts and reads every pool', async () => {
    expect(Buffer.byteLength(valueFor(full))).toBe(MOST_CONFIG_OCTETS);
    const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-limit-'));
    try {
      const kubeconfig = join(folder, 'kubeconfig');
      writeFileSync(kubeconfig, KUBECONFIG, { mode: 0o600 });
      const { pools } = await firstLine(valueFor(full), kubeconfig);
      expect(pools.toSorted()).toEqual(full.map(({ key }) => key).toSorted());
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('with one octet more, the kernel refuses to start it (E2BIG)', () => {
    expect(startWith(`${valueFor(full)} `).error).toMatchObject({ code: 'E2BIG' });
  });

  it('the kernel would refuse one more pool; the controller omits it before that', () => {
    const more = [...full, poolNamed('one-more')];
    expect(startWith(valueFor(more)).error).toMatchObject({ code: 'E2BIG' });
    const { fitting, leftOut } = fitAgentConfigs(more);
    expect([fitting, leftOut.map(({ key }) => key)]).toEqual([full, ['default/one-more']]);
  });
});
