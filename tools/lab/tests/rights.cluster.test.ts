/**
 * What the controller and the agents may do, by requests with their own tokens. Always against a simulated API server, whatever
 * KUBECONFIG names: the examples' namespaces and ClusterRoles must not change another cluster.
 */
import { join } from 'node:path';
import { AGENT_REPORT_ANNOTATION, SUSPENDED_POOLS_ANNOTATION } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readConditions, readField, readText } from '@vmdhcp/kube-runtime';
import { ApiLeaseStore, ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { configuredPools } from '@vmdhcp/reconciler';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CLUSTER_EXAMPLES,
  type ClusterAccess,
  CONTROLLER_NAMESPACE,
  installedFor,
  ipPool,
  type LabProcess,
  networkAttachment,
  PrivateCluster,
  readYaml,
  serviceAccountToken,
  WEBHOOK_NAME,
  WEBHOOK_NAMESPACE,
  waitFor,
} from '../src/index.js';

const AGENTS = 'vm-dhcp-agents';
const A = 'vm-dhcp-agent-red-1';
const B = 'vm-dhcp-agent-blue-1';
const POOLS = '/apis/network.harvesterhci.io/v1alpha1';
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${AGENTS}/leases`;
const DEPLOYMENTS = '/apis/apps/v1/namespaces';
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces';

let cluster: PrivateCluster;
let admin: ClusterAccess;
let controller: LabProcess;

beforeAll(async () => {
  cluster = await PrivateCluster.start(['controller', 'crds.yaml', 'unified agents']);
  admin = cluster.admin;
  for (const name of ['red', 'blue']) await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await Promise.all([cluster.startWebhook(), startController()]);
  await createPool('red/one', 'red');
  await createPool('default/two', 'red');
  await createPool('blue/three', 'blue');
  for (const [group, pools] of [
    [A, ['default/two', 'red/one']],
    [B, ['blue/three']],
  ] as const)
    await configuredOf(group, pools);
});

afterAll(() => cluster?.close());

/** With the rights of its ServiceAccount. */
async function startController(...parameters: readonly string[]): Promise<void> {
  const flags = ['--namespace', AGENTS, '--agent-replicas', '0', '--image', 'agent:v1'];
  controller = await cluster.startController(...flags, ...parameters);
}

async function createPool(key: string, clusterNetwork: string): Promise<void> {
  await admin.create(networkAttachment(key, clusterNetwork));
  await admin.create(ipPool(key));
}

async function configuredOf(group: string, pools: readonly string[]): Promise<KubernetesObject> {
  return await admin.waitForObject(
    'Deployment',
    `${AGENTS}/${group}`,
    (deployment) => [...configuredPools(deployment, 'agent').keys()].toSorted().join() === pools.join(),
  );
}

/** Where an agent follows a pool: `namespace/name`. */
function pathOf(pool: string): string {
  const [namespace = '', name = ''] = pool.split('/', 2);
  return `${POOLS}/namespaces/${namespace}/ippools?fieldSelector=metadata.name%3D${name}`;
}

interface Asked {
  readonly method?: 'DELETE' | 'GET' | 'PATCH' | 'POST' | 'PUT';
  readonly body?: object;
}

/** The HTTP status that a request is answered with. */
async function status(access: ClusterAccess, path: string, { method = 'GET', body }: Asked = {}): Promise<number> {
  try {
    await access.connection.request({ method, path, ...(body !== undefined && { body }) });
    return 200;
  } catch (error) {
    if (error instanceof ApiRequestError && error.status !== undefined) return error.status;
    throw error;
  }
}

const lease = (name: string) => admin.get('Lease', `${AGENTS}/${name}`);

describe('the webhook, always against a simulated API server', () => {
  const HOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  let webhook: ClusterAccess;

  beforeAll(async () => {
    webhook = await cluster.open('webhook', await serviceAccountToken(admin, WEBHOOK_NAMESPACE, WEBHOOK_NAME));
  });

  it('reads its own Secrets and no others, and writes no IPPool, no virtual machine and no right', async () => {
    const secrets = `/api/v1/namespaces/${WEBHOOK_NAMESPACE}/secrets`;
    expect(await status(webhook, `${secrets}/${WEBHOOK_NAME}-tls`)).toBe(200);
    for (const path of [
      secrets,
      `${secrets}/other`,
      `/api/v1/namespaces/kube-system/secrets/${WEBHOOK_NAME}-tls`,
      '/api/v1/secrets',
    ])
      expect(await status(webhook, path), path).toBe(403);
    const body = { metadata: { labels: { a: 'b' } } };
    for (const path of [
      `${POOLS}/namespaces/red/ippools/one`,
      `${POOLS}/namespaces/red/ippools/one/status`,
      `${POOLS}/namespaces/red/virtualmachinenetworkconfigs/any`,
      '/apis/kubevirt.io/v1/namespaces/red/virtualmachines/any',
      `/apis/rbac.authorization.k8s.io/v1/clusterroles/${WEBHOOK_NAME}`,
    ])
      expect(await status(webhook, path, { method: 'PATCH', body }), path).toBe(403);
    expect(await status(webhook, '/apis/rbac.authorization.k8s.io/v1/clusterroles/vm-dhcp-controller')).toBe(403);
  });

  it('changes and deletes no registration of another webhook', async () => {
    const body = { webhooks: [] };
    expect(await status(webhook, `${HOOKS}/other`)).toBe(403);
    expect(await status(webhook, `${HOOKS}/other`, { method: 'PATCH', body })).toBe(403);
    expect(await status(webhook, `${HOOKS}/${WEBHOOK_NAME}`, { method: 'DELETE' })).toBe(403);
    expect(await status(webhook, `${HOOKS}/${WEBHOOK_NAME}`)).toBe(200);
  });
});

describe('an agent, always against a simulated API server', () => {
  let agent: ClusterAccess;

  beforeAll(async () => {
    agent = await cluster.open('agent', await serviceAccountToken(admin, AGENTS, A));
  });

  it('reads, watches and updates the Lease of its group, and reads and watches the pools of its group', async () => {
    expect(await status(agent, `${LEASES}/${A}`)).toBe(200);
    expect(await status(agent, `${LEASES}?fieldSelector=metadata.name%3D${A}`)).toBe(200);
    expect(await status(agent, `${LEASES}/${A}`, { method: 'PUT', body: (await lease(A)) as object })).toBe(200);
    expect(await status(agent, pathOf('red/one'))).toBe(200);
    expect(await status(agent, pathOf('default/two'))).toBe(200);
  });

  it('neither reads nor writes the Lease, the pools and the Deployment of another group', async () => {
    expect(await status(agent, `${LEASES}/${B}`)).toBe(403);
    expect(await status(agent, `${LEASES}/${B}`, { method: 'PUT', body: (await lease(B)) as object })).toBe(403);
    expect(await status(agent, LEASES)).toBe(403);
    expect(await status(agent, pathOf('blue/three'))).toBe(403);
    expect(await status(agent, `${POOLS}/namespaces/blue/ippools`)).toBe(403);
    expect(await status(agent, `${POOLS}/namespaces/red/ippools`)).toBe(403);
    expect(await status(agent, `${POOLS}/ippools`)).toBe(403);
    expect(await status(agent, `${DEPLOYMENTS}/${AGENTS}/deployments/${B}`)).toBe(403);
  });

  it('waits for a Lease that is missing, and logs that', async () => {
    const store = new ApiLeaseStore(agent.connection, { namespace: AGENTS, name: 'missing', wallTimeMs: Date.now });
    await expect(store.write({ holder: 'me', leaseDurationMs: 3_000, transitions: 0 }, undefined)).rejects.toThrow(
      /^Lease vm-dhcp-agents\/missing does not exist, and cannot be created from here: .*leases\.coordination\.k8s\.io is forbidden/,
    );
  });

  it('creates, deletes and patches nothing, and reads neither Secrets nor pods nor virtual machines', async () => {
    const metadata = { name: 'mine', namespace: AGENTS };
    const pod = { metadata, spec: { containers: [{ name: 'a', image: 'a' }] } };
    expect(await status(agent, LEASES, { method: 'POST', body: { metadata } })).toBe(403);
    expect(await status(agent, `/api/v1/namespaces/${AGENTS}/pods`, { method: 'POST', body: pod })).toBe(403);
    expect(await status(agent, `${LEASES}/${A}`, { method: 'DELETE' })).toBe(403);
    for (const path of [`/api/v1/namespaces/${AGENTS}/secrets`, `/api/v1/namespaces/${AGENTS}/pods`, '/api/v1/secrets'])
      expect(await status(agent, path)).toBe(403);
    expect(await status(agent, '/apis/kubevirt.io/v1/virtualmachines')).toBe(403);
    const patch = { spec: { paused: true } };
    expect(await status(agent, `${POOLS}/namespaces/red/ippools/one`, { method: 'PATCH', body: patch })).toBe(403);
  });

  it('from a chart (topology unified) leads by its own Lease only, and reads pools', async () => {
    const chart = await cluster.open('chart', await serviceAccountToken(admin, AGENTS, 'vm-dhcp-controller-agent'));
    expect(await status(chart, `${LEASES}/vm-dhcp-agents`)).toBe(200);
    expect(await status(chart, `${LEASES}/${A}`)).toBe(403);
    expect(await status(chart, LEASES, { method: 'POST', body: { metadata: { name: 'x', namespace: AGENTS } } })).toBe(403);
    expect(await status(chart, `${POOLS}/ippools`)).toBe(200);
    expect(await status(chart, `${POOLS}/namespaces/red/ippools/one`, { method: 'PATCH', body: {} })).toBe(403);
  });
});

describe('an agent that lies in its own Lease, always against a simulated API server', () => {
  it('ends no service of another group, does not decide which agents serve there, and blocks no deletion of a pool', async () => {
    const agent = await cluster.open('agent-liar', await serviceAccountToken(admin, AGENTS, A));
    await createPool('blue/six', 'blue');
    await configuredOf(B, ['blue/six', 'blue/three']);
    const mine = (await lease(A)) as KubernetesObject;
    const report = JSON.stringify({ 'blue/three': { serving: true }, 'blue/six': { serving: true } });
    const annotations = { ...mine.metadata.annotations, [AGENT_REPORT_ANNOTATION]: report };
    const spec = { holderIdentity: 'liar_1', leaseDurationSeconds: 60, renewTime: '2026-01-01T00:00:00.000000Z' };
    const body = { ...mine, metadata: { ...mine.metadata, annotations }, spec };
    expect(await status(agent, `${LEASES}/${A}`, { method: 'PUT', body })).toBe(200);
    await admin.delete('IPPool', 'blue/six');
    // What is written after the lie was read shows what the controller makes of it.
    await configuredOf(B, ['blue/three']);
    await waitFor('the pool to go', async () => (await admin.get('IPPool', 'blue/six')) === undefined);
    expect((await lease(B))?.metadata.annotations?.[SUSPENDED_POOLS_ANNOTATION] ?? '').not.toContain('blue/three');
    expect(readText((await admin.get('IPPool', 'blue/three'))?.status, 'servedBy')).toBeUndefined();
    const now = (await lease(A)) as KubernetesObject;
    const honest = { ...now, spec: { ...(now.spec as object), holderIdentity: '' } };
    expect(await status(agent, `${LEASES}/${A}`, { method: 'PUT', body: honest })).toBe(200);
  });
});

describe('the controller, always against a simulated API server', () => {
  let access: ClusterAccess;

  beforeAll(async () => {
    access = await cluster.open('as-controller', await serviceAccountToken(admin, CONTROLLER_NAMESPACE, 'vm-dhcp-controller'));
  });

  it('creates no Deployments and no pods beside Harvester’s own, and reads no Secrets', async () => {
    const metadata = { name: 'mine' };
    const spec = {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
    };
    for (const namespace of [CONTROLLER_NAMESPACE, 'kube-system', 'red']) {
      const body = { metadata, spec };
      expect(await status(access, `${DEPLOYMENTS}/${namespace}/deployments`, { method: 'POST', body })).toBe(403);
      expect(await status(access, `/api/v1/namespaces/${namespace}/secrets`)).toBe(403);
      const pod = { metadata, spec: spec.template.spec };
      expect(await status(access, `/api/v1/namespaces/${namespace}/pods`, { method: 'POST', body: pod })).toBe(403);
    }
    expect(await status(access, `/api/v1/namespaces/${AGENTS}/secrets`)).toBe(403);
  });

  it('reads and replaces the definitions of its own kinds, and of no others', async () => {
    const path = (name: string) => `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
    const replace = async (name: string) =>
      await status(access, path(name), {
        method: 'PUT',
        body: (await admin.get('CustomResourceDefinition', name)) as object,
      });
    expect(await replace('ippools.network.harvesterhci.io')).toBe(200);
    expect(await replace('virtualmachines.kubevirt.io')).toBe(403);
    expect(await status(access, path('virtualmachines.kubevirt.io'))).toBe(403);
  });

  it('grants no right that it does not have: no Role that reads Secrets, no binding to cluster-admin', async () => {
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
    const role = { metadata: { name: 'more' }, rules };
    expect(await status(access, `${RBAC}/red/roles`, { method: 'POST', body: role })).toBe(403);
    const binding = {
      metadata: { name: 'more' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: A, namespace: AGENTS }],
    };
    expect(await status(access, `${RBAC}/red/rolebindings`, { method: 'POST', body: binding })).toBe(403);
  });
});

describe('rights, always against a simulated API server', () => {
  it('are created before the agents are configured with a pool, and deleted with it', async () => {
    const given: string[] = [];
    await createPool('blue/four', 'red');
    const configured = configuredOf(A, ['blue/four', 'default/two', 'red/one']);
    await waitFor('the right', async () => {
      // In this order: a right that comes between the two looks was there before what is looked at first.
      const deployment = (await admin.get('Deployment', `${AGENTS}/${A}`)) as KubernetesObject;
      const role = await admin.get('Role', `blue/${A}`);
      if (configuredPools(deployment, 'agent').has('blue/four'))
        given.push(role === undefined ? 'configured first' : 'granted first');
      return role !== undefined && given.length > 0;
    });
    expect(new Set(given)).toEqual(new Set(['granted first']));
    await configured;
    const agent = await cluster.open('agent-again', await serviceAccountToken(admin, AGENTS, A));
    expect(await status(agent, pathOf('blue/four'))).toBe(200);
    await admin.delete('IPPool', 'blue/four');
    await waitFor('the right to go', async () => (await admin.get('Role', `blue/${A}`)) === undefined);
    await waitFor('its binding to go', async () => (await admin.get('RoleBinding', `blue/${A}`)) === undefined);
    expect(await status(agent, pathOf('blue/four'))).toBe(403);
    expect(await status(agent, pathOf('red/one'))).toBe(200);
  });

  it('that another client removes or widens are restored', async () => {
    await admin.delete('RoleBinding', `red/${A}`);
    await admin.delete('ServiceAccount', `${AGENTS}/${A}`);
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
    await admin.patch('Role', `red/${A}`, { rules });
    await admin.waitForObject('Role', `red/${A}`, (role) => JSON.stringify(role).includes('"resourceNames":["one"]'));
    await waitFor('the binding', () => admin.get('RoleBinding', `red/${A}`));
    await waitFor('the ServiceAccount', () => admin.get('ServiceAccount', `${AGENTS}/${A}`));
  });

  it('that cannot be granted are reported on the pool, and do not affect the other pools of the group', async () => {
    const metadata = { namespace: 'kube-public', name: A };
    await admin.create({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata, ...{ rules: [] } });
    await createPool('kube-public/five', 'red');
    const pool = await admin.waitForObject('IPPool', 'kube-public/five', ({ status: is }) =>
      readConditions(is).some(({ type, reason }) => type === 'Registered' && reason === 'AgentRightsMissing'),
    );
    expect(readConditions(pool.status).find(({ type }) => type === 'Registered')?.message).toContain(
      `there is a Role kube-public/${A} without the label`,
    );
    const other = await admin.get('IPPool', 'red/one');
    expect(readConditions(other?.status).find(({ type }) => type === 'Registered')).toMatchObject({ status: 'True' });
    await admin.delete('Role', `kube-public/${A}`);
    await configuredOf(A, ['default/two', 'kube-public/five', 'red/one']);
    await admin.delete('IPPool', 'kube-public/five');
  });

  it('are given to agents that ran under a shared ServiceAccount before they run under their own', async () => {
    await controller.stop();
    await startController('--service-account-name', 'shared');
    const accountOf = (deployment: KubernetesObject) =>
      readText(readField(deployment.spec, 'template', 'spec'), 'serviceAccountName');
    await admin.waitForObject('Deployment', `${AGENTS}/${A}`, (deployment) => accountOf(deployment) === 'shared');
    for (const namespace of [AGENTS, 'red', 'default']) await admin.delete('RoleBinding', `${namespace}/${A}`);
    await controller.stop();
    await startController();
    await waitFor('its own', async () => {
      const deployment = (await admin.get('Deployment', `${AGENTS}/${A}`)) as KubernetesObject;
      const bindings = await Promise.all([AGENTS, 'red', 'default'].map((one) => admin.get('RoleBinding', `${one}/${A}`)));
      if (accountOf(deployment) !== A) return false;
      expect(bindings.every((binding) => binding !== undefined)).toBe(true);
      return true;
    });
  });

  it('are deleted with the last pool of a group', async () => {
    await admin.delete('IPPool', 'blue/three');
    await waitFor('the group to go', async () => (await admin.get('Deployment', `${AGENTS}/${B}`)) === undefined);
    await waitFor('its rights to go', async () => {
      const objects = await Promise.all(['ServiceAccount', 'Role', 'RoleBinding'].map((kind) => admin.list(kind)));
      return !objects.flat().some(({ metadata }) => metadata.name === B);
    });
  });

  it('stay with the agents of a group that moves to another namespace, and are deleted after them', async () => {
    await controller.stop();
    await prepareMove('second');
    const old = await cluster.open('old-agent', await serviceAccountToken(admin, AGENTS, A));
    await startController('--namespace', 'second', '--previous-namespace', AGENTS);
    await admin.waitForObject('Deployment', `second/${A}`, (deployment) => configuredPools(deployment, 'agent').size === 2);
    const agent = await cluster.open('new-agent', await serviceAccountToken(admin, 'second', A));
    const leaseIn = (namespace: string) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${A}`;
    for (const pool of ['red/one', 'default/two']) {
      expect(await status(old, pathOf(pool))).toBe(200);
      expect(await status(agent, pathOf(pool))).toBe(200);
    }
    expect(await status(old, leaseIn(AGENTS))).toBe(200);
    expect(await status(agent, leaseIn('second'))).toBe(200);
    // The new agents could serve; the Deployment of the old ones goes.
    const report = Object.fromEntries(['red/one', 'default/two'].map((key) => [key, { serving: false, reason: 'Suspended' }]));
    await admin.patch('Lease', `second/${A}`, {
      metadata: { annotations: { 'network.harvesterhci.io/agent-report': JSON.stringify(report) } },
      spec: { holderIdentity: 'new_1', leaseDurationSeconds: 600, renewTime: '2026-01-01T00:00:00.000000Z' },
    });
    for (const kind of ['Deployment', 'ServiceAccount', 'RoleBinding', 'Role'])
      await waitFor(`${kind} ${A}`, async () => (await admin.get(kind, `${AGENTS}/${A}`)) === undefined);
    await waitFor('the right to red/one', async () => (await status(old, pathOf('red/one'))) !== 200);
    expect(await status(agent, pathOf('red/one'))).toBe(200);
  });
});

/** What is installed in the agents' namespace, for another one; and the rights to take over from the first. */
async function prepareMove(namespace: string): Promise<void> {
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const moved = (object: KubernetesObject, to: string) => ({ ...object, metadata: { ...object.metadata, namespace: to } });
  for (const object of installedFor('controller'))
    if (object.metadata.namespace === AGENTS) await admin.create(moved(object, namespace));
  for (const object of readYaml(join(CLUSTER_EXAMPLES, 'takeover.yaml'))) await admin.create(moved(object, AGENTS));
}
