/** From a magic packet on the wire to a virtual machine that runs: agents on three nodes, the controller, mutual TLS, and a stand-in for KubeVirt. */
import { readFileSync } from 'node:fs';
import { ALERTS, alertsNamedIn, formatRules } from '@vmdhcp/alerts';
import { DASHBOARDS, queriesToTry } from '@vmdhcp/dashboards';
import { type KubernetesObject, readConditions, readField, readText } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  AGENT_BIN,
  API_HOST,
  CONTROLLER_BIN,
  type ContainerOfPod,
  drawPicture,
  FiringAlerts,
  freePort,
  has,
  isDrawing,
  KubeVirt,
  Lab,
  LabCluster,
  type LabProcess,
  MANAGEMENT_NETWORK,
  type Machine,
  type NodePod,
  needs,
  Prometheus,
  startInPod,
  waitFor,
} from '../src/index.js';

const NAMESPACE = 'vm-dhcp-system';
const NODES = ['node-1', 'node-2', 'node-3'];
/** The address of a second controller. */
const OTHER_ADDRESS = '10.99.253.2';
/** The first one that agents have. */
const AGENT_PORT = 18_420;
const AUTHORITY = `${NAMESPACE}/vmdhcp-wake-on-lan-ca`;
/** What the container of an agent may do, and no more. */
const RIGHTS = ['--bounding-set=-all,+net_raw,+net_bind_service', '--inh-caps=-all'];
/** A controller that was killed is replaced after twenty seconds; nothing starts one again that a busy machine made lose its Lease. */
const ELECTION = {
  CATTLE_ELECTION_LEASE_DURATION: '20s',
  CATTLE_ELECTION_RENEW_DEADLINE: '18s',
  CATTLE_ELECTION_RETRY_PERIOD: '250ms',
};

let lab: Lab;
let cluster: LabCluster;
let kubevirt: KubeVirt;
let outside: Machine;
let controller: Controller;
let count = 0;

interface Controller {
  readonly process: LabProcess;
  readonly url: string;
}

beforeAll(async () => {
  lab = new Lab();
  lab.addNetwork('br-lan');
  outside = lab.addMachine('outside', { network: 'br-lan', macAddress: '02:00:00:00:77:01' });
  outside.ip('address', 'add', '192.168.77.50/24', 'dev', 'eth0');
  cluster = await LabCluster.start(lab, {
    networks: {},
    nodes: NODES,
    nodeCards: { eth1: 'br-lan' },
    hosts: { [`vmdhcp-wake-on-lan.${NAMESPACE}.svc`]: API_HOST },
    startContainer: startAgent,
  });
  for (const [index, name] of NODES.entries())
    nodeOf(name).machine.ip('address', 'add', `192.168.77.${index + 2}/24`, 'dev', 'eth1');
  kubevirt = await KubeVirt.start(cluster.simulator);
  await cluster.access.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'private' } });
  controller = await startController();
  await leads(controller);
});

beforeEach(() => {
  const { hasEnded, lines } = controller.process;
  expect(hasEnded, `the controller has ended: ${lines.at(-1)}`).toBe(false);
});

afterAll(async () => {
  await controller?.process.stop();
  await kubevirt?.stop();
  await cluster?.stop();
  await lab?.dispose();
});

function startAgent(container: ContainerOfPod): LabProcess {
  return startInPod(container, ['setpriv', ...RIGHTS, process.execPath, AGENT_BIN, ...container.args]);
}

/** The address of the Service leads to a controller at `API_HOST`. */
function startController(): Promise<Controller> {
  return runController(lab, API_HOST);
}

async function runController(place: Pick<Machine, 'start'>, address: string): Promise<Controller> {
  const http = `${address}:${await freePort()}`;
  const flags = ['--kubeconfig', cluster.kubeconfigPath, '--no-agent', '--image', 'vmdhcp-agent:lab', '--namespace', NAMESPACE];
  const started = place.start(process.execPath, [CONTROLLER_BIN, 'run', ...flags, '--http', http, '--wake-on-lan'], {
    env: { ...ELECTION, POD_IP: address, POD_NAMESPACE: NAMESPACE },
  });
  await started.line('listening for reports of Wake-on-LAN agents');
  return { process: started, url: `http://${http}` };
}

const leads = ({ process: started }: Controller) => started.line('deciding about wake-ups');

function nodeOf(name: string) {
  const node = cluster.nodes.get(name);
  if (node === undefined) throw new Error(`no node ${name}`);
  return node;
}

interface WakeableMachine {
  /** `namespace/name`. */
  readonly key: string;
  readonly mac: string;
}

async function machine(runStrategy: string, namespace = 'default'): Promise<WakeableMachine> {
  const name = `vm-${++count}`;
  const mac = `02:00:5e:00:01:${count.toString(16).padStart(2, '0')}`;
  const devices = { interfaces: [{ name: 'default', macAddress: mac, bridge: {} }] };
  const spec = { runStrategy, template: { spec: { domain: { devices }, networks: [{ name: 'default', pod: {} }] } } };
  await cluster.access.create({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace, name },
    spec,
  } as KubernetesObject);
  const key = `${namespace}/${name}`;
  await kubevirt.untilStatus(key, 'Stopped');
  return { key, mac };
}

async function send(program: string, ...parameters: readonly string[]): Promise<void> {
  const { code } = await outside.start(program, parameters).ended();
  expect(code, `${program} ${parameters.join(' ')}`).toBe(0);
}

const byFrame = (mac: string) => send('etherwake', '-b', '-i', 'eth0', mac);
const byDatagram = (mac: string) => send('wakeonlan', '-i', '192.168.77.255', '-p', '9', mac);

/** A metric without labels. */
async function numberAt(url: string, name: string): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text();
  const line = page.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ')[1] ?? Number.NaN);
}

const metric = (name: string) => numberAt(controller.url, name);
const agents = (): readonly NodePod[] => [...cluster.nodePods.values()];

/** Resolves when each agent has the list of all machines that may be woken now. */
async function listed(): Promise<void> {
  const machines = (await cluster.access.list('VirtualMachine')).filter(({ metadata }) => metadata.namespace === 'default');
  await waitFor(`${NODES.length} agents that know ${machines.length} machines`, async () => {
    const lengths = await Promise.all(agents().map(lengthOfList));
    return lengths.length === NODES.length && lengths.every((length) => length === machines.length);
  });
}

async function lengthOfList({ node }: NodePod): Promise<number> {
  return await numberAt(`http://${node.address}:${AGENT_PORT}`, 'vmdhcp_agent_wol_listed');
}

/** Sends, and waits until all three agents have reported it. */
async function wake(sent: WakeableMachine, by: (mac: string) => Promise<void>): Promise<void> {
  await listed();
  const before = await metric('wol_packets_total');
  await by(sent.mac);
  await waitFor('three reports', async () => (await metric('wol_packets_total')) >= before + 3);
}

async function eventsOf(key: string): Promise<readonly KubernetesObject[]> {
  const [namespace, name] = key.split('/');
  const isMeant = (event: KubernetesObject) =>
    event.metadata.namespace === namespace && readText(event, 'involvedObject', 'name') === name;
  return (await cluster.access.list('Event')).filter(
    (event) => isMeant(event) && readText(event, 'reason')?.startsWith('WakeUp'),
  );
}

describe('a WolConfig', () => {
  it('has agents on all nodes, which are ready when they reach the controller; without one there are none', async () => {
    expect(await cluster.access.list('DaemonSet')).toEqual([]);
    await cluster.access.create({
      apiVersion: 'wol.pillon.org/v1beta1',
      kind: 'WolConfig',
      metadata: { name: 'office' },
      spec: { discoveryMode: 'All', namespaceSelectors: ['default'], wolPorts: [9] },
    } as KubernetesObject);
    const { status } = await cluster.access.waitForObject(
      'WolConfig',
      'office',
      (config) => readField(config.status, 'agentStatus', 'numberReady') === 3,
    );
    expect(status).toMatchObject({ agentStatus: { daemonSetName: 'wol-agent-office', desiredNumberScheduled: 3 } });
    await cluster.access.waitForObject('WolConfig', 'office', (config) =>
      readConditions(config.status).some((condition) => condition.type === 'Ready' && condition.status === 'True'),
    );
    expect(
      agents()
        .map(({ node }) => node.machine.name)
        .toSorted(),
    ).toEqual(NODES);
  });
});

describe('a magic packet that three agents receive', () => {
  it.runIf(has('etherwake'))(`starts the machine once, and an Event says who sent it ${needs('etherwake')}`, async () => {
    const sleeping = await machine('Manual');
    await wake(sleeping, byFrame);
    await kubevirt.untilStatus(sleeping.key, 'Running');
    expect(kubevirt.startsOf(sleeping.key)).toMatchObject([{ answered: 202 }]);
    const [event] = await waitFor('the Event', async () => {
      const events = await eventsOf(sleeping.key);
      return events.length > 0 ? events : undefined;
    });
    expect(event).toMatchObject({ reason: 'WakeUpStarted', type: 'Normal' });
    expect(readText(event, 'message')).toContain(outside.macAddress);
  });

  it.runIf(has('wakeonlan'))(`starts the machine once, whatever its run strategy allows ${needs('wakeonlan')}`, async () => {
    const [halted, manual] = [await machine('Halted'), await machine('Manual')];
    for (const sleeping of [halted, manual]) {
      await wake(sleeping, byDatagram);
      await kubevirt.untilStatus(sleeping.key, 'Running');
      expect(kubevirt.startsOf(sleeping.key)).toMatchObject([{ answered: 202 }]);
    }
  });

  it.runIf(has('wakeonlan'))(`starts nothing in a namespace that no WolConfig names ${needs('wakeonlan')}`, async () => {
    const [hidden, sleeping] = [await machine('Manual', 'private'), await machine('Manual')];
    await byDatagram(hidden.mac);
    await wake(sleeping, byDatagram);
    await kubevirt.untilStatus(sleeping.key, 'Running');
    expect(kubevirt.startsOf(hidden.key)).toEqual([]);
  });

  it.runIf(has('wakeonlan'))(
    `while there is no controller, starts the machine once when there is one ${needs('wakeonlan')}`,
    async () => {
      const sleeping = await machine('Manual');
      await listed();
      await controller.process.stop();
      await byDatagram(sleeping.mac);
      controller = await startController();
      await kubevirt.untilStatus(sleeping.key, 'Running');
      await waitFor('three reports', async () => (await metric('wol_packets_total')) >= 3);
      expect(kubevirt.startsOf(sleeping.key)).toMatchObject([{ answered: 202 }]);
    },
  );

  it.runIf(has('etherwake'))(
    `after the authority of the certificates was replaced, without a restart ${needs('etherwake')}`,
    async () => {
      const sleeping = await machine('Manual');
      const processes = agents().map(({ process }) => process?.pid);
      const { uid: before } = (await cluster.access.get('Secret', AUTHORITY))?.metadata ?? {};
      await cluster.access.delete('Secret', AUTHORITY);
      await cluster.access.waitForObject('Secret', AUTHORITY, ({ metadata }) => metadata.uid !== before);
      await wake(sleeping, byFrame);
      await kubevirt.untilStatus(sleeping.key, 'Running');
      expect(kubevirt.acceptedStartsOf(sleeping.key)).toBe(1);
      expect(agents().map(({ process }) => process?.pid)).toEqual(processes);
    },
  );
});

describe('two controllers', () => {
  it.runIf(has('etherwake'))(
    `start the machine once if the leader is killed between the reports ${needs('etherwake')}`,
    async () => {
      const host = await lab.createMachine('manager-2', {
        network: MANAGEMENT_NETWORK,
        macAddress: '02:00:00:99:ff:02',
        address: `${OTHER_ADDRESS}/16`,
        interfaces: new Map(),
      });
      const leader = await runController(host, OTHER_ADDRESS);
      await controller.process.stop();
      await leads(leader);
      controller = await startController();
      const sleeping = await machine('Manual');
      await listed();
      // The request stays in the VirtualMachine, as in a cluster whose virt-controller is slow.
      const unblock = kubevirt.block(sleeping.key, 'request');
      const [, ...late] = agents();
      for (const { process } of late) process?.kill('SIGSTOP');
      await byFrame(sleeping.mac);
      await waitFor('the first start', () => kubevirt.acceptedStartsOf(sleeping.key) === 1);
      leader.process.kill('SIGKILL');
      await leads(controller);
      for (const { process } of late) process?.kill('SIGCONT');
      await waitFor('two reports', async () => (await metric('wol_packets_total')) >= 2);
      unblock();
      await kubevirt.untilStatus(sleeping.key, 'Running');
      expect(kubevirt.startsOf(sleeping.key)).toMatchObject([{ answered: 202 }]);
    },
  );
});

/** A machine every two seconds. */
async function wakeForPictures(prometheus: Prometheus): Promise<void> {
  for (let machines = 1; machines <= 10; machines++) {
    await wake(await machine('Manual'), machines % 2 === 0 ? byDatagram : byFrame);
    await waitFor('scrapes', async () => (await prometheus.query(`max(count_over_time(up[1h])) >= ${machines * 5}`)).length > 0);
  }
}

describe.skipIf(!has('prometheus', 'wakeonlan'))(`Prometheus ${needs('prometheus', 'wakeonlan')}`, () => {
  it('has data for every query of the dashboard after machines were woken, and fires its alert when KubeVirt refuses to start one', async () => {
    const wakes = DASHBOARDS.filter(({ name }) => name === 'wake-on-lan').flatMap((dashboard) => queriesToTry(dashboard));
    expect(wakes.length).toBeGreaterThan(0);
    const urls = agents().map(({ node }) => `http://${node.address}:${AGENT_PORT}`);
    const prometheus = await Prometheus.start(lab, {
      rules: formatRules(ALERTS, { runbooks: '', for: '0s' }),
      targets: { controller: [controller.url], agents: urls },
    });
    await waitFor('two scrapes', async () => (await prometheus.query('min(count_over_time(up[1m])) > 1')).length > 0);
    // The next one is counted between two scrapes.
    await wake(await machine('Manual'), byDatagram);
    if (isDrawing) await wakeForPictures(prometheus);
    await prometheus.haveData(wakes);
    for (const dashboard of DASHBOARDS.filter(({ name }) => name === 'wake-on-lan')) await drawPicture(prometheus, dashboard);
    const alerts = new FiringAlerts(prometheus);
    const refused = await machine('Manual');
    const endRefusal = kubevirt.refuse({ key: refused.key, answer: { code: 403, reason: 'Forbidden', message: 'not here' } });
    await wake(refused, byDatagram);
    await alerts.fires('VmdhcpWakeUpsFail');
    endRefusal();
    expect(alerts.fired).toEqual(alertsNamedIn(readFileSync(import.meta.filename, 'utf8')));
  });
});

describe('a WolConfig that is deleted', () => {
  it.runIf(has('wakeonlan'))(`takes its agents with it; its machines stay asleep ${needs('wakeonlan')}`, async () => {
    const sleeping = await machine('Manual');
    await listed();
    await cluster.access.delete('WolConfig', 'office');
    await waitFor('the agents to end', () => agents().length === 0);
    expect(await cluster.access.list('DaemonSet')).toEqual([]);
    await byDatagram(sleeping.mac);
    await waitFor('no machine to be managed', async () => (await metric('wol_managed_vms')) === 0);
    expect(kubevirt.startsOf(sleeping.key)).toEqual([]);
  });
});
