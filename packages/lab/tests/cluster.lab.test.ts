/** From a VirtualMachine to the ACK on the wire: a simulated API server, the real controller, real agents in pods, real clients. */
import { join } from 'node:path';
import { readConditions, readField } from '@vmdhcp/reconciler';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AGENT_NAMESPACE,
  CLUSTER_EXAMPLES,
  Lab,
  LabCluster,
  type LabController,
  type Machine,
  runAgent,
  waitFor,
} from '../src/index.js';

interface Answer {
  readonly type: string;
  readonly address: string;
  readonly server: string;
  readonly leaseTimeSeconds?: number;
}

let lab: Lab;
let cluster: LabCluster;
let controller: LabController;
let web: Machine;

/** The last answer of a whole exchange. */
async function exchange(machine: Machine): Promise<Answer | undefined> {
  const { output } = await runAgent(machine, 'probe', '--interface', 'eth0', '--json', '--request', '--timeout', '0.5');
  return (JSON.parse(output) as { answers: Answer[] }).answers.findLast(({ type }) => type === 'ack');
}

async function agentReady(pool: string): Promise<void> {
  const isReady = ({ status }: { readonly status?: unknown }) =>
    readConditions(status).some(({ type, status: state }) => type === 'AgentReady' && state === 'True');
  await cluster.access.waitForObject('IPPool', `default/${pool}`, isReady);
}

async function apply(file: string): Promise<void> {
  await cluster.access.applyFile(join(CLUSTER_EXAMPLES, file));
}

beforeEach(async () => {
  lab = new Lab();
  lab.addNetwork('br48');
  lab.addNetwork('br49');
  web = lab.addMachine('web', { network: 'br48', macAddress: '02:00:5e:00:48:01' });
  cluster = await LabCluster.start(lab, { networks: { 'default/vlan-48': 'br48', 'default/vlan-49': 'br49' } });
  controller = await cluster.startController();
  await apply('agent.yaml');
});

afterEach(async () => {
  await cluster.stop();
  await lab.dispose();
});

describe('a cluster', () => {
  it('a virtual machine is created and gets its address on the wire; options that change reach it', async () => {
    await apply('pools.yaml');
    await apply('virtual-machines.yaml');
    await agentReady('net-48');
    const first = await exchange(web);
    expect(first).toMatchObject({ address: '192.168.48.10', server: '192.168.48.2', leaseTimeSeconds: 3600 });

    await cluster.access.patch('IPPool', 'default/net-48', { spec: { ipv4Config: { leaseTime: 900 } } });
    await waitFor('the new lease time', async () => (await exchange(web))?.leaseTimeSeconds === 900, 3_000);

    expect(controller.process.lines.filter((line) => /"level":"(warn|error|fatal)"/.test(line))).toEqual([]);
  });

  it('only the leader has the server address; when it is killed the other replica has it, and serves', async () => {
    await apply('pools.yaml');
    await apply('virtual-machines.yaml');
    await agentReady('net-48');
    const leader = await waitFor('a leader', () => cluster.leader());
    const holders = () => [...cluster.pods.values()].filter(({ machine }) => hasServerAddress(machine)).map(({ name }) => name);
    expect(holders()).toEqual([leader.name]);
    leader.process?.kill('SIGKILL');
    const killedAtMs = performance.now();
    await waitFor('another answer', async () => (await exchange(web))?.address === '192.168.48.10', 10_000);
    const gapMs = performance.now() - killedAtMs;
    expect(await waitFor('another leader', () => cluster.leader())).not.toBe(leader);
    expect(holders()).toHaveLength(1);
    expect(gapMs).toBeLessThan(10_000);
  });

  it('a missing Deployment or container is a condition and an Event, not a silent success', async () => {
    await cluster.access.delete('Deployment', `${AGENT_NAMESPACE}/vm-dhcp-controller-agent`);
    await apply('pools.yaml');
    const pool = await cluster.access.waitForObject('IPPool', 'default/net-48', ({ status }) =>
      readConditions(status).some(({ reason }) => reason === 'AgentDeploymentMissing'),
    );
    expect(readConditions(pool.status).find(({ type }) => type === 'AgentReady')).toMatchObject({ status: 'False' });
    const events = await waitFor('an Event', async () => {
      const found = (await cluster.access.list('Event')).filter(
        (event) => readField(event, 'reason') === 'AgentDeploymentMissing',
      );
      return found.length > 0 ? found : undefined;
    });
    expect(readField(events[0], 'involvedObject', 'kind')).toBe('IPPool');
  });
});

function hasServerAddress(machine: Machine): boolean {
  return machine.ip('-4', '-o', 'address', 'show').includes('192.168.48.2/24');
}
