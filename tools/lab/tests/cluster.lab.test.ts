/** From a VirtualMachine to the ACK on the wire: a simulated API server, the real controller, real agents in pods, real clients. */
import { join } from 'node:path';
import { RENEW_PERIOD_ANNOTATION } from '@vmdhcp/ippool-api';
import { readConditions, readField, readList } from '@vmdhcp/kube-runtime';
import { agentInterfaceName, UNIFIED_GROUP } from '@vmdhcp/reconciler';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AGENT_NAMESPACE,
  acquire,
  CLUSTER_EXAMPLES,
  compareRights,
  has,
  Lab,
  LabCluster,
  type LabController,
  type Machine,
  needs,
  PacketCapture,
  rightsOf,
  runAgent,
  unifiedAgents,
  virtualMachine,
  virtualMachineWith,
  waitFor,
} from '../src/index.js';

const POOL = 'default/net-48';

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
  const { output } = await runAgent(machine, 'probe', '--interface', 'eth0', '--json', '--request', '--timeout', '2');
  return (JSON.parse(output) as { answers: Answer[] }).answers.findLast(({ type }) => type === 'ack');
}

/** What `web` was given: the lowest or the one above, as it and another one may be given theirs together. */
async function addressOfWeb(): Promise<string> {
  const { status } = await cluster.access.waitForObject('VirtualMachineNetworkConfig', 'default/web', (config) =>
    readConditions(config.status).some(({ type, status: state }) => type === 'Allocated' && state === 'True'),
  );
  return String(readField(readList(status, 'networkConfigs')[0], 'allocatedIPAddress'));
}

async function apply(file: string): Promise<void> {
  await cluster.access.applyFile(join(CLUSTER_EXAMPLES, file));
}

beforeEach(async () => {
  lab = new Lab();
  lab.addNetwork('br48');
  lab.addNetwork('br49');
  web = lab.addMachine('web', { network: 'br48', macAddress: '02:00:5e:00:48:01' });
  cluster = await LabCluster.start(lab, {
    networks: { 'default/vlan-48': 'br48', 'default/vlan-49': 'br49' },
    admission: 'on',
  });
  controller = await cluster.startController('--agent-topology', 'unified');
  await cluster.access.applyAll(unifiedAgents());
});

afterEach(async () => {
  await cluster.stop();
  await lab.dispose();
});

describe('a cluster', () => {
  it('a virtual machine is created and gets its address on the wire; options that change reach it', async () => {
    await apply('pools.yaml');
    await apply('virtual-machines.yaml');
    await cluster.agentReady(POOL);
    await cluster.rolledOut();
    const first = await waitFor('an answer', () => exchange(web));
    expect(first).toMatchObject({ address: await addressOfWeb(), server: '192.168.48.2', leaseTimeSeconds: 3600 });

    await cluster.access.patch('IPPool', 'default/net-48', { spec: { ipv4Config: { leaseTime: 900 } } });
    await waitFor('the new lease time', async () => (await exchange(web))?.leaseTimeSeconds === 900);

    expect(controller.process.lines.filter((line) => /"level":"(warn|error|fatal)"/.test(line))).toEqual([]);

    const account = { namespace: AGENT_NAMESPACE, name: 'vm-dhcp-controller-agent' };
    const granted = await rightsOf(cluster.access, account);
    expect(compareRights(granted, cluster.simulator.audit.requests, account)).toEqual({ unused: [], refused: [] });

    await cluster.killWebhook();
    expect(await exchange(web), 'leases do not depend on the webhook').toMatchObject({ address: first.address });
    await cluster.access.create(virtualMachine('default/later', '02:00:5e:00:48:77', 'default/vlan-48'));
    const later = lab.addMachine('later', { network: 'br48', macAddress: '02:00:5e:00:48:77' });
    await waitFor('an answer for a new virtual machine', () => exchange(later));
  });

  it.skipIf(!has('udhcpc'))(
    `a machine that was imported with two addresses has them, or none and a reason ${needs('udhcpc')}`,
    async () => {
      await apply('pools.yaml');
      const nics = [
        { name: 'front', macAddress: '02:00:5e:00:48:21', network: 'default/vlan-48' },
        { name: 'back', macAddress: '02:00:5e:00:49:21', network: 'default/vlan-49' },
      ];
      const imported = (addresses: object) =>
        virtualMachineWith('default/imported', nics, { 'network.kubevirt.io/addresses': JSON.stringify(addresses) });
      await cluster.access.create(imported({ front: ['192.168.48.150', 'fd00::150'], back: ['192.168.49.99'] }));
      await cluster.agentReady(POOL);
      const [front, back] = nics.map(({ name, macAddress }) =>
        lab.addMachine(name, { network: name === 'front' ? 'br48' : 'br49', macAddress }),
      );
      const message = await waitFor('a refusal', async () => {
        const events = (await cluster.access.list('Event')).map((event) => String(readField(event, 'message')));
        return events.find((text) => text.includes('192.168.49.99'));
      });
      expect(message).toContain('it lies outside the range of the pool');
      const pools = await Promise.all(['net-48', 'net-49'].map((name) => cluster.access.get('IPPool', `default/${name}`)));
      const owners = pools.flatMap((pool) => Object.values(readField(pool?.status, 'ipv4', 'allocated') ?? {}));
      expect(owners, 'no other address').not.toContainEqual(expect.stringMatching(/:21$/));
      const annotations = { 'network.kubevirt.io/addresses': '{"front":["192.168.48.150"],"back":["192.168.49.11"]}' };
      await cluster.access.patch('VirtualMachine', 'default/imported', { metadata: { annotations } });
      const bound = await waitFor('both addresses', async () => {
        const events = await Promise.all(
          [front, back].map((machine) => acquire('udhcpc', machine as Machine).catch(() => undefined)),
        );
        return events.every((event) => event !== undefined) ? events.map((event) => event?.address) : undefined;
      });
      expect(bound).toEqual(['192.168.48.150', '192.168.49.11']);
    },
  );

  it('only the leader has the server address; when it is killed the other replica has it, and serves', async () => {
    await apply('pools.yaml');
    await apply('virtual-machines.yaml');
    await cluster.agentReady(POOL);
    await cluster.rolledOut();
    const leader = await waitFor('a leader', () => cluster.leader());
    const holders = () => cluster.holders(POOL).map(({ name }) => name);
    // The Lease comes first, the address a moment later.
    await waitFor('the address', () => holders().join() === leader.name);
    leader.process?.kill('SIGKILL');
    const address = await addressOfWeb();
    await waitFor('another answer', async () => (await exchange(web))?.address === address);
    expect(await waitFor('another leader', () => cluster.leader())).not.toBe(leader);
    // It answered, as a standby does, or has the address already.
    await waitFor('its address', () => holders().length === 1);
  });

  it('a leader that is told to end hands over: the gap is short', async () => {
    await apply('pools.yaml');
    await apply('virtual-machines.yaml');
    await cluster.agentReady(POOL);
    await cluster.rolledOut();
    const leader = await waitFor('a leader', () => cluster.leader());
    const address = await addressOfWeb();
    // What a controller writes if there are many groups; this one would remove it. A Lease that was not released would be waited for.
    await cluster.stopController();
    const lease = `${AGENT_NAMESPACE}/${UNIFIED_GROUP}`;
    await cluster.access.patch('Lease', lease, { metadata: { annotations: { [RENEW_PERIOD_ANNOTATION]: '60000' } } });
    await cluster.access.waitForObject('Lease', lease, ({ spec }) => Number(readField(spec, 'leaseDurationSeconds')) > 60);
    leader.process?.kill('SIGTERM');
    await leader.process?.ended();
    await waitFor('another answer', async () => (await exchange(web))?.address === address);
    expect(await waitFor('another leader', () => cluster.leader())).not.toBe(leader);
    await waitFor('its address', () => cluster.holders(POOL).some((pod) => pod !== leader));
  });

  it('a leader that is frozen has no address when another replica has it, and sends nothing when it wakes up', async () => {
    await apply('pools.yaml');
    await apply('virtual-machines.yaml');
    await cluster.agentReady(POOL);
    await cluster.rolledOut();
    const leader = await waitFor('a leader', () => cluster.leader());
    const frozenMac = macAddressOf(leader.machine);
    const capture = new PacketCapture('br48');
    leader.process?.kill('SIGSTOP');
    let most = 0;
    let next = leader;
    // Beyond the take-over, with clients asking all the time.
    let rounds = 0;
    await waitFor('another one that has the address for three rounds', async () => {
      const holders = cluster.holders(POOL);
      most = Math.max(most, holders.length);
      next = holders.find((one) => one !== leader) ?? next;
      if (next !== leader) rounds++;
      await exchange(web);
      return rounds > 3;
    });
    expect(most, 'holders at a time').toBe(1);
    capture.clear();
    leader.process?.kill('SIGCONT');
    await leader.process?.line('leadership lost');
    expect((await exchange(web))?.address).toBe(await addressOfWeb());
    const answers = capture.messages.filter(({ type }) => type === 'offer' || type === 'ack');
    expect(answers.map(({ senderMacAddress }) => senderMacAddress)).toContain(macAddressOf(next.machine));
    expect(answers.map(({ senderMacAddress }) => senderMacAddress)).not.toContain(frozenMac);
    expect(cluster.holders(POOL)).not.toContain(leader);
    capture.stop();
  });

  it('what agents log changes without a restart: by an annotation of the pool, and by an option of the controller', async () => {
    await apply('pools.yaml');
    await apply('virtual-machines.yaml');
    await cluster.agentReady(POOL);
    await cluster.rolledOut();
    await waitFor('an answer', () => exchange(web));
    const pods = [...cluster.pods.values()];
    const logged = (text: string) => pods.some(({ process }) => process?.lines.some((line) => line.includes(text)));
    expect(logged('"msg":"packet: ')).toBe(false);

    const annotate = (value: string | null) =>
      cluster.access.patch('IPPool', POOL, { metadata: { annotations: { 'network.harvesterhci.io/log-packets': value } } });
    await annotate('true');
    await waitFor('a whole packet', async () => {
      await exchange(web);
      return logged('"options":{"messageType":"ACK"');
    });
    await annotate(null);

    await cluster.restartController('--agent-topology', 'unified', '--agent-log-level', 'debug');
    await waitFor('a line at debug', async () => {
      await exchange(web);
      return logged('"level":"debug"');
    });
    expect([...cluster.pods.keys()], 'the same pods').toEqual(pods.map(({ name }) => name));
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

/** The MAC address of the interface on net-48. */
function macAddressOf(machine: Machine): string {
  const line = machine
    .ip('-o', 'link', 'show')
    .split('\n')
    .find((text) => text.includes(`${agentInterfaceName(POOL)}@`));
  return / link\/ether (\S+)/.exec(line ?? '')?.[1] ?? '';
}
