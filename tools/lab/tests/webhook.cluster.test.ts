/**
 * The webhook in front of an API server: what it refuses and fills in, and what goes on without it. Always against a simulated API server,
 * whatever KUBECONFIG names: the registration would concern the whole cluster.
 */
import { ipPoolResource, toCustomResourceDefinition, virtualMachineNetworkConfigResource } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ClusterAccess,
  freePort,
  ipPool,
  type LabProcess,
  networkAttachment,
  PrivateCluster,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const NAMESPACE = 'harvester-system';
const NAME = 'vm-dhcp-webhook';
const REGISTRATION = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;
const MUTATING = { ...REGISTRATION, plural: 'mutatingwebhookconfigurations' };
const VALIDATING = { ...REGISTRATION, plural: 'validatingwebhookconfigurations' };
const SECRETS = { group: '', version: 'v1', plural: 'secrets', namespaced: true };

let cluster: PrivateCluster;
let admin: ClusterAccess;
let webhook: LabProcess;

beforeEach(async () => {
  const port = await freePort();
  const services = { [`${NAMESPACE}/${NAME}`]: { host: '127.0.0.1', port } };
  cluster = await PrivateCluster.start(['namespace.yaml', 'crds.yaml', 'webhook.yaml'], { services });
  admin = cluster.admin;
  for (const one of [ipPoolResource, virtualMachineNetworkConfigResource])
    await admin.create(toCustomResourceDefinition(one) as unknown as KubernetesObject);
  await admin.create(networkAttachment('default/net'));
  webhook = await cluster.startWebhook('--listen', `127.0.0.1:${port}`, '--service-cidr', '10.53.0.0/16');
  for (const resource of [MUTATING, VALIDATING])
    await waitFor('the registration', async () => (await of(resource).get(NAME)) !== undefined);
});

afterEach(() => cluster.close());

const of = (resource: typeof MUTATING | typeof SECRETS) => new ApiObjectClient<KubernetesObject>(admin.connection, resource);

function withConfig(key: string, config: Readonly<Record<string, unknown>>): KubernetesObject {
  const pool = ipPool(key);
  return { ...pool, spec: { ...(pool.spec as object), ipv4Config: config } } as KubernetesObject;
}

async function remove(resource: typeof MUTATING | typeof SECRETS, key: string): Promise<void> {
  await of(resource).delete(key, (await of(resource).get(key))?.metadata.uid ?? '');
}

async function trusted(): Promise<unknown> {
  const bundle = readText(readList(await of(VALIDATING).get(NAME), 'webhooks')[0], 'clientConfig', 'caBundle') ?? '';
  return Buffer.from(bundle, 'base64').toString();
}

describe('a cluster with the webhook', () => {
  it('fills in what an IPPool leaves out, refuses one that is wrong with the remedy, in a dry run too', async () => {
    await expect(admin.create(withConfig('default/net', { cidr: '10.53.7.0/24' }))).rejects.toThrow(/10\.53\.0\.0\/16/);
    const path = '/apis/network.harvesterhci.io/v1alpha1/namespaces/default/ippools?dryRun=All';
    const dry = admin.connection.request({ method: 'POST', path, body: withConfig('default/net', { cidr: '10.53.7.0/24' }) });
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

  it('registration and Secrets that people delete come back, and the API server trusts what is served', {
    timeout: 60_000,
  }, async () => {
    const before = await trusted();
    await remove(VALIDATING, NAME);
    await waitFor('the registration', async () => (await of(VALIDATING).get(NAME)) !== undefined, 20_000);
    expect(await trusted()).toBe(before);
    await remove(SECRETS, `${NAMESPACE}/${NAME}-ca`);
    await waitFor('another authority', async () => (await trusted()) !== before, 20_000);
    await expect(admin.create(withConfig('default/net', { cidr: '10.53.7.0/24' }))).rejects.toThrow(/10\.53\.0\.0\/16/);
  });

  it('without it virtual machines are created, and IPPools are refused with the name of the webhook', async () => {
    await webhook.stop();
    await admin.create(virtualMachine('default/vm', '02:00:00:00:00:01', 'default/net'));
    await expect(admin.create(ipPool('default/net'))).rejects.toThrow(
      'failed calling webhook "defaults.ippools.network.harvesterhci.io"',
    );
  });
});
