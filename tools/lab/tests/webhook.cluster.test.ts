/**
 * The webhook in front of an API server: what it refuses and fills in, and what goes on without it. Always against a simulated API server,
 * whatever KUBECONFIG names: the registration would concern the whole cluster.
 */
import { ipPoolResource, toCustomResourceDefinition, virtualMachineNetworkConfigResource } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AdmissionWebhook,
  type ClusterAccess,
  ipPool,
  networkAttachment,
  PrivateCluster,
  virtualMachine,
  WEBHOOK_NAME,
  WEBHOOK_NAMESPACE,
  waitFor,
} from '../src/index.js';

const VALIDATING = 'ValidatingWebhookConfiguration';

let cluster: PrivateCluster;
let admin: ClusterAccess;
let webhook: AdmissionWebhook;

beforeAll(async () => {
  cluster = await PrivateCluster.start(['crds.yaml']);
  admin = cluster.admin;
  for (const one of [ipPoolResource, virtualMachineNetworkConfigResource])
    await admin.create(toCustomResourceDefinition(one) as unknown as KubernetesObject);
  await admin.create(networkAttachment('default/net'));
  webhook = await cluster.startWebhook('--service-cidr', '10.53.0.0/16');
});

afterAll(() => cluster.close());

function withConfig(key: string, config: Readonly<Record<string, unknown>>): KubernetesObject {
  const pool = ipPool(key);
  return { ...pool, spec: { ...(pool.spec as object), ipv4Config: config } } as KubernetesObject;
}

async function trusted(): Promise<unknown> {
  const bundle = readText(readList(await admin.get(VALIDATING, WEBHOOK_NAME), 'webhooks')[0], 'clientConfig', 'caBundle') ?? '';
  return Buffer.from(bundle, 'base64').toString();
}

const WRONG = withConfig('default/wrong', { cidr: '10.53.7.0/24' });

describe('a cluster with the webhook', () => {
  it('fills in what an IPPool leaves out, refuses one that is wrong with the remedy, in a dry run too', async () => {
    await expect(admin.create(WRONG)).rejects.toThrow(/10\.53\.0\.0\/16/);
    const path = '/apis/network.harvesterhci.io/v1alpha1/namespaces/default/ippools?dryRun=All';
    const dry = admin.connection.request({ method: 'POST', path, body: WRONG });
    await expect(dry).rejects.toThrow(/10\.53\.0\.0\/16/);
    await admin.create(withConfig('default/net', { cidr: '192.168.7.0/24' }));
    const { spec } = (await admin.get('IPPool', 'default/net')) ?? {};
    expect(readField(spec, 'ipv4Config')).toMatchObject({
      serverIP: '192.168.7.1',
      pool: { start: '192.168.7.1', end: '192.168.7.254' },
    });
  });

  it('a network and its pool may come at the same moment', async () => {
    await admin.create(networkAttachment('default/other'));
    await admin.create(ipPool('default/other'));
  });

  it('is asked about virtual machines with a Multus network, when what concerns it changes', async () => {
    const before = await webhook.decisions('virtualmachines');
    const spec = { template: { spec: { domain: { devices: {} }, networks: [{ name: 'default', pod: {} }] } } };
    const metadata = { namespace: 'default', name: 'on-the-pod-network' };
    await admin.create({ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata, ...{ spec } });
    expect(await webhook.decisions('virtualmachines')).toBe(before);
    await admin.create(virtualMachine('default/vm', '02:00:00:00:00:01', 'default/net'));
    expect(await webhook.decisions('virtualmachines')).toBe(before + 1);
    await admin.patch('VirtualMachine', 'default/vm', { metadata: { labels: { a: 'b' } } });
    expect(await webhook.decisions('virtualmachines')).toBe(before + 1);
    await admin.patch('VirtualMachine', 'default/vm', { metadata: { annotations: { a: 'b' } } });
    expect(await webhook.decisions('virtualmachines')).toBe(before + 2);
    await admin.patch('VirtualMachine', 'default/vm', { spec: { runStrategy: 'Halted' } });
    expect(await webhook.decisions('virtualmachines')).toBe(before + 3);
  });

  it('is asked about VirtualMachineNetworkConfigs of people, and not about those of virtual machines', async () => {
    const configOf = (name: string, owners: object) => ({
      apiVersion: 'network.harvesterhci.io/v1alpha1',
      kind: 'VirtualMachineNetworkConfig',
      metadata: { namespace: 'default', name, ...owners },
      spec: { vmName: name, networkConfigs: [{ networkName: 'default/net', macAddress: 'zz' }] },
    });
    const ownerReferences = [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'vm', uid: 'u' }];
    const before = await webhook.decisions('virtualmachinenetworkconfigs');
    await admin.client('VirtualMachineNetworkConfig').create(configOf('of-a-machine', { ownerReferences }));
    expect(await webhook.decisions('virtualmachinenetworkconfigs')).toBe(before);
    await expect(admin.create(configOf('of-a-person', {}))).rejects.toThrow('macAddress');
    expect(await webhook.decisions('virtualmachinenetworkconfigs')).toBe(before + 1);
  });

  it('registration and Secrets that people delete come back, and the API server trusts what is served', {
    timeout: 60_000,
  }, async () => {
    const before = await trusted();
    await admin.delete(VALIDATING, WEBHOOK_NAME);
    await waitFor('the registration', async () => (await admin.get(VALIDATING, WEBHOOK_NAME)) !== undefined, 20_000);
    expect(await trusted()).toBe(before);
    await admin.delete('Secret', `${WEBHOOK_NAMESPACE}/${WEBHOOK_NAME}-ca`);
    await waitFor('another authority', async () => (await trusted()) !== before, 20_000);
    await expect(admin.create(WRONG)).rejects.toThrow(/10\.53\.0\.0\/16/);
  });

  it('without it virtual machines are created, labels and finalizers of IPPools change, and specs are refused with its name', async () => {
    await webhook.kill();
    await admin.create(virtualMachine('default/later', '02:00:00:00:00:02', 'default/net'));
    const metadata = { labels: { team: 'a' }, finalizers: ['example.com/a'] };
    await admin.patch('IPPool', 'default/net', { metadata });
    await admin.patch('IPPool', 'default/net', { metadata: { finalizers: null } });
    const refused = 'failed calling webhook "defaults.ippools.network.harvesterhci.io"';
    await expect(admin.patch('IPPool', 'default/net', { spec: { paused: true } })).rejects.toThrow(refused);
    await expect(admin.create(ipPool('default/new', { network: 'default/net' }))).rejects.toThrow(refused);
  });
});
