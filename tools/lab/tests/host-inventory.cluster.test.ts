/** The plans of bare-metal hosts, carried out on an API server: what it stores is what was planned, and the next plan is empty. */

import {
  boundAddresses,
  type HealthReport,
  type HostLease,
  type HostStatusAction,
  mergeHealth,
  OperationAttempts,
  type OperationStep,
  planHostInventory,
  planHostOperations,
  readClusterAgent,
  readHost,
} from '@vmdhcp/bare-metal';
import { HostAgent, type HostTarget } from '@vmdhcp/bare-metal/agent';
import { toCustomResourceDefinition } from '@vmdhcp/ippool-api';
import { bareMetalResources } from '@vmdhcp/ippool-api/bare-metal';
import {
  type EventObject,
  EventRecorder,
  formatTime,
  type KubernetesObject,
  SharedCaches,
  type WriteResult,
} from '@vmdhcp/kube-runtime';
import { ApiObjectClient, systemClock } from '@vmdhcp/kube-runtime/node';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PrivateCluster, waitFor } from '../src/index.js';

let cluster: PrivateCluster;

beforeAll(async () => {
  cluster = await PrivateCluster.start([]);
  for (const one of bareMetalResources)
    await cluster.admin.create(toCustomResourceDefinition(one) as unknown as KubernetesObject);
  for (const { plural } of bareMetalResources)
    await waitFor(`${plural} to be served`, async () => (await list(plural).catch(() => undefined)) !== undefined);
  await create('clusteragents', {
    kind: 'ClusterAgent',
    metadata: { name: 'rack' },
    spec: {
      agentYaml: { underlayInterface: 'bmc' },
      endpoint: { secretName: 'bmc', secretNamespace: 'default' },
      feature: {
        dhcpServerConfig: {
          dhcpServerInterface: 'net1',
          subnet: '10.0.0.0/24',
          ipRange: '10.0.0.10-10.0.0.99',
          gateway: '10.0.0.1',
        },
      },
    },
  });
});

afterAll(() => cluster.close());

beforeEach(async () => {
  for (const plural of ['hostoperations', 'hostendpoints', 'hoststatuses'])
    for (const { metadata } of await list(plural)) await clientOf(plural).delete(metadata.name, metadata.uid ?? '');
});

function clientOf(plural: string): ApiObjectClient<KubernetesObject> {
  const resource = { group: 'bmc.spidernet.io', version: 'v1beta1', plural, namespaced: false };
  return new ApiObjectClient(cluster.admin.connection, resource);
}

async function list(plural: string): Promise<readonly KubernetesObject[]> {
  return (await clientOf(plural).list({ limit: 1_000 })).items;
}

function must<Kind>(result: WriteResult<Kind>): Kind {
  if (!result.ok) throw new Error(`${result.reason}: ${result.message}`);
  return result.object;
}

async function create(plural: string, object: KubernetesObject): Promise<KubernetesObject> {
  return must(await clientOf(plural).create({ apiVersion: 'bmc.spidernet.io/v1beta1', ...object }));
}

const lease = (last: number): HostLease => ({ ipAddress: `10.0.0.${last}`, macAddress: `02:00:00:00:00:${last.toString(16)}` });

async function factsOf(leases: readonly HostLease[] | undefined) {
  const [agent] = await list('clusteragents');
  if (agent === undefined) throw new Error('no ClusterAgent');
  return {
    clusterAgent: readClusterAgent(agent),
    clusterAgents: ['rack'],
    leases,
    endpoints: await list('hostendpoints'),
    hostStatuses: await list('hoststatuses'),
    nowMs: 1_767_225_600_000,
  };
}

async function carryOut(action: HostStatusAction): Promise<void> {
  const client = clientOf('hoststatuses');
  const { name } = action;
  if (action.kind === 'create') {
    must(await client.create(action.object));
    must(await client.patchStatus({ key: name }, { status: action.status }));
  } else if (action.kind === 'patch')
    must(await client.patch({ key: name, resourceVersion: action.resourceVersion }, action.patch));
  else if (action.kind === 'patch-status') must(await client.patchStatus({ key: name }, action.patch));
  else must(await client.delete(name, action.uid ?? '', action.resourceVersion));
}

/** Plans and carries out; @returns what was done. A second plan must be empty. */
async function reconcile(leases: readonly HostLease[] | undefined): Promise<string[]> {
  const { actions } = planHostInventory(await factsOf(leases));
  for (const action of actions) await carryOut(action);
  expect(planHostInventory(await factsOf(leases)).actions).toEqual([]);
  return actions.map(({ kind, name }) => `${kind} ${name}`);
}

describe('hosts', () => {
  it('that come, go, return and are edited', async () => {
    expect(await reconcile([lease(10), lease(11)])).toEqual(['create rack-10-0-0-10', 'create rack-10-0-0-11']);
    expect(await reconcile([lease(11)])).toEqual(['patch rack-10-0-0-10', 'patch-status rack-10-0-0-10']);
    expect(boundAddresses(await factsOf([])).bindings.map(({ ipAddress }) => ipAddress)).toEqual(['10.0.0.10', '10.0.0.11']);
    expect(await reconcile([lease(10), lease(11)])).toEqual(['patch rack-10-0-0-10', 'patch-status rack-10-0-0-10']);
    const client = clientOf('hoststatuses');
    must(await client.patch({ key: 'rack-10-0-0-10' }, { metadata: { labels: null } }));
    must(await client.patchStatus({ key: 'rack-10-0-0-11' }, { status: null }));
    expect(await reconcile([lease(10), lease(11)])).toEqual(['patch rack-10-0-0-10', 'patch-status rack-10-0-0-11']);
    must(await client.patch({ key: 'rack-10-0-0-10' }, { metadata: { annotations: { 'bmc.spidernet.io/bound-to': 'none' } } }));
    expect(await reconcile([lease(11)])).toEqual(['delete rack-10-0-0-10']);
  });

  it('that were created only in part are completed', async () => {
    const [action] = planHostInventory(await factsOf([lease(10)])).actions;
    if (action?.kind !== 'create') throw new Error('a new client has a new object');
    await clientOf('hoststatuses').create(action.object);
    expect(await reconcile([lease(10)])).toEqual(['patch-status rack-10-0-0-10']);
    expect(readHost((await list('hoststatuses'))[0] as KubernetesObject)).toMatchObject({
      clusterAgent: 'rack',
      macAddress: '02:00:00:00:00:0a',
      isActive: true,
    });
  });

  it('with a HostEndpoint, which adopts a learned one; the object is deleted with it', async () => {
    await reconcile([lease(10)]);
    await create('hostendpoints', { kind: 'HostEndpoint', metadata: { name: 'web' }, spec: { ipAddr: '10.0.0.10' } });
    expect(await reconcile([lease(10)])).toEqual(['patch rack-10-0-0-10', 'patch-status rack-10-0-0-10']);
    const [endpoint] = await list('hostendpoints');
    await clientOf('hostendpoints').delete('web', endpoint?.metadata.uid ?? '');
    // By the garbage collector, or by the plan, whichever is first.
    await waitFor('the object to be gone', async () => {
      for (const action of planHostInventory(await factsOf([])).actions) await carryOut(action).catch(() => undefined);
      return (await list('hoststatuses')).length === 0;
    });
  });

  it('with health, information and a log: one write for a change, none without', async () => {
    await reconcile([lease(10)]);
    const log = Array.from({ length: 3 }, (_, id) => ({
      id: String(id),
      time: '',
      severity: id === 1 ? 'Critical' : 'OK',
      message: `entry ${id}`,
    }));
    const poll = async (report: Parameters<typeof mergeHealth>[0]['report']) => {
      const [hostStatus] = await list('hoststatuses');
      const { events, patch } = mergeHealth({ hostStatus: hostStatus as KubernetesObject, report, nowMs: 1_767_225_660_000 });
      if (patch !== undefined) must(await clientOf('hoststatuses').patchStatus({ key: 'rack-10-0-0-10' }, patch));
      return [events.length, patch !== undefined];
    };
    const healthy = { kind: 'healthy', info: { PowerState: 'On', BiosVersion: '1' }, log } as const;
    expect(await poll(healthy)).toEqual([4, true]);
    expect(await poll(healthy)).toEqual([0, false]);
    expect(await poll({ kind: 'unhealthy', message: 'no route to host' })).toEqual([1, true]);
    expect((await list('hoststatuses'))[0]?.status).toMatchObject({
      healthy: false,
      info: {},
      log: { totalLogAccount: 3, warningLogAccount: 1 },
    });
    expect(await poll({ kind: 'unhealthy', message: 'no route to host' })).toEqual([0, false]);
    expect(await poll(healthy)).toEqual([1, true]);
    expect(await reconcile([lease(10)])).toEqual([]);
  });
});

describe('operations', () => {
  interface Agent {
    readonly runId: string;
    readonly attempts: OperationAttempts;
  }
  const start = (runId: string): Agent => ({ runId, attempts: new OperationAttempts() });
  const nowMs = () => Date.now();

  async function planFor(agent: Agent, operations?: readonly KubernetesObject[]): Promise<readonly OperationStep[]> {
    const facts = {
      clusterAgent: 'rack',
      operations: operations ?? (await list('hostoperations')),
      hostStatuses: await list('hoststatuses'),
    };
    return planHostOperations({ ...facts, ...agent, nowMs: nowMs() }).steps;
  }

  /** @returns false: another agent was first. */
  async function record(step: OperationStep | undefined): Promise<boolean> {
    if (step === undefined || step.kind === 'act') throw new Error(`nothing to record: ${step?.kind}`);
    return (await clientOf('hostoperations').patchStatus({ key: step.name, resourceVersion: step.resourceVersion }, step.patch))
      .ok;
  }

  beforeEach(async () => {
    await reconcile([lease(10)]);
    must(await clientOf('hoststatuses').patchStatus({ key: 'rack-10-0-0-10' }, { status: { healthy: true } }));
    await create('hostoperations', {
      kind: 'HostOperation',
      metadata: { name: 'off' },
      spec: { action: 'ForceOff', hostStatusName: 'rack-10-0-0-10' },
    });
  });

  const status = async () => (await list('hostoperations'))[0]?.status;

  it('are run by only one of two agents that see them, and its result is recorded', async () => {
    const [one, other] = [start('one'), start('other')];
    const seen = await list('hostoperations');
    const [first, second] = [(await planFor(one, seen))[0], (await planFor(other, seen))[0]];
    expect([await record(first), await record(second)]).toEqual([true, false]);
    expect(await status()).toMatchObject({ status: 'pending', startedBy: 'one', clusterAgent: 'rack', ipAddr: '10.0.0.10' });
    expect(await planFor(other)).toEqual([]);
    const [act] = await planFor(one);
    expect(act).toMatchObject({
      kind: 'act',
      action: 'ForceOff',
      host: { address: '10.0.0.10', connection: { secretName: 'bmc' } },
    });
    const { uid = '' } = act?.kind === 'act' ? act : {};
    one.attempts.begin(uid, nowMs());
    expect(await planFor(one)).toEqual([]);
    one.attempts.end(uid, { isSuccess: true, message: 'HTTP 204' });
    expect(await record((await planFor(one))[0])).toBe(true);
    expect(await status()).toMatchObject({ status: 'success', message: 'HTTP 204' });
    expect(await planFor(one)).toEqual([]);
  });

  it('whose agent died in the middle fails, and is not repeated', async () => {
    expect(await record((await planFor(start('dead')))[0])).toBe(true);
    must(await clientOf('hostoperations').patchStatus({ key: 'off' }, { status: { lastUpdateTime: '2026-01-01T00:00:00Z' } }));
    expect(await record((await planFor(start('next')))[0])).toBe(true);
    expect(await status()).toMatchObject({
      status: 'failure',
      message: expect.stringContaining('It is not known whether the host carried it out') as string,
    });
    expect(await planFor(start('third'))).toEqual([]);
  });
});

describe('an agent', () => {
  const EVENTS = { group: '', version: 'v1', plural: 'events', namespaced: true };
  const SECRETS = { group: '', version: 'v1', plural: 'secrets', namespaced: true };
  const log = [{ id: '1', time: '', severity: 'Critical', message: 'fan 1 failed' }];
  let leases: HostLease[] = [];
  let runs = 0;
  /** What management controllers were asked. */
  const asked: string[] = [];
  let health: (target: HostTarget) => HealthReport = () => ({ kind: 'healthy', info: {}, log });

  function lead(pollIntervalMs: number): HostAgent {
    const { connection } = cluster.admin;
    const settings = { clock: systemClock, random: Math.random };
    const agent = new HostAgent({
      ...settings,
      clusterAgentName: 'rack',
      pollIntervalMs,
      runId: `run-${++runs}`,
      wallTimeMs: Date.now,
      caches: new SharedCaches({
        clock: systemClock,
        backOff: { firstMs: 50, mostMs: 1_000, random: Math.random },
        open: (resource) => new ApiObjectClient<KubernetesObject>(connection, resource),
      }),
      isLeading: () => true,
      hostStatuses: clientOf('hoststatuses'),
      hostOperations: clientOf('hostoperations'),
      events: new EventRecorder({
        ...settings,
        client: new ApiObjectClient<EventObject>(connection, EVENTS),
        now: () => formatTime(Date.now()),
        component: 'agent',
        instance: 'one',
      }),
      leases: () => leases,
      onBindings: () => undefined,
      managementControllers: {
        read: async (target) => {
          asked.push(`read ${target.address} ${String(target.secret?.['password'])}`);
          return health(target);
        },
        operate: async (target, action) => {
          asked.push(`${action} ${target.address}`);
          return { isSuccess: true, message: 'HTTP 204' };
        },
      },
      observer: { observe: () => undefined },
    });
    agent.start();
    return agent;
  }

  const putSecret = async (password: string) => {
    const client = new ApiObjectClient<KubernetesObject>(cluster.admin.connection, SECRETS);
    const object = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'default', name: 'bmc', labels: { 'bmc.spidernet.io/host-credentials': 'true' } },
      data: { username: 'YQ==', password },
    };
    const created = await client.create(object);
    if (!created.ok) must(await client.patch({ key: 'default/bmc' }, { data: object.data }));
  };
  const hostStatus = async () => (await list('hoststatuses'))[0];
  const until = (what: string, isSo: (status: object) => boolean) =>
    waitFor(what, async () => isSo(((await hostStatus())?.status as object | undefined) ?? {}));

  it('keeps the object of a lease, polls it, operates it once, and hands over without a write', async () => {
    await putSecret('b25l');
    leases = [lease(10)];
    const first = lead(60_000);
    await until('the host to be healthy', (status) => 'healthy' in status && status.healthy === true);
    expect(asked).toEqual(['read 10.0.0.10 b25l']);
    await putSecret('dHdv');
    await waitFor('a poll with the other password', async () => asked.at(-1) === 'read 10.0.0.10 dHdv');
    await create('hostoperations', {
      kind: 'HostOperation',
      metadata: { name: 'boot' },
      spec: { action: 'PxeReboot', hostStatusName: 'rack-10-0-0-10' },
    });
    const operation = async () => (await list('hostoperations'))[0]?.status as { status?: string } | undefined;
    await waitFor('the operation to end', async () => (await operation())?.status === 'success');
    expect(asked.filter((one) => one.startsWith('PxeReboot'))).toEqual(['PxeReboot 10.0.0.10']);
    await first.stop();
    const before = await hostStatus();
    const second = lead(200);
    health = () => ({ kind: 'healthy', info: { PowerState: 'On' }, log });
    await until('a poll of the next leader', (status) => JSON.stringify(status).includes('PowerState'));
    leases = [];
    second.leasesChanged();
    await until('the lease to have ended', (status) => JSON.stringify(status).includes('"activeDhcpClient":false'));
    await second.stop();
    const { events, ofHost } = await waitFor('four Events', async () => {
      const items = (await new ApiObjectClient<EventObject>(cluster.admin.connection, EVENTS).list({ limit: 1_000 })).items;
      const found = items.filter(({ involvedObject }) => involvedObject.uid === before?.metadata.uid);
      return found.length >= 4 ? { events: items, ofHost: found } : undefined;
    });
    expect(ofHost.map(({ reason }) => reason).toSorted()).toEqual(['BMCLogEntry', 'HostDiscovered', 'HostHealthy', 'LeaseEnded']);
    expect(JSON.stringify([events, await hostStatus()])).not.toContain('dHdv');
  });
});
