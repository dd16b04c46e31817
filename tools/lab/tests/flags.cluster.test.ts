/** What flags of the programs change in a cluster. Always against a simulated API server, whatever KUBECONFIG names: the programs act on a whole cluster. */
import { toCustomResourceDefinition, wolConfigResource } from '@vmdhcp/ippool-api';
import { bareMetalResources } from '@vmdhcp/ippool-api/bare-metal';
import { type KubernetesObject, readConditions, readField } from '@vmdhcp/kube-runtime';
import { ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AGENT_BIN,
  CONTROLLER_BIN,
  ipPool,
  LabProcess,
  networkAttachment,
  PrivateCluster,
  virtualMachineWith,
  waitFor,
} from '../src/index.js';

const AGENTS = ['--namespace', 'vm-dhcp-agents', '--image', 'agent:v1'];
const GROUP = 'vm-dhcp-agents/vm-dhcp-agent-mgmt-1';

let cluster: PrivateCluster;

beforeEach(async () => {
  cluster = await PrivateCluster.start(['everything', 'crds.yaml'], {
    nodes: [{ name: 'node-1', labels: { 'network.harvesterhci.io/mgmt': 'true' } }],
  });
});

afterEach(() => cluster.close());

/** Resolves when the virtual machine `default/web` of the examples has its address. */
async function addressAssigned(): Promise<void> {
  await cluster.apply('pools.yaml', 'virtual-machines.yaml');
  await cluster.admin.waitForObject('VirtualMachineNetworkConfig', 'default/web', ({ status }) =>
    readConditions(status).some(({ type, status: is }) => type === 'Allocated' && is === 'True'),
  );
}

async function auditRecords(): Promise<number> {
  const all = await cluster.admin.list('ConfigMap');
  return all.filter(({ metadata }) => metadata.labels?.['network.harvesterhci.io/audit'] === 'true').length;
}

describe('vmdhcp-controller run', () => {
  it('--image-pull-policy, --image-pull-secret, --agent-log-packets and --agent-log-level reach the agents', async () => {
    const pull = ['--image-pull-policy', 'Always', '--image-pull-secret', 'one', '--image-pull-secret', 'two'];
    await cluster.startController(...AGENTS, ...pull, '--agent-log-packets', '--agent-log-level', 'debug');
    await cluster.apply('pools.yaml');
    const { spec } = await cluster.admin.waitForObject('Deployment', GROUP, () => true);
    expect(readField(spec, 'template', 'spec')).toMatchObject({
      imagePullSecrets: [{ name: 'one' }, { name: 'two' }],
      containers: [{ image: 'agent:v1', imagePullPolicy: 'Always' }],
    });
    const { metadata } = await cluster.admin.waitForObject('Lease', GROUP, () => true);
    const log = metadata.annotations?.['network.harvesterhci.io/agent-log'];
    expect(JSON.parse(log ?? 'null')).toEqual({ level: 'debug', packets: true });
  });

  it('--no-audit keeps no records of who had which address, and without it a controller does', async () => {
    const without = await cluster.startController(...AGENTS, '--no-audit');
    await addressAssigned();
    await without.stop();
    expect(await auditRecords()).toBe(0);
    await cluster.startController(...AGENTS);
    await waitFor('records', async () => (await auditRecords()) > 0);
  });

  it('--only-namespace gives addresses in that namespace only', async () => {
    const name = 'tenant';
    await cluster.admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await cluster.startController('--no-agent', '--no-leader-election', '--only-namespace', name);
    for (const namespace of ['default', name]) {
      await cluster.admin.create(networkAttachment(`${namespace}/net`));
      await cluster.admin.create(ipPool(`${namespace}/pool`, { network: `${namespace}/net` }));
      const nic = { name: 'nic', macAddress: '02:00:00:00:00:01', network: `${namespace}/net` };
      await cluster.admin.create(virtualMachineWith(`${namespace}/vm`, [nic]));
    }
    await cluster.admin.waitForObject('VirtualMachineNetworkConfig', `${name}/vm`, ({ status }) => status !== undefined);
    expect((await cluster.admin.list('VirtualMachineNetworkConfig')).map(({ metadata }) => metadata.namespace)).toEqual([name]);
  });

  it('--name is in each line of the log', async () => {
    const controller = await cluster.startController('--no-agent', '--name', 'tried');
    await controller.stop();
    expect(controller.lines.length).toBeGreaterThan(0);
    for (const line of controller.lines) expect(JSON.parse(line)).toMatchObject({ name: 'tried' });
  });
});

describe('vmdhcp-agent', () => {
  it('unbind binds the address of a host to no client, and with --by-switch it leaves that to the ClusterAgent', async () => {
    const crds = new LabProcess(process.execPath, [
      CONTROLLER_BIN,
      'crds',
      '--apply',
      '--bare-metal',
      '--kubeconfig',
      cluster.adminKubeconfig,
    ]);
    expect((await crds.ended()).code, crds.lines.join('\n')).toBe(0);
    const name = 'rack-192-168-48-10';
    const resource = { group: 'bmc.spidernet.io', version: 'v1beta1', plural: 'hoststatuses', namespaced: false };
    const hosts = new ApiObjectClient<KubernetesObject>(cluster.admin.connection, resource);
    const created = await hosts.create({ apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'HostStatus', metadata: { name } });
    expect(created).toMatchObject({ ok: true });
    const boundTo = async (...flags: readonly string[]) => {
      const words = ['unbind', '192.168.48.10', '--kubeconfig', cluster.adminKubeconfig, ...flags];
      const unbind = new LabProcess(process.execPath, [AGENT_BIN, ...words]);
      expect((await unbind.ended()).code, unbind.lines.join('\n')).toBe(0);
      return (await hosts.get(name))?.metadata.annotations?.['bmc.spidernet.io/bound-to'];
    };
    expect(await boundTo()).toBe('none');
    expect(await boundTo('--by-switch')).toBeUndefined();
  });
});

describe('vmdhcp-controller webhook', () => {
  it.each([
    ['refuse', 'rejects'],
    ['warn', 'resolves'],
  ] as const)(
    '--virtual-machines %s: a virtual machine that asks for an impossible address is created or not',
    async (outcome, end) => {
      await cluster.startController('--no-agent');
      await cluster.apply('pools.yaml');
      await cluster.startWebhook('--virtual-machines', outcome);
      const nic = { name: 'nic', macAddress: '02:00:00:00:00:01', network: 'default/vlan-48' };
      const impossible = virtualMachineWith('default/vm', [nic], { 'static-ip.harvesterhci.io/nic': '10.0.0.1' });
      if (end === 'rejects') await expect(cluster.admin.create(impossible)).rejects.toThrow(/10\.0\.0\.1/);
      else await cluster.admin.create(impossible);
      expect((await cluster.admin.get('VirtualMachine', 'default/vm')) === undefined).toBe(end === 'rejects');
    },
  );

  describe('of the kinds of Wake-on-LAN and of bare-metal hosts', () => {
    const WAKE = { apiVersion: 'wol.pillon.org/v1beta1', kind: 'WolConfig', metadata: { name: 'office' } };
    const HOST = { apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'HostEndpoint', metadata: { name: 'office' } };
    const wolConfig = (spec: object) => ({ ...WAKE, spec }) as unknown as KubernetesObject;
    const endpoint = (spec: object) => ({ ...HOST, spec }) as unknown as KubernetesObject;

    beforeEach(async () => {
      await cluster.defineKinds();
      const definitions = [wolConfigResource, ...bareMetalResources].map(toCustomResourceDefinition);
      await cluster.admin.applyAll(definitions as unknown as readonly KubernetesObject[]);
    });

    it.each<[flag: string, wrong: KubernetesObject, other: KubernetesObject]>([
      ['--wake-on-lan', wolConfig({ agent: { image: '<registry>/agent:v1' } }), endpoint({ ipAddr: '127.0.0.1' })],
      ['--bare-metal', endpoint({ ipAddr: '127.0.0.1' }), wolConfig({ agent: { image: '<registry>/agent:v1' } })],
    ])('%s refuses what is wrong with its kinds, and no others', async (flag, wrong, other) => {
      const webhook = await cluster.startWebhook(flag);
      await expect(cluster.admin.create(wrong)).rejects.toThrow(
        /is not an image|is never the address of a management controller/,
      );
      await cluster.admin.create(other);
      expect(await webhook.decisions(flag === '--bare-metal' ? 'hostendpoints' : 'wolconfigs')).toBe(1);
    });

    it('both are asked about changes of the spec, not about labels and status', async () => {
      const webhook = await cluster.startWebhook('--wake-on-lan', '--bare-metal');
      await cluster.admin.create(wolConfig({ discoveryMode: 'All' }));
      await cluster.admin.patch('WolConfig', 'office', { metadata: { labels: { a: 'b' } } });
      expect(await webhook.decisions('wolconfigs')).toBe(1);
      await cluster.admin.patch('WolConfig', 'office', { spec: { wolPorts: [7] } });
      expect(await webhook.decisions('wolconfigs')).toBe(2);
    });
  });
});
