/** One magic packet that ten nodes receive: ten real agents report it to one controller, and KubeVirt gets one request. */
import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AGENT_BIN,
  API_HOST,
  CONTROLLER_BIN,
  freePort,
  has,
  KubeVirt,
  Lab,
  LabCluster,
  type LabProcess,
  type Machine,
  needs,
  startInPod,
  waitFor,
} from '../src/index.js';

const NAMESPACE = 'vm-dhcp-system';
const NODES = Array.from({ length: 10 }, (_, index) => `node-${index + 1}`);
const MACHINE = 'default/vm-1';
const MAC_ADDRESS = '02:00:5e:00:10:01';
/** What the container of an agent may do, and no more. */
const RIGHTS = ['--bounding-set=-all,+net_raw,+net_bind_service', '--inh-caps=-all'];
/** Ten agents start at once. */
const START_MS = 60_000;

let lab: Lab;
let cluster: LabCluster;
let kubevirt: KubeVirt;
let outside: Machine;
let controller: { readonly process: LabProcess; readonly url: string };

beforeAll(async () => {
  lab = new Lab();
  lab.addNetwork('br-lan');
  outside = lab.addMachine('outside', { network: 'br-lan', macAddress: '02:00:00:00:77:01' });
  cluster = await LabCluster.start(lab, {
    networks: {},
    nodes: NODES,
    nodeCards: { eth1: 'br-lan' },
    hosts: { [`vmdhcp-wake-on-lan.${NAMESPACE}.svc`]: API_HOST },
    startContainer: (container) => startInPod(container, ['setpriv', ...RIGHTS, process.execPath, AGENT_BIN, ...container.args]),
  });
  kubevirt = await KubeVirt.start(cluster.simulator);
  controller = await startController();
  await addMachine();
  await addConfig();
}, 2 * START_MS);

afterAll(async () => {
  await controller?.process.stop();
  await kubevirt?.stop();
  await cluster?.stop();
  await lab?.dispose();
});

async function startController() {
  const http = `${API_HOST}:${await freePort()}`;
  const flags = ['--kubeconfig', cluster.kubeconfigPath, '--no-agent', '--image', 'vmdhcp-agent:lab', '--namespace', NAMESPACE];
  const started = lab.start(process.execPath, [CONTROLLER_BIN, 'run', ...flags, '--http', http, '--wake-on-lan'], {
    env: { POD_IP: API_HOST, POD_NAMESPACE: NAMESPACE },
  });
  await started.line('deciding about wake-ups', START_MS);
  return { process: started, url: `http://${http}` };
}

async function addMachine(): Promise<void> {
  const devices = { interfaces: [{ name: 'default', macAddress: MAC_ADDRESS, bridge: {} }] };
  await cluster.access.create({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace: 'default', name: 'vm-1' },
    spec: {
      runStrategy: 'Manual',
      template: { spec: { domain: { devices }, networks: [{ name: 'default', pod: {} }] } },
    },
  } as KubernetesObject);
  await kubevirt.untilStatus(MACHINE, 'Stopped');
}

/** Resolves when ten agents have the machine in their list. */
async function addConfig(): Promise<void> {
  await cluster.access.create({
    apiVersion: 'wol.pillon.org/v1beta1',
    kind: 'WolConfig',
    metadata: { name: 'office' },
    spec: { discoveryMode: 'All', wolPorts: [9] },
  } as KubernetesObject);
  await waitFor(
    'ten agents that are ready',
    async () =>
      readField((await cluster.access.get('WolConfig', 'office'))?.status, 'agentStatus', 'numberReady') === NODES.length,
    START_MS,
  );
  await waitFor('ten lists with the machine', async () => {
    const listed = [...cluster.nodePods.values()].map(({ node }) =>
      numberAt(`http://${node.address}:18420`, 'vmdhcp_agent_wol_listed'),
    );
    return (await Promise.all(listed)).every((length) => length === 1);
  });
}

/** A metric without labels. */
async function numberAt(url: string, name: string): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text();
  const line = page.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ')[1] ?? Number.NaN);
}

async function send(): Promise<void> {
  const { code } = await outside.start('etherwake', ['-b', '-i', 'eth0', MAC_ADDRESS]).ended();
  expect(code).toBe(0);
}

describe('a magic packet that ten nodes receive', () => {
  it.runIf(has('etherwake'))(`is reported ten times, and starts the machine once ${needs('etherwake')}`, async () => {
    await send();
    await waitFor('ten reports', async () => (await numberAt(controller.url, 'wol_packets_total')) === NODES.length);
    await kubevirt.untilStatus(MACHINE, 'Running');
    expect(kubevirt.startsOf(MACHINE)).toMatchObject([{ answered: 202 }]);
    await waitFor('one start to be counted', async () => (await numberAt(controller.url, 'wol_vm_started_total')) === 1);
  });
});
