/** The status server of agents in a cluster: there for the kubelet, and not for the networks that are served. */
import { connect, type Socket } from 'node:net';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { agentInterfaceName } from '@vmdhcp/reconciler';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AGENT_NAMESPACE,
  ipPool,
  Lab,
  LabCluster,
  type LabPod,
  type Machine,
  networkAttachment,
  reach,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const GROUP = 'vm-dhcp-agent-mgmt-1';
const POOL = 'default/net-48';
const MAC = '02:00:5e:00:48:01';
const MOST_CONNECTIONS = 64;

let lab: Lab;
let cluster: LabCluster;
const idle: Socket[] = [];

beforeEach(async () => {
  lab = new Lab();
  lab.addNetwork('br48');
  cluster = await LabCluster.start(lab, { networks: { 'default/vlan-48': 'br48' } });
});

afterEach(async () => {
  for (const socket of idle.splice(0)) socket.destroy();
  await cluster.stop();
  await lab.dispose();
});

async function serve(...parameters: readonly string[]): Promise<LabPod> {
  await cluster.startController(...parameters);
  await cluster.access.create(networkAttachment('default/vlan-48', 'mgmt'));
  const ipv4Config = {
    cidr: '192.168.48.0/24',
    serverIP: '192.168.48.2',
    pool: { start: '192.168.48.10', end: '192.168.48.99' },
  };
  await cluster.access.create(ipPool('default/net-48', { network: 'default/vlan-48', ipv4Config }));
  await cluster.access.create(virtualMachine('default/web', MAC, 'default/vlan-48'));
  await cluster.agentReady(POOL);
  await cluster.rolledOut(GROUP);
  return waitFor('a leader', async () => {
    const pod = await cluster.leader(GROUP);
    return pod !== undefined && cluster.holders(POOL).includes(pod) ? pod : undefined;
  });
}

/** A machine on the network that sends everything to the server address. */
function attachVm(): Machine {
  const machine = lab.addMachine('vm', { network: 'br48', macAddress: '02:00:5e:00:48:77' });
  machine.ip('address', 'add', '192.168.48.77/24', 'dev', 'eth0');
  machine.ip('route', 'add', 'default', 'via', '192.168.48.2');
  return machine;
}

async function leases(pod: LabPod): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${pod.url}/leases`);
  return { status: response.status, text: await response.text() };
}

describe('the status server of an agent', () => {
  it('listens on the interface of the pod: a virtual machine gets no connection, even if routing rules are gone', async () => {
    const pod = await serve();
    const machine = attachVm();
    expect((await fetch(`${pod.url}/healthz`)).status).toBe(200);
    for (const address of [pod.address, '192.168.48.2']) expect(await reach(machine, address, 8080)).not.toBe('open');
    // Nothing but the socket is left to keep it out; the agent looks at its rules once a second.
    const name = agentInterfaceName(POOL);
    pod.machine.ip('route', 'add', '192.168.48.0/24', 'dev', name);
    const deleting = pod.machine.start('sh', [
      '-c',
      `while :; do ip rule delete iif ${name} blackhole 2>/dev/null || sleep 0.01; done`,
    ]);
    const reached = await waitFor('a moment without the rule', async () => {
      const found = await reach(machine, pod.address, 8080);
      return found === 'silent' ? undefined : found;
    });
    await deleting.stop();
    expect(reached).toBe('refused');
  });

  it('connections that are held open do not block probes, and are closed', async () => {
    const pod = await serve();
    let closed = 0;
    for (let count = 0; count < MOST_CONNECTIONS; count++) {
      const socket = connect(8080, pod.address);
      idle.push(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => closed++)
        .resume();
      await new Promise((resolve) => socket.once('connect', resolve).once('error', resolve));
    }
    const headers = { connection: 'close' };
    const response = await fetch(`${pod.url}/healthz`, { headers });
    expect(response.status).toBe(200);
    await waitFor('all of them to be closed', () => closed === MOST_CONNECTIONS);
  });

  it('shows no leases by default', async () => {
    const pod = await serve();
    expect((await leases(pod)).status).toBe(404);
  });

  it('shows leases with --enable-cache-dump-api, and their owners where it may read them', async () => {
    const pod = await serve('--enable-cache-dump-api');
    const lease = { pool: POOL, macAddress: MAC, address: '192.168.48.10' };
    await waitFor('the lease', async () => (await leases(pod)).text.includes(MAC));
    expect(JSON.parse((await leases(pod)).text)).toMatchObject([lease]);
    expect((await leases(pod)).text).not.toContain('owner');
    await pod.process?.line('the ServiceAccount of the agent needs get, list and watch on them');
    for (const object of allowReading()) await cluster.access.create(object);
    await waitFor('the owner', async () => (await leases(pod)).text.includes('"owner":"default/web"'));
    expect(pod.process?.lines.filter((line) => line.includes('shows no owners'))).toHaveLength(1);
  });
});

/** Lets agents read VirtualMachineNetworkConfigs. */
function allowReading(): KubernetesObject[] {
  const metadata = { name: 'agents-read-network-configs' };
  const rules = [
    { apiGroups: ['network.harvesterhci.io'], resources: ['virtualmachinenetworkconfigs'], verbs: ['get', 'list', 'watch'] },
  ];
  const apiGroup = 'rbac.authorization.k8s.io';
  const roleRef = { apiGroup, kind: 'ClusterRole', name: metadata.name };
  const subjects = [{ kind: 'Group', apiGroup, name: `system:serviceaccounts:${AGENT_NAMESPACE}` }];
  const apiVersion = `${apiGroup}/v1`;
  const role = { apiVersion, kind: 'ClusterRole', metadata, rules };
  return [role, { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects } as KubernetesObject];
}
