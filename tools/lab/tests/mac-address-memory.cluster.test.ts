/**
 * MAC addresses that KubeVirt chose, over an API server: with the rights of the controller and those that ADR 24 names for the memory, and with the
 * stand-in for KubeVirt, which chooses another address at each start. Always against a simulated API server.
 */
import { type ApiResource, type KubernetesObject, readField, SharedCaches } from '@vmdhcp/kube-runtime';
import { ApiObjectClient, systemClock } from '@vmdhcp/kube-runtime/node';
import { cachedPartsWith, DhcpController } from '@vmdhcp/reconciler';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClusterAccess, KubeVirt, PrivateCluster, serviceAccountToken, waitFor } from '../src/index.js';

const NAMESPACE = 'vm-dhcp-agents';
const ACCOUNT = { namespace: 'vm-dhcp-system', name: 'memory' };
const KEY = 'default/web';

let cluster: PrivateCluster;
let kubevirt: KubeVirt;
let access: ClusterAccess;
let controller: DhcpController | undefined;
const errors: string[] = [];

const read = (apiGroups: readonly string[], resources: readonly string[]) => ({
  apiGroups,
  resources,
  verbs: ['list', 'watch'],
});
const bindingOf = (kind: 'Role' | 'ClusterRole', namespace?: string): KubernetesObject =>
  ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: `${kind}Binding`,
    metadata: { name: ACCOUNT.name, ...(namespace !== undefined && { namespace }) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: ACCOUNT.name },
    subjects: [{ kind: 'ServiceAccount', ...ACCOUNT }],
  }) as unknown as KubernetesObject;

/** What the controller reads for the inventory, and the rights of the memory in the agents' namespace. */
function rights(): KubernetesObject[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const reading = [
    read(['kubevirt.io'], ['virtualmachines', 'virtualmachineinstances']),
    read(['network.harvesterhci.io'], ['ippools', 'virtualmachinenetworkconfigs']),
    read(['k8s.cni.cncf.io'], ['network-attachment-definitions']),
  ];
  const memory = { apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch', 'create', 'patch'] };
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ACCOUNT.namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: ACCOUNT },
    { apiVersion, kind: 'ClusterRole', metadata: { name: ACCOUNT.name }, rules: reading },
    { apiVersion, kind: 'Role', metadata: { name: ACCOUNT.name, namespace: NAMESPACE }, rules: [memory] },
  ];
  return [...(objects as unknown as KubernetesObject[]), bindingOf('ClusterRole'), bindingOf('Role', NAMESPACE)];
}

beforeAll(async () => {
  cluster = await PrivateCluster.start(['crds.yaml']);
  await cluster.defineKinds();
  for (const object of rights()) await cluster.admin.create(object);
  kubevirt = await KubeVirt.start(cluster.simulator);
  access = await cluster.open('memory', await serviceAccountToken(cluster.admin, ACCOUNT.namespace, ACCOUNT.name));
});

afterAll(async () => {
  await controller?.stop();
  await kubevirt?.stop();
  await cluster?.close();
});

async function startController(): Promise<DhcpController> {
  const clientOf = <Kind extends KubernetesObject = KubernetesObject>(resource: ApiResource) =>
    new ApiObjectClient<Kind>(access.connection, resource);
  const backOff = { firstMs: 100, mostMs: 30_000, random: Math.random };
  const trim = cachedPartsWith({ machineLabels: true });
  const started = new DhcpController({
    caches: new SharedCaches({ open: clientOf, clock: systemClock, backOff, trim }),
    clientOf,
    clock: systemClock,
    now: () => new Date().toISOString(),
    random: Math.random,
    identity: 'test',
    macAddressMemory: { namespace: NAMESPACE },
    observer: { onReadError: (kind, error) => errors.push(`${kind}: ${(error as Error).message}`) },
  });
  controller = started;
  started.lead();
  await waitFor('the inventory', async () => started.inventory.synced);
  return started;
}

/** The MAC address of the interface that KubeVirt adds, from the instance. */
async function chosenAddress(): Promise<string> {
  const instance = await cluster.admin.get('VirtualMachineInstance', KEY);
  const [first] = readField(instance?.status, 'interfaces') as readonly { readonly mac: string }[];
  return first?.mac ?? '';
}

/** All entries of the ConfigMaps. */
async function remembered(): Promise<Record<string, unknown>> {
  const configMaps = await cluster.admin.list('ConfigMap');
  const ours = configMaps.filter(({ metadata }) => metadata.name.startsWith('vmdhcp-mac-addresses-'));
  return Object.assign({}, ...ours.map((one) => readField(one, 'data') ?? {})) as Record<string, unknown>;
}

it('a machine without interfaces in its template is found by the address that KubeVirt chose, stopped and after a restart', async () => {
  const metadata = { namespace: 'default', name: 'web', labels: { wake: 'yes' } };
  const spec = { runStrategy: 'Manual', template: { spec: { domain: { devices: {} } } } };
  await cluster.admin.create({ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata, spec });
  const first = await startController();
  const subresource = (name: string) =>
    cluster.admin.connection.request({
      method: 'PUT',
      path: `/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/web/${name}`,
      body: {},
    });
  await subresource('start');
  await kubevirt.untilStatus(KEY, 'Running');
  const chosen = await chosenAddress();
  await waitFor('the memory', async () => (await remembered())['default.web'] !== undefined);
  await subresource('stop');
  await kubevirt.untilStatus(KEY, 'Stopped');
  const uid = (await cluster.admin.get('VirtualMachine', KEY))?.metadata.uid;
  const wanted = { namespace: 'default', name: 'web', uid, labels: { wake: 'yes' }, macAddresses: [chosen] };
  await waitFor('the instance to be gone', async () => (await cluster.admin.get('VirtualMachineInstance', KEY)) === undefined);
  expect(first.inventory.get(KEY)).toEqual(wanted);
  await first.stop();

  const second = await startController();
  expect([second.inventory.get(KEY), second.inventory.machinesWith(chosen as never)]).toEqual([wanted, [KEY]]);
  await cluster.admin.delete('VirtualMachine', KEY);
  await waitFor('the entry to go', async () => (await remembered())['default.web'] === undefined);
  expect([second.inventory.get(KEY), errors]).toEqual([undefined, []]);
});
