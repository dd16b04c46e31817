/** Two WolConfigs on one node, of which one demands a password: packets on the wire, their agents, the controller, and a stand-in for KubeVirt. */
import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
const NODE = 'node-1';
const VM = 'default/vm-1';
const MAC = '02:00:5e:00:10:01';
const PASSWORD = '00:22:44:66:88:aa';
/** Ports of the agents of the older WolConfig, and of the younger one. */
const [SECURED, OPEN] = [18_420, 18_421];

let lab: Lab;
let cluster: LabCluster;
let kubevirt: KubeVirt;
let outside: Machine;
let controller: LabProcess;

beforeAll(async () => {
  lab = new Lab();
  lab.addNetwork('br-lan');
  outside = lab.addMachine('outside', { network: 'br-lan', macAddress: '02:00:00:00:77:01' });
  cluster = await LabCluster.start(lab, {
    networks: {},
    nodes: [NODE],
    nodeCards: { eth1: 'br-lan' },
    hosts: { [`vmdhcp-wake-on-lan.${NAMESPACE}.svc`]: API_HOST },
    startContainer: (container) => startInPod(container, [process.execPath, AGENT_BIN, ...container.args]),
  });
  kubevirt = await KubeVirt.start(cluster.simulator);
  const flags = ['--kubeconfig', cluster.kubeconfigPath, '--no-agent', '--image', 'vmdhcp-agent:lab', '--namespace', NAMESPACE];
  const http = `${API_HOST}:${await freePort()}`;
  controller = lab.start(process.execPath, [CONTROLLER_BIN, 'run', ...flags, '--http', http, '--wake-on-lan'], {
    env: { POD_IP: API_HOST, POD_NAMESPACE: NAMESPACE },
  });
  await controller.line('deciding about wake-ups');
  const devices = { interfaces: [{ name: 'default', macAddress: MAC, bridge: {} }] };
  const template = { spec: { domain: { devices }, networks: [{ name: 'default', pod: {} }] } };
  await create('kubevirt.io/v1', 'VirtualMachine', {
    metadata: { namespace: 'default', name: 'vm-1' },
    spec: { runStrategy: 'Manual', template },
  });
  await create('v1', 'Secret', {
    metadata: { namespace: NAMESPACE, name: 'office' },
    data: { password: Buffer.from(PASSWORD).toString('base64') },
  });
  await kubevirt.untilStatus(VM, 'Stopped');
});

afterAll(async () => {
  await controller?.stop();
  await kubevirt?.stop();
  await cluster?.stop();
  await lab?.dispose();
});

function create(apiVersion: string, kind: string, object: object): Promise<unknown> {
  return cluster.access.create({ apiVersion, kind, ...object } as KubernetesObject);
}

async function startAgents(name: string, spec: object): Promise<void> {
  await create('wol.pillon.org/v1beta1', 'WolConfig', { metadata: { name }, spec });
  await waitFor(
    `agents of ${name}`,
    async () => readField((await cluster.access.get('WolConfig', name))?.status, 'agentStatus', 'numberReady') === 1,
    60_000,
  );
}

/** Packets that the agent at this port has counted with this outcome. */
async function counted(port: number, outcome: string): Promise<number> {
  const page = await (await fetch(`http://${cluster.nodes.get(NODE)?.address}:${port}/metrics`)).text();
  const [, count] = new RegExp(`^vmdhcp_agent_wol_packets_total\\{outcome="${outcome}"\\} (\\d+)`, 'm').exec(page) ?? [];
  return Number(count ?? 0);
}

it.runIf(has('etherwake'))(
  `a machine that only a WolConfig with a password allows is started with it only, whichever agents hear the packet ${needs('etherwake')}`,
  async () => {
    const explicitMappings = [{ macAddress: MAC, namespace: 'default', vmName: 'vm-1' }];
    const passwordSecret = { name: 'office', key: 'password' };
    await startAgents('secured', { discoveryMode: 'Explicit', explicitMappings, wolPorts: [9], passwordSecret });
    await startAgents('open', { namespaceSelectors: ['somewhere-else'], wolPorts: [7] });

    await outside.start('etherwake', ['-b', '-i', 'eth0', MAC]).ended();
    await waitFor(
      'both agents have heard it',
      async () => (await counted(SECURED, 'wrong-password')) > 0 && (await counted(OPEN, 'not-in-list')) > 0,
    );
    expect(kubevirt.startsOf(VM)).toEqual([]);

    await outside.start('etherwake', ['-b', '-i', 'eth0', '-p', PASSWORD, MAC]).ended();
    await kubevirt.untilStatus(VM, 'Running');
    expect(kubevirt.startsOf(VM)).toHaveLength(1);
    expect([await counted(SECURED, 'wake-up'), await counted(OPEN, 'wake-up')]).toEqual([1, 0]);
  },
);
