/**
 * The webhook in front of an API server: what it refuses and fills in, and what goes on without it. Always against a simulated API server,
 * whatever KUBECONFIG names: the registration would concern the whole cluster.
 */
import { type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AdmissionWebhook,
  type ClusterAccess,
  compareRights,
  has,
  hasDryRun,
  ipPool,
  needs,
  networkAttachment,
  PrivateCluster,
  rightsOf,
  runKubectl,
  serviceAccountToken,
  virtualMachine,
  WEBHOOK_NAME,
  WEBHOOK_NAMESPACE,
  waitFor,
} from '../src/index.js';

const VALIDATING = 'ValidatingWebhookConfiguration';
const AUTHORITY = `${WEBHOOK_NAMESPACE}/${WEBHOOK_NAME}-ca`;
const TLS = `${WEBHOOK_NAMESPACE}/${WEBHOOK_NAME}-tls`;

let cluster: PrivateCluster;
let admin: ClusterAccess;
let webhook: AdmissionWebhook;

beforeAll(async () => {
  cluster = await PrivateCluster.start(['crds.yaml']);
  admin = cluster.admin;
  await cluster.defineKinds();
  await admin.create(networkAttachment('default/net'));
  webhook = await cluster.startWebhook('--service-cidr', '10.53.0.0/16');
});

afterAll(() => cluster.close());

function withConfig(key: string, config: Readonly<Record<string, unknown>>): KubernetesObject {
  const pool = ipPool(key);
  return { ...pool, spec: { ...(pool.spec as object), ipv4Config: config } } as KubernetesObject;
}

function configOf(name: string, { networkConfigs, ownerReferences }: ConfigText): KubernetesObject {
  const metadata = { namespace: 'default', name, ...(ownerReferences && { ownerReferences }) };
  const spec = { vmName: name, networkConfigs };
  const object = { apiVersion: 'network.harvesterhci.io/v1alpha1', kind: 'VirtualMachineNetworkConfig', metadata, spec };
  return object as unknown as KubernetesObject;
}

interface ConfigText {
  readonly networkConfigs: readonly object[];
  readonly ownerReferences?: readonly object[];
}

async function trusted(): Promise<string> {
  const bundle = readText(readList(await admin.get(VALIDATING, WEBHOOK_NAME), 'webhooks')[0], 'clientConfig', 'caBundle') ?? '';
  return Buffer.from(bundle, 'base64').toString();
}

/** Resolves when it has decided so many requests about a resource. */
const decided = (resource: string, count: number) =>
  waitFor(`${count} decisions about ${resource}`, async () => (await webhook.decisions(resource)) === count);

const WRONG = withConfig('default/wrong', { cidr: '10.53.7.0/24' });

const withoutWarnings = (text: string) => text.replaceAll(/^Warning: .*\n/gm, '');

describe('a cluster with the webhook', () => {
  it('fills in defaults of an IPPool, refuses an invalid one with the remedy, in a dry run too', async () => {
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

  describe('kubectl', () => {
    const kubectl = (words: readonly string[], object?: KubernetesObject) =>
      runKubectl({ kubeconfig: cluster.adminKubeconfig, namespace: 'default' }, words, JSON.stringify(object));
    const refusal =
      'The IPPool "wrong" is invalid: \n' +
      '* spec.networkName: there is no NetworkAttachmentDefinition default/wrong; create it, or delete the IPPool and create it again with another spec.networkName\n' +
      '* spec.ipv4Config.cidr: 10.53.7.0/24 overlaps 10.53.0.0/16, the network of the Services of the cluster; choose another cidr: virtual machines could not reach the cluster, and nodes not the virtual machines\n';
    const unwise = withConfig('default/seen', { cidr: '192.168.9.0/24' });
    const warning =
      'Warning: spec.ipv4Config.serverIP: serverIP and router are not set, so the DHCP server has 192.168.9.1; if another host on the network has 192.168.9.1, as the router often has, delete the IPPool and create it again with router or serverIP\n';
    beforeAll(() => admin.apply(networkAttachment('default/seen')));

    it.skipIf(!hasDryRun())(
      'shows refusals and warnings of a dry run, which stores nothing [needs kubectl 1.22 or later]',
      async () => {
        const { code, stderr } = await kubectl(['apply', '--dry-run=server', '-f', '-'], WRONG);
        expect({ code, stderr: withoutWarnings(stderr) }).toEqual({ code: 1, stderr: refusal });
        const dry = await kubectl(['apply', '--dry-run=server', '-f', '-'], unwise);
        expect(dry).toEqual({
          code: 0,
          stdout: 'ippool.network.harvesterhci.io/seen created (server dry run)\n',
          stderr: warning,
        });
        expect(await admin.get('IPPool', 'default/seen')).toBeUndefined();
      },
    );

    it.skipIf(!has('kubectl'))(`shows refusals, also of a deletion, and warnings${needs('kubectl')}`, async () => {
      const { code, stderr } = await kubectl(['apply', '-f', '-'], WRONG);
      expect({ code, stderr: withoutWarnings(stderr) }).toEqual({ code: 1, stderr: refusal });
      const applied = await kubectl(['apply', '-f', '-'], unwise);
      expect(applied).toEqual({ code: 0, stdout: 'ippool.network.harvesterhci.io/seen created\n', stderr: warning });
      const networkConfigs = [{ networkName: 'default/seen', macAddress: '02:00:00:00:00:0a' }];
      await admin.create(configOf('by-hand', { networkConfigs }));
      // Its caches follow the API server a moment later.
      const path = '/apis/network.harvesterhci.io/v1alpha1/namespaces/default/ippools/seen?dryRun=All';
      const tryToDelete = () => admin.connection.request({ method: 'DELETE', path });
      await waitFor('the claim in the cache', () =>
        tryToDelete().then(
          () => false,
          () => true,
        ),
      );
      const kept = await kubectl(['delete', 'ippool', 'seen']);
      expect(kept.code).toBe(1);
      expect(kept.stderr).toMatch(
        /^Error from server \(Forbidden\): admission webhook "ippools\.network\.harvesterhci\.io" denied the request: 1 virtual machine uses the IPPool: default\/by-hand; delete them or detach them from network default\/seen first; .*\n$/,
      );
    });
  });

  it('a network and its pool may be created at the same moment', async () => {
    await admin.create(networkAttachment('default/other'));
    await admin.create(ipPool('default/other'));
  });

  it('reviews virtual machines with a Multus network when a relevant field changes', async () => {
    const before = await webhook.decisions('virtualmachines');
    const spec = { template: { spec: { domain: { devices: {} }, networks: [{ name: 'default', pod: {} }] } } };
    const metadata = { namespace: 'default', name: 'on-the-pod-network' };
    await admin.create({ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata, ...{ spec } });
    await decided('virtualmachines', before);
    await admin.create(virtualMachine('default/vm', '02:00:00:00:00:01', 'default/net'));
    await decided('virtualmachines', before + 1);
    await admin.patch('VirtualMachine', 'default/vm', { metadata: { labels: { a: 'b' } } });
    await decided('virtualmachines', before + 1);
    await admin.patch('VirtualMachine', 'default/vm', { metadata: { annotations: { a: 'b' } } });
    await decided('virtualmachines', before + 2);
    await admin.patch('VirtualMachine', 'default/vm', { spec: { runStrategy: 'Halted' } });
    await decided('virtualmachines', before + 3);
  });

  it('reviews VirtualMachineNetworkConfigs of people, whatever owner they name, but not those that the controller writes', async () => {
    const networkConfigs = [{ networkName: 'default/net', macAddress: 'zz' }];
    const ownerReferences = [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'vm', uid: 'u' }];
    const before = await webhook.decisions('virtualmachinenetworkconfigs');
    const account = { namespace: WEBHOOK_NAMESPACE, name: 'a-controller' };
    await admin.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
    const subjects = [{ kind: 'ServiceAccount', ...account }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'a-controller' },
    };
    await admin.create({ ...binding, ...{ roleRef, subjects } });
    const token = await serviceAccountToken(admin, WEBHOOK_NAMESPACE, 'a-controller');
    const controller = await cluster.open('a-controller', token);
    await controller.create(configOf('of-a-machine', { networkConfigs, ownerReferences }));
    await decided('virtualmachinenetworkconfigs', before);
    await expect(admin.create(configOf('of-a-person', { networkConfigs }))).rejects.toThrow('macAddress');
    await expect(admin.create(configOf('forged', { networkConfigs, ownerReferences }))).rejects.toThrow('macAddress');
    await decided('virtualmachinenetworkconfigs', before + 2);
  });

  it('deleted and edited objects are restored, and earlier certificates stay trusted', async () => {
    const before = await trusted();
    const version = async () => (await admin.get('Secret', TLS))?.metadata.resourceVersion;
    await admin.delete(VALIDATING, WEBHOOK_NAME);
    await admin.patch('MutatingWebhookConfiguration', WEBHOOK_NAME, { webhooks: [] });
    const edited = (await admin.patch('Secret', TLS, { data: { 'tls.crt': 'bm9uZQ==' } })).metadata.resourceVersion;
    await waitFor('the certificate', async () => (await version()) !== edited);
    await waitFor('the registration', async () => (await admin.get(VALIDATING, WEBHOOK_NAME)) !== undefined);
    await expect(admin.create(WRONG)).rejects.toThrow(/10\.53\.0\.0\/16/);
    expect(await trusted()).toBe(before);
    await admin.waitForObject('MutatingWebhookConfiguration', WEBHOOK_NAME, (one) => readList(one, 'webhooks').length === 1);
  });

  it('the key of the authority is lost: the next replica that looks makes another authority, and the old one stays trusted', async () => {
    const before = await trusted();
    await admin.patch('Secret', AUTHORITY, { data: { 'issuer.key': 'bm9uZQ==' } });
    await webhook.kill();
    webhook = await cluster.startWebhook('--service-cidr', '10.53.0.0/16');
    const after = await waitFor('another authority', async () => {
      const now = await trusted();
      return now === before ? undefined : now;
    });
    expect(after).toContain(before.trim());
    await expect(admin.create(WRONG)).rejects.toThrow(/10\.53\.0\.0\/16/);
  });

  it('the Secret of the authority is deleted: there is another authority, and the old one is no longer trusted', async () => {
    const before = await trusted();
    await admin.delete('Secret', AUTHORITY);
    await webhook.kill();
    webhook = await cluster.startWebhook('--service-cidr', '10.53.0.0/16');
    await waitFor('another authority', async () => !(await trusted()).includes(before.trim().slice(0, 200)));
    await expect(admin.create(WRONG)).rejects.toThrow(/10\.53\.0\.0\/16/);
  });

  it('every right of its Roles is used, and no other one is requested', async () => {
    const account = { namespace: WEBHOOK_NAMESPACE, name: WEBHOOK_NAME };
    const rights = compareRights(await rightsOf(admin, account), cluster.simulator.audit.requests, account);
    expect(rights).toEqual({ unused: [], refused: [] });
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
