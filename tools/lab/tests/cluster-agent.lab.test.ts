/** A ClusterAgent from end to end: the controller starts its agent with rights of its own, a real client gets an address, and its host appears. */
import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { acquire, has, installedForBareMetal, Lab, LabCluster, needs, networkAttachment, waitFor } from '../src/index.js';

const SELF = '192.168.50.2/24';
let lab: Lab;
let cluster: LabCluster;

beforeEach(async () => {
  lab = new Lab();
  lab.addNetwork('br-bmc');
  cluster = await LabCluster.start(lab, { networks: { 'default/bmc': 'br-bmc' }, isInstalled: false });
  await cluster.access.applyAll(installedForBareMetal());
});

afterEach(async () => {
  await cluster.stop();
  await lab.dispose();
});

function clientOf(plural: string): ApiObjectClient<KubernetesObject> {
  const resource = { group: 'bmc.spidernet.io', version: 'v1beta1', plural, namespaced: false };
  return new ApiObjectClient(cluster.access.connection, resource);
}

it.skipIf(!has('udhcpc'))(
  `its agent is deployed, ready, and serves with the rights that the controller grants ${needs('udhcpc')}`,
  async () => {
    await cluster.startController('--bare-metal');
    await cluster.access.create(networkAttachment('default/bmc', 'mgmt'));
    const agents = clientOf('clusteragents');
    const dhcpServerConfig = {
      ...{ dhcpServerInterface: 'net1', subnet: '192.168.50.0/24', ipRange: '192.168.50.10-192.168.50.19' },
      ...{ gateway: '192.168.50.1', selfIp: SELF },
    };
    const spec = { agentYaml: { underlayInterface: 'default/bmc' }, feature: { dhcpServerConfig } };
    const object = { apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'ClusterAgent', metadata: { name: 'rack' }, spec };
    expect(await agents.create(object as KubernetesObject)).toMatchObject({ ok: true });
    await waitFor(
      'an agent that is ready',
      async () => cluster.pods.size > 0 && readField(await agents.get('rack'), 'status', 'ready') === true,
    );
    await waitFor('selfIp', () => [...cluster.pods.values()].some(({ machine }) => machine.addresses('net1').includes(SELF)));
    const machine = lab.addMachine('host-1', { network: 'br-bmc', macAddress: '02:00:00:00:50:01' });
    expect(await acquire('udhcpc', machine)).toMatchObject({ address: '192.168.50.10' });
    await waitFor(
      'its HostStatus',
      async () =>
        readField(await clientOf('hoststatuses').get('rack-192-168-50-10'), 'status', 'basic', 'mac') === machine.macAddress,
    );
    await waitFor('the usage', async () => readField(await agents.get('rack'), 'status', 'addresses', 'used') === 1);
  },
);
