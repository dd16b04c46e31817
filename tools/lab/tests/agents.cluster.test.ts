/**
 * The agents' Deployments and Leases against an API server: made, kept, on hold, adopted, migrated to, and gone. No pods run here; the
 * test writes the reports of agents into their Lease.
 */
import { parseSuspendedPools } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readConditions, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ipPool, type LabProcess, networkAttachment, TestCluster, TestServer, waitFor } from '../src/index.js';

const GROUP = 'vm-dhcp-agent-1';
const LABEL = 'network.harvesterhci.io/vm-dhcp-controller';
const GROUP_LABEL = 'network.harvesterhci.io/agent-group';
const SUSPENDED = 'network.harvesterhci.io/suspended-pools';
const HOLD = 'network.harvesterhci.io/hold-ippool-agent-upgrade';

let server: TestServer;
let cluster: TestCluster;
let controller: LabProcess;
let renewals = 0;

beforeAll(async () => {
  server = await TestServer.open();
});

beforeEach(async () => {
  cluster = await TestCluster.open(server);
});

afterEach(() => cluster.close());

afterAll(() => server.close());

const key = (name: string) => `${cluster.namespace}/${name}`;

async function start(image = 'example.com/vmdhcp-agent:v1'): Promise<void> {
  controller = await cluster.startController('--agent-replicas', '0', '--image', image);
}

/** Has our kinds defined while no controller is there. */
async function defineKinds(): Promise<void> {
  await start();
  await controller.stop();
}

async function createPool(name = 'pool', annotations: Readonly<Record<string, string>> = {}): Promise<void> {
  await cluster.access.create(networkAttachment(key(name)));
  await cluster.access.create(ipPool(key(name), { annotations }));
}

function deployment(name = GROUP): Promise<KubernetesObject> {
  return waitFor(`Deployment ${name}`, () => cluster.access.get('Deployment', key(name)));
}

function imageOf(object: KubernetesObject | undefined): string | undefined {
  return readText(readList(object?.spec, 'template', 'spec', 'containers')[0], 'image');
}

async function pool(matches: (object: KubernetesObject) => boolean): Promise<KubernetesObject> {
  return cluster.access.waitForObject('IPPool', key('pool'), matches);
}

const hasCondition = (type: string, reason: string) => (object: KubernetesObject) =>
  readConditions(object.status).some((condition) => condition.type === type && (condition.reason ?? '') === reason);

/** The report that the leader of the group would write. */
async function lead(report: Readonly<Record<string, unknown>>): Promise<void> {
  const annotations = { 'network.harvesterhci.io/agent-report': JSON.stringify(report) };
  const spec = {
    holderIdentity: 'agent-1_x',
    leaseDurationSeconds: 30,
    renewTime: new Date(Date.now() + ++renewals).toISOString().replace('Z', '000Z'),
  };
  const existing = await cluster.access.get('Lease', key(GROUP));
  if (existing !== undefined) await cluster.access.patch('Lease', key(GROUP), { metadata: { annotations }, spec });
  else {
    const labels = { [LABEL]: 'agent', [GROUP_LABEL]: GROUP };
    const metadata = { namespace: cluster.namespace, name: GROUP, labels, annotations };
    await cluster.access.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
  }
}

describe('the agents’ Deployments', () => {
  it('whose pods cannot be created report why on the pool, with the remedy, until they can', async () => {
    const parameters = ['--agent-replicas', '1', '--image', 'example.com/vmdhcp-agent:v1', '--service-account-name', 'nosuch'];
    controller = await cluster.startController(...parameters);
    await createPool();
    const { status } = await pool(hasCondition('AgentReady', 'FailedCreate'));
    const { message = '' } = readConditions(status).find(({ type }) => type === 'AgentReady') ?? {};
    expect(message).toContain(`error looking up service account ${key('nosuch')}: serviceaccount "nosuch" not found`);
    expect(message).toContain(`create the ServiceAccount ${key('nosuch')}`);
    await waitFor('the Event', async () =>
      (await cluster.access.list('Event')).some(
        (event) => readField(event, 'involvedObject', 'name') === 'pool' && readField(event, 'reason') === 'FailedCreate',
      ),
    );
    const metadata = { namespace: cluster.namespace, name: 'nosuch' };
    await cluster.access.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    // A ReplicaSet tries again later and later.
    await waitFor('the pod', async () =>
      (await cluster.access.list('Pod')).some((pod) => pod.metadata.namespace === cluster.namespace),
    );
    await pool((object) => !hasCondition('AgentReady', 'FailedCreate')(object));
  });

  it('are made, configured with pools, and reported on the pool; fields of others stay', async () => {
    await start();
    await createPool();
    const { metadata, spec } = await deployment();
    expect(metadata.labels).toMatchObject({ [LABEL]: 'agent', [GROUP_LABEL]: GROUP });
    expect(readField(spec, 'template', 'metadata', 'annotations', 'k8s.v1.cni.cncf.io/networks')).toMatch(
      new RegExp(`^${key('pool')}@net`),
    );
    const { status, metadata: poolMetadata } = await pool(
      ({ status: now }) => readText(now, 'agentDeploymentRef', 'uid') === metadata.uid,
    );
    expect(readField(status, 'agentDeploymentRef')).toMatchObject({ name: GROUP, image: 'example.com/vmdhcp-agent:v1' });
    expect(poolMetadata.finalizers).toContain('wrangler.cattle.io/vm-dhcp-ippool-controller');

    const restartedAt = { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } };
    await cluster.access.patch('Deployment', key(GROUP), { spec: restartedAt });
    await cluster.access.patch('Deployment', key(GROUP), { spec: { template: { spec: { terminationGracePeriodSeconds: 99 } } } });
    const healed = await cluster.access.waitForObject(
      'Deployment',
      key(GROUP),
      (object) => readField(object.spec, 'template', 'spec', 'terminationGracePeriodSeconds') === 10,
    );
    expect(readField(healed.spec, 'template', 'metadata', 'annotations', 'kubectl.kubernetes.io/restartedAt')).toBe('now');
    const { generation } = healed.metadata;
    await controller.stop();
    await start();
    await createPool('other');
    const configured = await cluster.access.waitForObject('Deployment', key(GROUP), (object) =>
      JSON.stringify(object.spec).includes(key('other')),
    );
    expect(configured.metadata.generation, 'the restart wrote nothing, the pool one change').toBe((generation ?? 0) + 1);
  });

  it('keep an image on hold, even if they are created again, and get the new one once it is not on hold', async () => {
    await start();
    await createPool('pool', { [HOLD]: '' });
    const { metadata } = await deployment();
    await pool(({ status }) => readText(status, 'agentDeploymentRef', 'uid') === metadata.uid);
    await controller.stop();
    await start('example.com/vmdhcp-agent:v2');
    await cluster.access.delete('Deployment', key(GROUP));
    const again = await cluster.access.waitForObject('Deployment', key(GROUP), (object) => object.metadata.uid !== metadata.uid);
    expect(imageOf(again)).toBe('example.com/vmdhcp-agent:v1');
    await pool(({ status }) => readText(status, 'agentDeploymentRef', 'uid') === again.metadata.uid);
    await cluster.access.patch('IPPool', key('pool'), { metadata: { annotations: { [HOLD]: null } } });
    await cluster.access.waitForObject('Deployment', key(GROUP), (object) => imageOf(object) === 'example.com/vmdhcp-agent:v2');
  });

  it.each([
    ['ours: adopted', { [LABEL]: 'agent', [GROUP_LABEL]: GROUP }, { [LABEL]: 'agent', [GROUP_LABEL]: GROUP }, ''],
    [
      'ours with another selector: configured',
      { [LABEL]: 'agent', [GROUP_LABEL]: GROUP, app: 'x' },
      { app: 'x' },
      'AgentSelectorMismatch',
    ],
    ['of another owner: configured', { app: 'x' }, { app: 'x' }, 'AgentDeploymentConflict'],
  ])('one that is there already, %s', async (_, labels, matchLabels, reason) => {
    await defineKinds();
    await cluster.access.create({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: cluster.namespace, name: GROUP, labels },
      spec: {
        replicas: 0,
        selector: { matchLabels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'agent', image: 'old' }] } },
      },
    });
    await createPool();
    await start();
    await pool(hasCondition('Registered', reason));
    expect(imageOf(await deployment())).toBe(reason === '' ? 'example.com/vmdhcp-agent:v1' : 'old');
    if (reason === '') return;
    const event = await waitFor('an Event', async () =>
      (await cluster.access.list('Event')).find((one) => readField(one, 'reason') === reason),
    );
    expect(readText(event, 'involvedObject', 'name')).toBe('pool');
  });

  it('replace a pod of an earlier version when they are ready to serve, and not before', async () => {
    const labels = {
      [LABEL]: 'agent',
      'network.harvesterhci.io/ippool-namespace': cluster.namespace,
      'network.harvesterhci.io/ippool-name': 'pool',
    };
    await defineKinds();
    await createPool();
    await cluster.access.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: cluster.namespace, name: 'old-agent', labels },
      spec: { schedulerName: 'none', containers: [{ name: 'agent', image: 'old' }] },
    });
    await start();
    await deployment();
    const suspended = await cluster.access.waitForObject('Lease', key(GROUP), ({ metadata }) =>
      Boolean(metadata.annotations?.[SUSPENDED]),
    );
    expect([...parseSuspendedPools(suspended.metadata.annotations?.[SUSPENDED])]).toEqual([key('pool')]);
    expect(await cluster.access.get('Pod', key('old-agent'))).toBeDefined();
    await lead({ [key('pool')]: { serving: false, reason: 'Suspended' } });
    await waitFor('the pod to go', async () => (await cluster.access.get('Pod', key('old-agent'))) === undefined);
    await cluster.access.waitForObject(
      'Lease',
      key(GROUP),
      ({ metadata }) => parseSuspendedPools(metadata.annotations?.[SUSPENDED]).size === 0,
    );
    await lead({ [key('pool')]: { serving: true } });
    await pool(({ status }) => readText(status, 'servedBy') === 'agent-1');
  });

  it('are deleted with their last pool, even if it was deleted while no controller was running', async () => {
    await start();
    await createPool();
    const { metadata } = await deployment();
    await pool(({ status }) => readText(status, 'agentDeploymentRef', 'uid') === metadata.uid);
    await controller.stop();
    await cluster.access.delete('IPPool', key('pool'));
    expect(await cluster.access.get('IPPool', key('pool')), 'agents may still serve it').toBeDefined();
    await start();
    await waitFor('the Deployment to go', async () => (await cluster.access.get('Deployment', key(GROUP))) === undefined);
    await waitFor('the pool to go', async () => (await cluster.access.get('IPPool', key('pool'))) === undefined);
  });
});
