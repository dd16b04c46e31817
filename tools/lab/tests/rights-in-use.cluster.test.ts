/**
 * Each right of the controller is used, or passed on to agents, and no other one is asked for: a story that walks every path which needs one, and
 * the audit of the API server afterwards. Always against a simulated API server, whatever KUBECONFIG names.
 */
import { ipPoolResource, virtualMachineNetworkConfigResource } from '@vmdhcp/ippool-api';
import { Resource } from '@vmdhcp/ippool-api/resources';
import {
  type EventObject,
  EventRecorder,
  type KubernetesObject,
  readConditions,
  readField,
  readList,
  readText,
} from '@vmdhcp/kube-runtime';
import { ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { AUDIT_SLOT_NAMES } from '@vmdhcp/reconciler/audit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type ClusterAccess,
  compareRights,
  covers,
  describeRight,
  ipPool,
  type LabProcess,
  networkAttachment,
  PrivateCluster,
  type Right,
  rightsOf,
  serviceAccountToken,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const AGENTS = 'vm-dhcp-agents';
const GROUP = 'vm-dhcp-agent-red-1';
const CONTROLLER = { namespace: 'vm-dhcp-system', name: 'vm-dhcp-controller' };
const MANAGED_BY = 'app.kubernetes.io/managed-by';
const LABEL = 'network.harvesterhci.io/vm-dhcp-controller';

let cluster: PrivateCluster;
let admin: ClusterAccess;
let controller: LabProcess;

beforeAll(async () => {
  cluster = await PrivateCluster.start(['controller', 'crds.yaml']);
  admin = cluster.admin;
  for (const name of AUDIT_SLOT_NAMES.slice(0, 2)) await createAuditSlot(name);
  await startController();
});

afterAll(() => cluster?.close());

async function startController(): Promise<void> {
  controller = await cluster.startController(
    '--namespace',
    AGENTS,
    '--agent-replicas',
    '0',
    '--image',
    'agent:v1',
    '--audit-mebibytes',
    '1',
  );
}

/** Two of them need more room than there is. */
async function createAuditSlot(name: string): Promise<void> {
  const labels = { 'network.harvesterhci.io/audit': 'true' };
  const metadata = { namespace: AGENTS, name, labels };
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { [`00000000000${name.at(-1)}`]: `{"pool":"default/gone"}\n${' '.repeat(600_000)}` },
  };
  await admin.create(object);
}

const isAllocated = ({ status }: KubernetesObject) =>
  readConditions(status).some(({ type, status: is }) => type === 'Allocated' && is === 'True');
const gone = (kind: string, key: string) =>
  waitFor(`${kind} ${key} to go`, async () => (await admin.get(kind, key)) === undefined);

async function createPool(name: string): Promise<void> {
  await admin.create(networkAttachment(`default/${name}`, 'red'));
  await admin.create(ipPool(`default/${name}`, { ipv4Config: { pool: { start: '10.1.0.10', end: '10.1.0.10' } } }));
}

it('records of assignments that have no room are deleted', async () => {
  const [first, second] = AUDIT_SLOT_NAMES.map((name) => `${AGENTS}/${name}`) as [string, string];
  const isThere = (configMap: KubernetesObject | undefined) => JSON.stringify(configMap).length > 600_000;
  await admin.waitForObject('ConfigMap', first, (configMap) => !isThere(configMap));
  expect(isThere(await admin.get('ConfigMap', second))).toBe(true);
});

it('definitions of an earlier version are replaced', async () => {
  await controller.stop();
  for (const { plural } of [ipPoolResource, virtualMachineNetworkConfigResource]) {
    const key = `${plural}.network.harvesterhci.io`;
    const versions = readList((await admin.get('CustomResourceDefinition', key))?.spec, 'versions') as object[];
    await admin.patch('CustomResourceDefinition', key, {
      spec: { versions: versions.map((version) => ({ ...version, additionalPrinterColumns: [] })) },
    });
  }
  await startController();
  const { spec } = (await admin.get('CustomResourceDefinition', 'ippools.network.harvesterhci.io')) ?? {};
  expect(readList(readList(spec, 'versions')[0], 'additionalPrinterColumns').length).toBeGreaterThan(0);
});

it('a virtual machine gets an address, changes, finds a pool exhausted, and is deleted', async () => {
  await createPool('one');
  await admin.create(virtualMachine('default/a', '02:00:00:00:00:0a', 'default/one'));
  await admin.waitForObject('VirtualMachineNetworkConfig', 'default/a', isAllocated);
  await admin.create(virtualMachine('default/b', '02:00:00:00:00:0b', 'default/one'));
  await waitFor('an Event', async () =>
    (await admin.list('Event')).some((event) => readText(event, 'reason') === 'PoolExhausted'),
  );
  const { spec } = virtualMachine('default/b', '02:00:00:00:00:0c', 'default/one');
  await admin.patch('VirtualMachine', 'default/b', { spec });
  await admin.waitForObject('VirtualMachineNetworkConfig', 'default/b', (config) => JSON.stringify(config.spec).includes('0c'));
  await admin.delete('VirtualMachine', 'default/a');
  await gone('VirtualMachineNetworkConfig', 'default/a');
  await admin.waitForObject('VirtualMachineNetworkConfig', 'default/b', isAllocated);
});

it('an Event that is still true after five minutes is counted', async () => {
  const token = await serviceAccountToken(admin, CONTROLLER.namespace, CONTROLLER.name);
  const { connection } = await cluster.open('events', token);
  const clock = new FakeClock();
  const recorder = new EventRecorder({
    client: new ApiObjectClient<EventObject>(connection, Resource.events),
    clock,
    now: () => '2026-01-01T00:00:00Z',
    random: () => 0.5,
    component: 'vm-dhcp-controller',
    instance: 'test',
  });
  const regarding = { apiVersion: 'network.harvesterhci.io/v1alpha1', kind: 'IPPool', namespace: 'default', name: 'one' };
  const isCounted = async (count: number) =>
    (await admin.list('Event')).some((event) => readText(event, 'reason') === 'Tried' && readField(event, 'count') === count);
  recorder.record(regarding, { type: 'Normal', reason: 'Tried', message: 'a test' });
  await waitFor('the Event', () => isCounted(1));
  await clock.advance(300_000);
  recorder.record(regarding, { type: 'Normal', reason: 'Tried', message: 'a test' });
  await waitFor('the count', () => isCounted(2));
});

it('edited rights and Deployments are restored', async () => {
  await admin.waitForObject('Deployment', `${AGENTS}/${GROUP}`, () => true);
  await admin.patch('ServiceAccount', `${AGENTS}/${GROUP}`, { metadata: { labels: { [MANAGED_BY]: 'x' } } });
  await admin.patch('RoleBinding', `${AGENTS}/${GROUP}`, { subjects: [] });
  await admin.patch('Role', `${AGENTS}/${GROUP}`, { rules: [] });
  await admin.patch('Deployment', `${AGENTS}/${GROUP}`, { spec: { template: { spec: { terminationGracePeriodSeconds: 99 } } } });
  const isRestored = ({ metadata }: KubernetesObject) => metadata.labels?.[MANAGED_BY] === 'vm-dhcp-controller';
  await admin.waitForObject('ServiceAccount', `${AGENTS}/${GROUP}`, isRestored);
  await admin.waitForObject('RoleBinding', `${AGENTS}/${GROUP}`, (binding) => readList(binding, 'subjects').length > 0);
  await admin.waitForObject('Role', `${AGENTS}/${GROUP}`, (role) => readList(role, 'rules').length > 0);
  await admin.waitForObject(
    'Deployment',
    `${AGENTS}/${GROUP}`,
    ({ spec }) => readField(spec, 'template', 'spec', 'terminationGracePeriodSeconds') === 10,
  );
});

it('a pod of an earlier version is replaced when the agents could serve', async () => {
  const labels = {
    [LABEL]: 'agent',
    'network.harvesterhci.io/ippool-namespace': 'default',
    'network.harvesterhci.io/ippool-name': 'one',
  };
  const spec = { schedulerName: 'none', containers: [{ name: 'agent', image: 'old' }] };
  await admin.create({ apiVersion: 'v1', kind: 'Pod', metadata: { namespace: AGENTS, name: 'old', labels }, ...{ spec } });
  const report = JSON.stringify({ 'default/one': { serving: false, reason: 'Suspended' } });
  await admin.patch('Lease', `${AGENTS}/${GROUP}`, {
    metadata: { annotations: { 'network.harvesterhci.io/agent-report': report } },
    spec: { holderIdentity: 'agent_1', leaseDurationSeconds: 600, renewTime: new Date().toISOString().replace('Z', '000Z') },
  });
  await gone('Pod', `${AGENTS}/old`);
  await admin.patch('Lease', `${AGENTS}/${GROUP}`, { spec: { holderIdentity: '' } });
});

it('the last pool of a group goes, and with it the agents and their rights', async () => {
  await admin.delete('VirtualMachine', 'default/b');
  await gone('VirtualMachineNetworkConfig', 'default/b');
  await admin.delete('IPPool', 'default/one');
  for (const kind of ['Deployment', 'Lease', 'ServiceAccount', 'RoleBinding', 'Role']) await gone(kind, `${AGENTS}/${GROUP}`);
});

it('each right of the Roles was used, or is one of agents, and no request was refused', async () => {
  const granted = await rightsOf(admin, CONTROLLER);
  const { unused, refused } = compareRights(granted, cluster.simulator.audit.requests, CONTROLLER);
  const passedOn = granted.filter((right) => AGENT_RIGHTS.some((one) => covers(right, one))).map(describeRight);
  expect({ unused: unused.filter((right) => !passedOn.includes(right)), refused }).toEqual({ unused: [], refused: [] });
});

/** What agents may do with the Lease of their group and the pools that they serve: who grants a right must have it. */
const AGENT_RIGHTS: readonly Right[] = [
  ...['get', 'list', 'watch', 'update'].map((verb) => ({
    verb,
    group: 'coordination.k8s.io',
    resource: 'leases',
    namespace: AGENTS,
    name: GROUP,
  })),
  ...['list', 'watch'].map((verb) => ({
    verb,
    group: 'network.harvesterhci.io',
    resource: 'ippools',
    namespace: 'default',
    name: 'one',
  })),
];
