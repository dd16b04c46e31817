/**
 * How agents run in a dry run, without leader election, or with configuration that makes no sense: real processes, real packets.
 *
 * @module-tag nightly
 */
import { readConditions, readField, readList } from '@vmdhcp/kube-runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AGENT_BIN,
  AGENT_NAMESPACE,
  CLUSTER_EXAMPLES,
  type Lab,
  type LabCluster,
  type LabPod,
  startVlanLab,
  unifiedAgents,
  type VlanLab,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const POOL = 'default/net-48';
const WEB = '02:00:5e:00:48:01';
const ADDRESS = '192.168.48.10';
const UNIFIED = 'vm-dhcp-controller-agent';

let vlans: VlanLab;
let lab: Lab;
let cluster: LabCluster;

beforeEach(async () => {
  vlans = await startVlanLab([48, 49]);
  ({ lab, cluster } = vlans);
});

afterEach(() => vlans.stop());

const answered = () => vlans.fleet.addressFor({ macAddress: WEB });

async function createPools(): Promise<void> {
  await cluster.access.applyFile(`${CLUSTER_EXAMPLES}pools.yaml`);
  await cluster.access.create(virtualMachine('default/web', WEB, 'default/vlan-48'));
}

/** Sockets of the pod by which it could hear or send DHCP or ARP: UDP port 67, and packet sockets. */
async function openSockets({ machine }: LabPod): Promise<string[]> {
  const reader = machine.start('sh', [
    '-c',
    'tail -n +2 -q /proc/net/udp /proc/net/udp6 | grep :0043; tail -n +2 -q /proc/net/packet',
  ]);
  await reader.ended();
  return reader.lines.filter((line) => line.trim() !== '');
}

async function agentReady() {
  return readConditions((await cluster.access.get('IPPool', POOL))?.status).find(({ type }) => type === 'AgentReady');
}

/** The chart's agents, with one more argument. */
async function applyChart(argument: string): Promise<void> {
  await cluster.access.applyAll(unifiedAgents());
  const chart = await cluster.access.get('Deployment', `${AGENT_NAMESPACE}/${UNIFIED}`);
  const containers = readList(chart?.spec, 'template', 'spec', 'containers').map((container) => ({
    ...(container as object),
    args: [...readList(container, 'args'), argument],
  }));
  await cluster.access.patch('Deployment', `${AGENT_NAMESPACE}/${UNIFIED}`, { spec: { template: { spec: { containers } } } });
}

describe('agents of a cluster', () => {
  it.each([
    ['unified', UNIFIED],
    ['per-network', 'vm-dhcp-agent-mgmt-1'],
  ])(
    '%s with --no-dhcp=true: everything is reported, no UDP port is open, no replica has the address; without it, clients are served',
    async (topology, deployment) => {
      await cluster.startController('--agent-topology', topology, '--no-leader-election=true', '--no-dhcp=true');
      if (topology === 'unified') await applyChart('--no-leader-election=false');
      await createPools();
      await waitFor('the reason', async () => (await agentReady())?.reason === 'DryRun');
      expect(await agentReady()).toMatchObject({ status: 'False', message: expect.stringContaining('--no-dhcp') as string });
      await cluster.rolledOut(deployment);
      expect(cluster.holders(POOL)).toEqual([]);
      for (const pod of cluster.pods.values()) expect(await openSockets(pod)).toEqual([]);
      expect(await answered()).toBeUndefined();

      await cluster.restartController('--agent-topology', topology, '--no-leader-election=true', '--no-dhcp=false');
      await cluster.agentReady(POOL);
      await waitFor('an answer', async () => (await answered()) === ADDRESS);
      // A standby may have answered.
      const holder = await waitFor('a holder', () => cluster.holders(POOL)[0]);
      expect(cluster.holders(POOL)).toHaveLength(1);
      expect(await openSockets(holder), 'the check sees sockets where there are some').not.toEqual([]);
    },
  );

  it('--no-leader-election still writes the Lease; a second agent, which should not exist, does not serve before the first one ends', async () => {
    await cluster.startController('--agent-topology', 'unified');
    await applyChart('--no-leader-election=true');
    await createPools();
    await cluster.agentReady(POOL);
    await cluster.rolledOut(UNIFIED);
    const leader = await waitFor('a leader', () => cluster.leader());
    await waitFor('an answer', async () => (await answered()) === ADDRESS);
    await waitFor('the address', () => cluster.holders(POOL).includes(leader));
    expect(cluster.holders(POOL)).toEqual([leader]);
    const other = await waitFor('the other one', () =>
      [...cluster.pods.values()].find((pod) => pod !== leader && !pod.isStopping),
    );
    await other.process?.line('another agent holds the Lease, so this one is not leader');
    leader.process?.kill('SIGKILL');
    await waitFor('the other one to lead', async () => (await cluster.leader()) === other);
    await waitFor('the address', () => cluster.holders(POOL)[0] === other);
    const lease = await cluster.access.get('Lease', `${AGENT_NAMESPACE}/vm-dhcp-agents`);
    expect(readField(lease?.spec, 'holderIdentity')).toMatch(new RegExp(`^${other.name}_`));
  });

  it('whose configuration is not JSON idles: alive, not ready, and it reports why', async () => {
    const url = 'http://127.0.0.1:18099';
    const agent = lab.start(process.execPath, [AGENT_BIN, 'serve', '--http', '127.0.0.1:18099'], {
      env: { AGENT_NETWORK_CONFIGS: '[{"interfaceName":' },
    });
    await agent.line('nothing is served: AGENT_NETWORK_CONFIGS is not a JSON array');
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const readiness = await fetch(`${url}/readyz`);
    expect(readiness.status).toBe(503);
    expect(await readiness.text()).toContain('AGENT_NETWORK_CONFIGS is not a JSON array');
    expect(agent.hasEnded).toBe(false);
    agent.kill('SIGTERM');
    expect((await agent.ended()).code).toBe(0);
  });
});
