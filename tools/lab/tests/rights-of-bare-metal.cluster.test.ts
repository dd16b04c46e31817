/**
 * The workload of a ClusterAgent, and each right that it takes: the controller of manifests/vmdhcp-bare-metal.yaml, with its arguments, variables and rights, creates agents, repairs
 * them, follows edits, restarts, and removes them. Each right that bare-metal hosts add is used by the controller, or granted by it to agents, and no other one is asked for.
 * Always against a simulated API server, whatever KUBECONFIG names.
 */
import { type AddressInfo, createServer } from 'node:net';
import { bareMetalResources } from '@vmdhcp/ippool-api/bare-metal';
import { type KubernetesObject, readConditions, readField, readList } from '@vmdhcp/kube-runtime';
import { ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AGENT_BIN,
  type ClusterAccess,
  CONTROLLER_BIN,
  compareRights,
  covers,
  describeRight,
  freePort,
  InstalledProgram,
  installedFor,
  installedWith,
  LabProcess,
  PrivateCluster,
  rightsIn,
  rightsOf,
  serviceAccountToken,
  waitFor,
} from '../src/index.js';

const AGENTS = 'vm-dhcp-agents';
const CONTROLLER = { namespace: 'vm-dhcp-system', name: 'vm-dhcp-controller' };
const AGENT = { namespace: AGENTS, name: 'agent-rack' };
const RACK = `${AGENTS}/agent-rack`;
const CLAIM = `${RACK}-dhcp-data`;
/** The name in the chart. */
const BINDING = 'vmdhcp-bare-metal-agents';
const KINDS = ['ServiceAccount', 'Lease', 'Role', 'RoleBinding', 'Deployment'] as const;

let cluster: PrivateCluster;
let admin: ClusterAccess;
let controller: InstalledProgram;

beforeAll(async () => {
  cluster = await PrivateCluster.start(['crds.yaml', 'bare metal'], {
    nodes: [{ name: 'node-1', labels: {} }],
    // As OpenShift does: what a plain cluster does not ask for gives nothing there.
    ownerReferencePermissions: true,
  });
  admin = cluster.admin;
  await startController();
});

afterAll(async () => {
  await controller?.process.stop();
  await cluster?.close();
});

/** As its Deployment describes it. @param more - arguments besides. */
async function startController(...more: readonly string[]): Promise<void> {
  const [deployment] = installedWith('vmdhcp-bare-metal.yaml').filter(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === CONTROLLER.name,
  );
  const template = readField(deployment?.spec, 'template', 'spec') as {
    readonly containers: readonly { readonly args: readonly string[] }[];
  };
  const spec = { ...template, containers: template.containers.map((one) => ({ ...one, args: [...one.args, ...more] })) };
  controller = await InstalledProgram.start(cluster.place, { namespace: CONTROLLER.namespace, name: 'controller', spec });
  await controller.ready();
  await controller.process.line('ClusterAgents and hosts listed');
}

const gone = (kind: string, key: string) =>
  waitFor(`${kind} ${key} to go`, async () => (await admin.get(kind, key)) === undefined);
const podOf = (deployment: KubernetesObject) => readField(deployment.spec, 'template', 'spec');
const agentYaml = (more: object = {}) => ({ underlayInterface: 'kube-system/management', ...more });
const DHCP = {
  dhcpServerInterface: 'net1',
  subnet: '192.168.0.0/24',
  ipRange: '192.168.0.10-192.168.0.100',
  gateway: '192.168.0.1',
  selfIp: '192.168.0.2/24',
};

/** The status with which the API server answers a request. */
const statusOf =
  ({ connection }: ClusterAccess) =>
  async (method: 'DELETE' | 'GET' | 'PATCH' | 'POST', path: string, body?: object): Promise<number> => {
    try {
      const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      await connection.request({ method, path, contentType, ...(body !== undefined && { body }) });
      return 200;
    } catch (error) {
      if (error instanceof ApiRequestError && error.status !== undefined) return error.status;
      throw error;
    }
  };

async function createRack(yaml: object = {}): Promise<void> {
  const endpoint = { secretName: 'redfish', secretNamespace: AGENTS };
  const spec = { agentYaml: agentYaml(yaml), endpoint, feature: { dhcpServerConfig: DHCP } };
  await admin.create({ apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'ClusterAgent', metadata: { name: 'rack' }, spec });
  await admin.waitForObject('Deployment', RACK, () => true);
}

const hasRack = (binding: KubernetesObject) =>
  readList(binding, 'subjects').some((one) => readField(one, 'name') === 'agent-rack');

async function uninstall(...flags: readonly string[]): Promise<string> {
  const running = new LabProcess(process.execPath, [
    CONTROLLER_BIN,
    'uninstall',
    '--kubeconfig',
    cluster.adminKubeconfig,
    ...flags,
  ]);
  const { code } = await running.ended(50_000);
  const output = running.lines.join('\n');
  expect(code, output).toBe(0);
  return output;
}

const hasCondition = (type: string, reason: string) => (object: KubernetesObject) =>
  readConditions(object.status).some((one) => one.type === type && (one.reason ?? '') === reason);

describe('the workload of a ClusterAgent, always against a simulated API server', () => {
  it('is created with rights of its own; a Secret that is missing is in the condition Valid', async () => {
    await createRack();
    for (const kind of KINDS) await admin.waitForObject(kind, RACK, () => true);
    await admin.waitForObject('ClusterRoleBinding', BINDING, hasRack);
    await admin.waitForObject('ClusterAgent', 'rack', hasCondition('Valid', 'HostSecretUnusable'));
    for (const name of ['redfish', 'other']) {
      const metadata = {
        namespace: AGENTS,
        name,
        ...(name === 'redfish' && { labels: { 'bmc.spidernet.io/host-credentials': 'true' } }),
      };
      await admin.create({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata,
        stringData: { username: 'admin', password: 'secret' },
      } as never);
    }
    await admin.waitForObject('ClusterAgent', 'rack', hasCondition('Valid', ''));
  });

  it('a Secret that is named and not labelled is read by no agent', async () => {
    const named = { clusterAgent: 'rack', ipAddr: '192.168.0.201', secretName: 'other', secretNamespace: AGENTS };
    await admin.create({
      apiVersion: 'bmc.spidernet.io/v1beta1',
      kind: 'HostEndpoint',
      metadata: { name: 'other' },
      spec: named,
    });
    const ofOther = (one: KubernetesObject) =>
      readField(one, 'involvedObject', 'name') === 'other' && readField(one, 'reason') === 'HostSecretUnusable';
    const events = async () => (await admin.list('Event')).filter(ofOther).map((one) => String(readField(one, 'message')));
    await waitFor('an Event about the Secret', async () => (await events()).length > 0);
    expect((await events())[0]).toContain('lacks the label bmc.spidernet.io/host-credentials=true');
    const granted = async () => (await rightsOf(admin, AGENT)).map(describeRight).filter((right) => right.includes('secrets'));
    expect((await granted()).join(' ')).not.toContain('other');
    expect((await granted()).join(' ')).toContain('redfish');
    const labels = { 'bmc.spidernet.io/host-credentials': 'true' };
    await admin.patch('Secret', `${AGENTS}/other`, { metadata: { labels } });
    await waitFor('the agents to be granted the Secret', async () => (await granted()).join(' ').includes('other'));
    await admin.patch('Secret', `${AGENTS}/other`, { metadata: { labels: { 'bmc.spidernet.io/host-credentials': null } } });
    await waitFor('the agents to lose the Secret', async () => !(await granted()).join(' ').includes('other'));
    await admin.delete('HostEndpoint', 'other');
  });

  it('is ready when its agents are', async () => {
    const { status } = await admin.waitForObject('ClusterAgent', 'rack', hasCondition('Ready', 'HostAgentsReady'));
    expect(readField(status, 'ready')).toBe(true);
  });

  it('is restored after edits, object by object', async () => {
    const rules = { rules: [] };
    await admin.patch('Deployment', RACK, { spec: { replicas: 5, template: { spec: { terminationGracePeriodSeconds: 99 } } } });
    await admin.patch('Role', RACK, rules);
    await admin.patch('RoleBinding', RACK, { subjects: [] });
    await admin.patch('ClusterRoleBinding', BINDING, { subjects: [] });
    for (const kind of ['ServiceAccount', 'Lease'])
      await admin.patch(kind, RACK, { metadata: { labels: { 'app.kubernetes.io/managed-by': 'me' } } });
    await admin.waitForObject(
      'Deployment',
      RACK,
      (one) => readField(one.spec, 'replicas') === 1 && readField(podOf(one), 'terminationGracePeriodSeconds') === 10,
    );
    const hasRules = (one: KubernetesObject) => readList(one, 'rules').length > 0;
    await admin.waitForObject('Role', RACK, hasRules);
    await admin.waitForObject('RoleBinding', RACK, (one) => readList(one, 'subjects').length === 1);
    await admin.waitForObject('ClusterRoleBinding', BINDING, hasRack);
    for (const kind of ['ServiceAccount', 'Lease'])
      await admin.waitForObject(
        kind,
        RACK,
        ({ metadata }) => metadata.labels?.['app.kubernetes.io/managed-by'] === 'vm-dhcp-controller',
      );
  });

  it('has no objects that it does not need', async () => {
    const [owner] = (await admin.get('Role', RACK))?.metadata.ownerReferences ?? [];
    for (const kind of KINDS) {
      const { metadata, ...object } = (await admin.get(kind, RACK)) as KubernetesObject;
      const old = {
        namespace: AGENTS,
        name: 'agent-old',
        labels: metadata.labels ?? {},
        ...(owner && { ownerReferences: [owner] }),
      };
      await admin.create({ ...object, metadata: old });
      await gone(kind, `${AGENTS}/agent-old`);
    }
  });

  it('follows edits: the template only where it is about pods; and keeps its image by the annotation', async () => {
    const generation = async () => (await admin.get('Deployment', RACK))?.metadata.generation;
    const before = await generation();
    await admin.patch('ClusterAgent', 'rack', { spec: { feature: { dhcpServerConfig: { gateway: '192.168.0.3' } } } });
    await admin.patch('ClusterAgent', 'rack', { spec: { agentYaml: { replicas: 0 } } });
    await admin.waitForObject('ClusterAgent', 'rack', hasCondition('Ready', 'HostAgentsOff'));
    expect(await generation()).toBe((before ?? 0) + 1);
    const annotation = 'bmc.spidernet.io/hold-agent-upgrade';
    await admin.patch('ClusterAgent', 'rack', { metadata: { annotations: { [annotation]: 'true' } } });
    await admin.patch('ClusterAgent', 'rack', { spec: { agentYaml: { replicas: 2, image: 'other:2' } } });
    const imageOf = (one: KubernetesObject) => readField(readList(podOf(one), 'containers')[0], 'image');
    const pinned = await admin.waitForObject('Deployment', RACK, (one) => readField(one.spec, 'replicas') === 2);
    expect(imageOf(pinned)).not.toBe('other:2');
    await admin.patch('ClusterAgent', 'rack', { metadata: { annotations: { [annotation]: null } } });
    await admin.waitForObject('Deployment', RACK, (one) => imageOf(one) === 'other:2');
  });

  it('a controller that starts again brings definitions of an earlier version up to date, and changes no agents', async () => {
    await controller.process.stop();
    const names = bareMetalResources.map(({ plural, group }) => `${plural}.${group}`);
    for (const name of names) {
      const versions = readList((await admin.get('CustomResourceDefinition', name))?.spec, 'versions') as object[];
      await admin.patch('CustomResourceDefinition', name, {
        spec: { versions: versions.map((version) => ({ ...version, additionalPrinterColumns: [] })) },
      });
    }
    const before = (await admin.get('Deployment', RACK))?.metadata.resourceVersion;
    await startController();
    // What is planned first is planned for all.
    await admin.patch('ServiceAccount', RACK, { metadata: { labels: { 'app.kubernetes.io/managed-by': 'me' } } });
    await admin.waitForObject(
      'ServiceAccount',
      RACK,
      ({ metadata: { labels } }) => labels?.['app.kubernetes.io/managed-by'] !== 'me',
    );
    expect((await admin.get('Deployment', RACK))?.metadata.resourceVersion).toBe(before);
  });

  it('each right that bare-metal hosts add was used or is what agents have, and no request was refused', async () => {
    const without = new Set(rightsIn(installedFor('controller'), CONTROLLER).map(describeRight));
    const added = (await rightsOf(admin, CONTROLLER)).filter((right) => !without.has(describeRight(right)));
    const agents = await rightsOf(admin, AGENT);
    const inUse = compareRights(added, cluster.simulator.audit.requests, CONTROLLER);
    expect(inUse.refused).toEqual([]);
    const granted = new Set(added.filter((right) => agents.some((one) => covers(right, one))).map(describeRight));
    // A definition that this version does not have is not asked for.
    const names = bareMetalResources.map(({ plural, group }) => `${plural}.${group}`);
    const isMissing = (right: string) =>
      right.includes('customresourcedefinitions') && !names.some((name) => right.endsWith(name));
    // The API server asks for it with each change of the binding, by itself.
    const bind = 'bind clusterroles.rbac.authorization.k8s.io vmdhcp-bare-metal-agent';
    const unused = inUse.unused.filter((right) => !granted.has(right) && !isMissing(right) && right !== bind);
    expect(unused).toEqual([]);
  });

  it('an agent that has these rights keeps the object of a host, by its Lease, makes no request to 127.0.0.1 of a HostEndpoint, and asks for nothing else', async () => {
    const token = await serviceAccountToken(admin, AGENTS, 'agent-rack');
    const [container] = readList(podOf((await admin.get('Deployment', RACK)) as KubernetesObject), 'containers');
    const args = readList(container, 'args').map(String);
    const flags = ['--kubeconfig', cluster.writeKubeconfig('agent', token), '--namespace', AGENTS, '--pod-name', 'agent-rack-x'];
    const spec = { clusterAgent: 'rack', ipAddr: '192.168.0.200', https: false, port: 9 };
    await admin.create({ apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'HostEndpoint', metadata: { name: 'host' }, spec });
    const asked: string[] = [];
    const server = createServer((socket) => {
      asked.push('a connection');
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const loopback = { ...spec, ipAddr: '127.0.0.1', port };
    await admin.create({
      apiVersion: 'bmc.spidernet.io/v1beta1',
      kind: 'HostEndpoint',
      metadata: { name: 'loopback' },
      spec: loopback,
    });
    const listen = `127.0.0.1:${await freePort()}`;
    const agent = new LabProcess(process.execPath, [AGENT_BIN, ...args, '--listen', listen, ...flags]);
    try {
      await admin.waitForObject('HostStatus', 'rack-192-168-0-200', ({ status }) => readField(status, 'clusterAgent') === 'rack');
      const isAbout = (one: KubernetesObject) =>
        readField(one, 'involvedObject', 'name') === 'loopback' && readField(one, 'reason') === 'HostEndpointInvalid';
      await waitFor('an Event about the HostEndpoint of 127.0.0.1', async () => (await admin.list('Event')).some(isAbout));
      expect([asked, await admin.get('HostStatus', 'rack-127-0-0-1')]).toEqual([[], undefined]);
    } catch (error) {
      throw new Error(agent.lines.join('\n'), { cause: error });
    } finally {
      await agent.stop();
      server.close();
    }
    const { refused } = compareRights([], cluster.simulator.audit.requests, AGENT);
    expect(refused).toEqual([]);
  });

  it('agents read the Secret that is named and no other, follow hosts, and write nothing else', async () => {
    const status = statusOf(await cluster.open('as-agent', await serviceAccountToken(admin, AGENTS, 'agent-rack')));
    const secrets = `/api/v1/namespaces/${AGENTS}/secrets`;
    const hosts = '/apis/bmc.spidernet.io/v1beta1';
    expect(await status('GET', `${secrets}?fieldSelector=metadata.name%3Dredfish`)).toBe(200);
    expect(await status('GET', `${hosts}/hoststatuses`)).toBe(200);
    expect(await status('GET', `/apis/coordination.k8s.io/v1/namespaces/${AGENTS}/leases/agent-rack`)).toBe(200);
    const forbidden = [
      ['GET', secrets],
      ['GET', `${secrets}?fieldSelector=metadata.name%3Dother`],
      ['GET', '/api/v1/namespaces/kube-system/secrets?fieldSelector=metadata.name%3Dredfish'],
      ['PATCH', `${hosts}/clusteragents/rack`],
      ['POST', `${hosts}/hostoperations`],
      ['GET', `/apis/coordination.k8s.io/v1/namespaces/${AGENTS}/leases/agent-other`],
      ['GET', `/apis/apps/v1/namespaces/${AGENTS}/deployments`],
      ['GET', '/apis/network.harvesterhci.io/v1alpha1/ippools'],
    ] as const;
    for (const [method, path] of forbidden) expect(await status(method, path, method === 'GET' ? undefined : {}), path).toBe(403);
  });

  it('the token of the agents of one ClusterAgent writes nothing of another one, and Events about its own objects only', async () => {
    const status = statusOf(await cluster.open('as-rack', await serviceAccountToken(admin, AGENTS, 'agent-rack')));
    const apiVersion = 'bmc.spidernet.io/v1beta1';
    const [hosts, slices] = [`/apis/${apiVersion}`, `/apis/${apiVersion}/namespaces/${AGENTS}/leaseslices`];
    const object = (kind: string, name: string, more: object = {}) => ({ apiVersion, kind, metadata: { name }, ...more });
    const operation = (name: string, hostStatusName: string) =>
      object('HostOperation', name, { spec: { action: 'ForceOff', hostStatusName } });
    const slice = (name: string, of: string, labels: object = {}) => ({
      ...object('LeaseSlice', name, { spec: { leader: { identity: 'x', term: 1 }, records: '' } }),
      metadata: { namespace: AGENTS, name, labels: { 'bmc.spidernet.io/leases-of': of, ...labels } },
    });
    const event = (kind: string, name: string, namespace = 'default') => ({
      ...{
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { namespace, name: `${kind}-${name}`.toLowerCase() },
        reason: 'X',
        message: 'x',
      },
      involvedObject: {
        apiVersion: kind === 'Node' ? 'v1' : apiVersion,
        kind,
        name,
        ...(namespace !== 'default' && { namespace }),
      },
    });
    const off = { agentYaml: agentYaml({ replicas: 0 }), feature: { enableDhcpServer: false } };
    await admin.create(object('ClusterAgent', 'other', { spec: off }));
    await admin.create(object('HostStatus', 'other-192-168-0-9'));
    await admin.create(object('HostStatus', 'other-2001-db8--9'));
    await admin.create(operation('off-other', 'other-192-168-0-9'));
    await admin.create(operation('off-other-6', 'other-2001-db8--9'));
    await admin.create(operation('off-rack', 'rack-192-168-0-77'));
    await admin.create(slice('other-leases', 'other') as never);
    const failure = { status: { status: 'success', message: 'forged' } };
    const tried: readonly (readonly ['DELETE' | 'PATCH' | 'POST', path: string, body: object | undefined, status: number])[] = [
      ['PATCH', `${hosts}/clusteragents/other/status`, { status: { ready: true } }, 403],
      ['PATCH', `${hosts}/clusteragents/rack/status`, { status: { ready: false } }, 200],
      ['PATCH', `${hosts}/hoststatuses/other-192-168-0-9`, { metadata: { labels: { a: 'b' } } }, 403],
      ['PATCH', `${hosts}/hoststatuses/other-192-168-0-9/status`, { status: { healthy: true } }, 403],
      ['DELETE', `${hosts}/hoststatuses/other-192-168-0-9`, undefined, 403],
      ['PATCH', `${hosts}/hoststatuses/other-2001-db8--9/status`, { status: { healthy: true, clusterAgent: 'rack' } }, 403],
      ['DELETE', `${hosts}/hoststatuses/other-2001-db8--9`, undefined, 403],
      ['POST', `${hosts}/hoststatuses`, object('HostStatus', 'other-192-168-0-10'), 403],
      ['POST', `${hosts}/hoststatuses`, object('HostStatus', 'rack-9-192-168-0-10'), 403],
      ['POST', `${hosts}/hoststatuses`, object('HostStatus', 'odd'), 403],
      ['POST', `${hosts}/hoststatuses`, object('HostStatus', 'rack-2001-db8--1-2-3-4'), 200],
      ['POST', `${hosts}/hoststatuses`, object('HostStatus', 'rack-192-168-0-77'), 200],
      ['PATCH', `${hosts}/hoststatuses/rack-192-168-0-77/status`, { status: { healthy: true, clusterAgent: 'rack' } }, 200],
      ['PATCH', `${hosts}/hostoperations/off-other/status`, failure, 403],
      ['PATCH', `${hosts}/hostoperations/off-other-6/status`, failure, 403],
      ['PATCH', `${hosts}/hostoperations/off-rack/status`, failure, 200],
      ['DELETE', `${hosts}/hoststatuses/rack-192-168-0-77`, undefined, 200],
      ['DELETE', `${hosts}/hoststatuses/rack-2001-db8--1-2-3-4`, undefined, 200],
      ['PATCH', `${slices}/other-leases`, { spec: { records: 'forged' } }, 403],
      ['PATCH', `${slices}/other-leases`, { metadata: { labels: { 'bmc.spidernet.io/leases-of': 'rack' } } }, 403],
      ['DELETE', `${slices}/other-leases`, undefined, 403],
      ['POST', slices, slice('other-leases-2-0', 'rack'), 403],
      ['POST', slices, slice('rack-leases-2-0', 'other'), 403],
      ['POST', slices, slice('rack-leases-2-0', 'other', { 'bmc.spidernet.io/set-aside-leases-of': 'rack' }), 403],
      ['POST', slices, slice('rack-leases-2-0', 'rack'), 200],
      ['DELETE', `${slices}/rack-leases-2-0`, undefined, 200],
      ['POST', '/api/v1/namespaces/kube-system/events', event('ClusterAgent', 'rack', 'kube-system'), 403],
      ['POST', '/api/v1/namespaces/default/events', event('Node', 'node-1'), 403],
      ['POST', '/api/v1/namespaces/default/events', event('ClusterAgent', 'other'), 403],
      ['POST', '/api/v1/namespaces/default/events', event('HostStatus', 'other-192-168-0-9'), 403],
      ['POST', '/api/v1/namespaces/default/events', event('ClusterAgent', 'rack'), 200],
    ];
    for (const [method, path, body, expected] of tried)
      expect(await status(method, path, body), `${method} ${path} ${JSON.stringify(body)}`).toBe(expected);
    expect((await admin.get('LeaseSlice', `${AGENTS}/other-leases`))?.spec).toMatchObject({ records: '' });
    expect((await admin.get('HostOperation', 'off-other'))?.status).toBeUndefined();
    for (const address of ['192-168-0-9', '2001-db8--9']) await admin.delete('HostStatus', `other-${address}`);
    for (const name of ['off-other', 'off-other-6', 'off-rack']) await admin.delete('HostOperation', name);
    await admin.delete('ClusterAgent', 'other');
    await gone('Deployment', `${AGENTS}/agent-other`);
  });

  it('without its ClusterAgent everything is deleted', async () => {
    await admin.delete('ClusterAgent', 'rack');
    for (const kind of KINDS) await gone(kind, RACK);
    await admin.waitForObject('ClusterRoleBinding', BINDING, (one) => !hasRack(one));
  });

  it('with leases in a volume, there is one agent and one claim, which is restored and goes with the ClusterAgent', async () => {
    await controller.process.stop();
    const metadata = { namespace: AGENTS, name: 'claims' };
    const rules = [{ apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['list', 'watch', 'create', 'patch'] }];
    const rbac = 'rbac.authorization.k8s.io';
    await admin.create({ apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules } as never);
    const subjects = [{ kind: 'ServiceAccount', ...CONTROLLER }];
    const roleRef = { apiGroup: rbac, kind: 'Role', name: metadata.name };
    await admin.create({ apiVersion: `${rbac}/v1`, kind: 'RoleBinding', metadata, subjects, roleRef } as never);
    await startController('--bare-metal-leases=pvc', '--bare-metal-leases-size=1Gi');
    await createRack({ replicas: 2 });
    await admin.waitForObject('ClusterAgent', 'rack', hasCondition('Valid', 'OneAgentOnly'));
    const claim = await admin.waitForObject('PersistentVolumeClaim', CLAIM, () => true);
    expect(readField(claim.spec, 'resources', 'requests', 'storage')).toBe('1Gi');
    const { spec } = await admin.waitForObject('Deployment', RACK, () => true);
    expect([readField(spec, 'replicas'), readField(spec, 'strategy', 'type')]).toEqual([1, 'Recreate']);
    expect(readList(readField(spec, 'template', 'spec'), 'volumes')).toContainEqual({
      name: 'leases',
      persistentVolumeClaim: { claimName: 'agent-rack-dhcp-data' },
    });
    const label = 'app.kubernetes.io/managed-by';
    await admin.patch('PersistentVolumeClaim', CLAIM, { metadata: { labels: { [label]: 'me' } } });
    await admin.waitForObject('PersistentVolumeClaim', CLAIM, (one) => one.metadata.labels?.[label] !== 'me');
    const rights = (await rightsOf(admin, CONTROLLER)).filter((one) => describeRight(one).includes('persistentvolumeclaims'));
    const { refused, unused } = compareRights(rights, cluster.simulator.audit.requests, CONTROLLER);
    expect([refused, unused]).toEqual([[], []]);
    await admin.delete('ClusterAgent', 'rack');
    await gone('PersistentVolumeClaim', CLAIM);
    await gone('Deployment', RACK);
  });

  it('`uninstall` ends agents and takes their rights; ClusterAgents and Secrets stay', async () => {
    await createRack();
    await admin.waitForObject('ClusterAgent', 'rack', hasCondition('Valid', ''));
    await admin.waitForObject('ClusterAgent', 'rack', hasCondition('Ready', 'HostAgentsReady'));
    await controller.process.stop();
    const kept = await uninstall();
    for (const kind of KINDS) expect(await admin.get(kind, RACK), kind).toBeUndefined();
    expect(await admin.get('ClusterAgent', 'rack')).toBeDefined();
    expect(await admin.get('Secret', `${AGENTS}/redfish`)).toBeDefined();
    expect(kept).toMatch(/^these still show READY True, although no agent runs: ClusterAgent rack\ndelete Deployment/m);
    expect(kept).toMatch(/^kept for a successor: .*1 ClusterAgent, .*7 CustomResourceDefinitions/m);
  });

  it('the controller changes no ClusterRole, creates no ClusterRoleBinding, and changes none but that of the agents', async () => {
    const access = await cluster.open('as-controller', await serviceAccountToken(admin, CONTROLLER.namespace, CONTROLLER.name));
    const status = statusOf(access);
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const metadata = { name: 'mine' };
    const subjects = [{ kind: 'ServiceAccount', ...CONTROLLER }];
    const roleRef = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name });
    const forbidden = [
      ['PATCH', `${rbac}/clusterroles/cluster-admin`, { rules: [] }],
      ['PATCH', `${rbac}/clusterroles/vmdhcp-bare-metal-agent`, { rules: [] }],
      ['PATCH', `${rbac}/clusterroles/${CONTROLLER.name}`, { rules: [] }],
      ['POST', `${rbac}/clusterroles`, { metadata, rules: [] }],
      ['PATCH', `${rbac}/clusterrolebindings/${CONTROLLER.name}`, { subjects: [] }],
      ['PATCH', `${rbac}/clusterrolebindings/cluster-admin`, { subjects }],
      ['POST', `${rbac}/clusterrolebindings`, { metadata, subjects, roleRef: roleRef('vmdhcp-bare-metal-agent') }],
      ['DELETE', `${rbac}/clusterrolebindings/${BINDING}`, undefined],
      ['POST', `${rbac}/namespaces/${AGENTS}/rolebindings`, { metadata, subjects, roleRef: roleRef('cluster-admin') }],
      ['POST', '/apis/bmc.spidernet.io/v1beta1/hoststatuses', {}],
    ] as const;
    for (const [method, path, body] of forbidden) expect(await status(method, path, body), `${method} ${path}`).toBe(403);
    await access.patch('ClusterRoleBinding', BINDING, { subjects: [{ kind: 'ServiceAccount', ...AGENT }] });
    expect(readList(await admin.get('ClusterRole', 'cluster-admin'), 'rules')).not.toEqual([]);
  });

  it('`uninstall --delete-data` deletes them and their definitions, and leaves objects whose definition another product applied', async () => {
    const metadata = { annotations: { 'network.harvesterhci.io/applied-by-version': null } };
    await admin.patch('CustomResourceDefinition', 'hostendpoints.bmc.spidernet.io', { metadata });
    const spec = { clusterAgent: 'rack', ipAddr: '192.168.0.50', secretName: 'redfish', secretNamespace: AGENTS };
    await admin.create({ apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'HostEndpoint', metadata: { name: 'theirs' }, spec });
    expect(await uninstall('--delete-data')).toContain('delete ClusterAgent rack');
    const definitions = (await admin.list('CustomResourceDefinition')).map((one) => one.metadata.name);
    expect(definitions.filter((name) => /spidernet|harvesterhci/.test(name))).toEqual(['hostendpoints.bmc.spidernet.io']);
    expect(await admin.get('HostEndpoint', 'theirs')).toBeDefined();
    expect(await uninstall('--delete-data')).toBe('nothing to remove');
  });
});
