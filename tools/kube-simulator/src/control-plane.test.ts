import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ApiObject } from './api-object.js';
import type { PodProcess } from './controllers/run-pod.js';
import type { Pod } from './controllers/workload-kinds.js';
import { type KubeSimulator, type KubeSimulatorOptions, startKubeSimulator } from './kube-simulator.js';

let simulator: KubeSimulator;

afterEach(async () => {
  await simulator.stop();
});

const start = async (options: KubeSimulatorOptions = {}): Promise<KubeSimulator> => {
  simulator = await startKubeSimulator({
    tls: false,
    onControllerError: (error) => {
      throw error;
    },
    ...options,
  });
  return simulator;
};

const waitFor = <T>(check: () => T): Promise<T> => vi.waitFor(check, { timeout: 5_000, interval: 10 });

const pods = (): readonly Pod[] => simulator.client.list({ resource: 'pods', namespace: 'default' }) as readonly Pod[];
const deployment = (name = 'agent'): ApiObject | undefined =>
  simulator.client.get({ group: 'apps', resource: 'deployments', namespace: 'default', name });

const deploymentSpec = (image: string, over: object = {}) => ({
  metadata: { name: 'agent' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'agent' } },
    template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'agent', image }] } },
    ...over,
  },
});

const deploy = (image: string, over: object = {}) =>
  simulator.client.create({ group: 'apps', resource: 'deployments', namespace: 'default' }, deploymentSpec(image, over));

/** Processes that a test looks into. */
class Processes {
  readonly started: { readonly pod: Pod; readonly process: FakeProcess }[] = [];

  readonly run = (pod: Pod): PodProcess => {
    const process = new FakeProcess();
    this.started.push({ pod, process });
    return process;
  };

  get running(): string[] {
    return this.started.filter(({ process }) => !process.hasEnded).map(({ pod }) => pod.spec.containers[0]?.image ?? '');
  }
}

class FakeProcess implements PodProcess {
  readonly #ready = Promise.withResolvers<void>();
  readonly #exited = Promise.withResolvers<number>();
  readonly ready = this.#ready.promise;
  readonly exited = this.#exited.promise;
  readonly stops: number[] = [];
  hasEnded = false;
  /** Does not react to SIGTERM. */
  isDeaf = false;

  becomeReady(): void {
    this.#ready.resolve();
  }

  exit(code: number): void {
    this.hasEnded = true;
    this.#exited.resolve(code);
  }

  stop(gracePeriodSeconds: number): void {
    this.stops.push(gracePeriodSeconds);
    if (!this.isDeaf || gracePeriodSeconds === 0) this.exit(gracePeriodSeconds === 0 ? 137 : 0);
  }
}

describe('a Deployment on Nodes', () => {
  it('runs, rolls and goes', async () => {
    await start({ nodes: [{ name: 'n1' }, { name: 'n2' }] });
    await deploy('v1');
    await waitFor(() => expect(deployment()?.['status']).toMatchObject({ readyReplicas: 2, availableReplicas: 2 }));
    expect(new Set(pods().map((pod) => pod.spec.nodeName))).toEqual(new Set(['n1', 'n2']));
    expect(pods()[0]?.status).toMatchObject({
      phase: 'Running',
      podIP: expect.stringMatching(/^198\.18\./),
      containerStatuses: [{ name: 'agent', ready: true, restartCount: 0 }],
    });
    const path = { group: 'apps', resource: 'deployments', namespace: 'default', name: 'agent' };
    const body = { spec: { template: { spec: { containers: [{ name: 'agent', image: 'v2' }] } } } };
    await simulator.client.patch(path, { type: 'merge', body });
    await waitFor(() => expect(pods().map((pod) => pod.spec.containers[0]?.image)).toEqual(['v2', 'v2']));
    await waitFor(() =>
      expect(deployment()?.['status']).toMatchObject({
        conditions: [{ type: 'Available' }, { type: 'Progressing', reason: 'NewReplicaSetAvailable' }],
      }),
    );
    await simulator.client.delete(path);
    await waitFor(() => expect(pods()).toEqual([]));
    expect(simulator.client.list({ group: 'apps', resource: 'replicasets' })).toEqual([]);
  });

  it('starts real processes, again when they end, and stops them in time', async () => {
    const processes = new Processes();
    await start({ nodes: [{ name: 'n1' }], runPod: processes.run, podBackOff: { firstMs: 1, longestMs: 5 } });
    await deploy('v1', { replicas: 1 });
    const first = await waitFor(() => processes.started[0]?.process ?? expect.fail('not started'));
    await waitFor(() => expect(pods()[0]?.status?.phase).toBe('Running'));
    expect(deployment()?.['status']).not.toHaveProperty('readyReplicas');
    first.becomeReady();
    await waitFor(() => expect(deployment()?.['status']).toMatchObject({ readyReplicas: 1 }));
    first.exit(3);
    const second = await waitFor(() => processes.started[1]?.process ?? expect.fail('not started again'));
    await waitFor(() =>
      expect(pods()[0]?.status?.containerStatuses).toMatchObject([
        { restartCount: 1, ready: false, lastState: { terminated: { exitCode: 3, reason: 'Error' } } },
      ]),
    );
    second.becomeReady();
    await waitFor(() => expect(deployment()?.['status']).toMatchObject({ readyReplicas: 1 }));
    await simulator.client.delete({ group: 'apps', resource: 'deployments', namespace: 'default', name: 'agent' });
    await waitFor(() => expect(pods()).toEqual([]));
    expect(second.stops).toEqual([30]);
  });

  it('waits for a process that does not listen, and kills it', async () => {
    const processes = new Processes();
    await start({ nodes: [{ name: 'n1' }], runPod: processes.run });
    const spec = { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 1 };
    const path = { resource: 'pods', namespace: 'default' };
    await simulator.client.create(path, { metadata: { name: 'p' }, spec });
    const process = await waitFor(() => processes.started[0]?.process ?? expect.fail('not started'));
    process.isDeaf = true;
    await simulator.client.delete({ ...path, name: 'p' });
    expect(pods()[0]?.metadata.deletionGracePeriodSeconds).toBe(1);
    await waitFor(() => expect(pods()).toEqual([]));
    expect(process.stops).toEqual([1, 0]);
  });

  it('keeps its processes over a restart of the API server', async () => {
    const processes = new Processes();
    await start({ nodes: [{ name: 'n1' }], runPod: processes.run });
    await deploy('v1', { replicas: 1 });
    const process = await waitFor(() => processes.started[0]?.process ?? expect.fail('not started'));
    await simulator.restart();
    process.becomeReady();
    await waitFor(() => expect(deployment()?.['status']).toMatchObject({ readyReplicas: 1 }));
    expect(processes.started).toHaveLength(1);
  });
});

describe('a Pod', () => {
  it('that no Node takes stays pending, until one comes', async () => {
    await start({ nodes: [{ name: 'n1' }] });
    const spec = { nodeSelector: { zone: 'b' }, containers: [{ name: 'c', image: 'i' }] };
    await simulator.client.create({ resource: 'pods', namespace: 'default' }, { metadata: { name: 'p' }, spec });
    await waitFor(() =>
      expect(pods()[0]?.status).toMatchObject({
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
      }),
    );
    await simulator.nodes.add({ name: 'n2', labels: { zone: 'b' } });
    await waitFor(() => expect(pods()[0]).toMatchObject({ spec: { nodeName: 'n2' }, status: { phase: 'Running' } }));
  });

  it('moves when its Node is lost; the lost one stays until it is removed', async () => {
    const processes = new Processes();
    await start({ nodes: [{ name: 'n1' }, { name: 'n2' }], runPod: processes.run, nodeMonitorGraceMs: 10 });
    const tolerations = ['unreachable', 'not-ready'].map((key) => {
      return { key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 };
    });
    const template = {
      metadata: { labels: { app: 'agent' } },
      spec: { containers: [{ name: 'agent', image: 'v1' }], tolerations },
    };
    await deploy('v1', { replicas: 1, template });
    const lost = await waitFor(() => pods()[0]?.spec.nodeName ?? expect.fail('not scheduled'));
    await waitFor(() => expect(processes.started).toHaveLength(1));
    simulator.nodes.disconnect(lost);
    await waitFor(() => expect(pods()).toHaveLength(2));
    const leaving = pods().filter((pod) => pod.metadata.deletionTimestamp !== undefined);
    expect(leaving.map((pod) => pod.spec.nodeName)).toEqual([lost]);
    await waitFor(() => expect(processes.running, 'both run: the lost Node only lost contact').toEqual(['v1', 'v1']));
    await simulator.nodes.reconnect(lost);
    await waitFor(() => expect(pods()).toHaveLength(1));
    expect(processes.started[0]?.process.stops).toHaveLength(1);
  });

  it('leaves a Node with a taint that it does not tolerate', async () => {
    await start({ nodes: [{ name: 'n1' }] });
    const path = { resource: 'pods', namespace: 'default' };
    await simulator.client.create(path, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    await waitFor(() => expect(pods()[0]?.status?.phase).toBe('Running'));
    const body = { spec: { taints: [{ key: 'a', effect: 'NoExecute' }] } };
    await simulator.client.patch({ resource: 'nodes', name: 'n1' }, { type: 'merge', body });
    await waitFor(() => expect(pods()).toEqual([]));
  });

  it('is forced away from a Node without power', async () => {
    const processes = new Processes();
    const podBackOff = { firstMs: 1, longestMs: 1 };
    await start({ nodes: [{ name: 'n1' }], nodeMonitorGraceMs: 10, podBackOff, runPod: processes.run });
    const path = { resource: 'pods', namespace: 'default' };
    await simulator.client.create(path, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    await waitFor(() => expect(processes.started).toHaveLength(1));
    processes.started[0]?.process.becomeReady();
    await waitFor(() => expect(pods()[0]?.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True'));
    await simulator.nodes.powerOff('n1');
    expect(processes.running).toEqual([]);
    await waitFor(() => expect(pods()[0]?.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('False'));
    await simulator.client.delete({ ...path, name: 'p' });
    expect(pods()).toHaveLength(1);
    await simulator.client.delete({ ...path, name: 'p' }, { gracePeriodSeconds: 0 });
    expect(pods()).toEqual([]);
    expect(processes.started, 'nothing is started again').toHaveLength(1);
  });
});

it('a DaemonSet follows the Nodes', async () => {
  await start({ nodes: [{ name: 'n1' }] });
  const template = { metadata: { labels: { app: 'wol' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const path = { group: 'apps', resource: 'daemonsets', namespace: 'default' };
  await simulator.client.create(path, {
    metadata: { name: 'wol' },
    spec: { selector: { matchLabels: { app: 'wol' } }, template },
  });
  const status = () => simulator.client.get({ ...path, name: 'wol' })?.['status'];
  await waitFor(() => expect(status()).toMatchObject({ desiredNumberScheduled: 1, numberReady: 1 }));
  await simulator.nodes.add({ name: 'n2' });
  await waitFor(() => expect(status()).toMatchObject({ desiredNumberScheduled: 2, numberReady: 2, numberAvailable: 2 }));
  await simulator.nodes.remove('n1');
  await waitFor(() => expect(status()).toMatchObject({ desiredNumberScheduled: 1, numberReady: 1 }));
});

describe('owners', () => {
  const configMap = async (name: string, owner?: ApiObject, over: object = {}) =>
    simulator.client.create(
      { resource: 'configmaps', namespace: 'default' },
      {
        metadata: {
          name,
          ...(owner === undefined
            ? {}
            : {
                ownerReferences: [
                  {
                    apiVersion: 'v1',
                    kind: 'ConfigMap',
                    name: owner.metadata.name ?? '',
                    uid: owner.metadata.uid ?? '',
                    blockOwnerDeletion: true,
                  },
                ],
              }),
          ...over,
        },
      },
    );
  const get = (name: string) => simulator.client.get({ resource: 'configmaps', namespace: 'default', name });

  it.each(['Background', 'Foreground'] as const)('take their dependents along: %s', async (propagationPolicy) => {
    await start();
    const owner = await configMap('owner');
    const dependent = await configMap('dependent', owner);
    await configMap('grandchild', dependent);
    await simulator.client.delete({ resource: 'configmaps', namespace: 'default', name: 'owner' }, { propagationPolicy });
    await waitFor(() => expect([get('owner'), get('dependent'), get('grandchild')]).toEqual([undefined, undefined, undefined]));
  });

  it('wait in the foreground for what holds them', async () => {
    await start();
    const owner = await configMap('owner');
    await configMap('dependent', owner, { finalizers: ['example.com/hold'] });
    const path = { resource: 'configmaps', namespace: 'default', name: 'owner' };
    await simulator.client.delete(path, { propagationPolicy: 'Foreground' });
    await waitFor(() => expect(get('dependent')?.metadata['deletionTimestamp']).toBeDefined());
    expect(get('owner')).toBeDefined();
    await simulator.client.patch({ ...path, name: 'dependent' }, { type: 'merge', body: { metadata: { finalizers: null } } });
    await waitFor(() => expect([get('owner'), get('dependent')]).toEqual([undefined, undefined]));
  });

  it('leave orphans behind when asked to', async () => {
    await start();
    const owner = await configMap('owner');
    await configMap('dependent', owner);
    const path = { resource: 'configmaps', namespace: 'default', name: 'owner' };
    await simulator.client.delete(path, { propagationPolicy: 'Orphan' });
    await waitFor(() => expect(get('owner')).toBeUndefined());
    expect(get('dependent')?.metadata).not.toHaveProperty('ownerReferences');
  });

  it('that never were count as gone', async () => {
    await start();
    await configMap('lost', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'never', uid: '00000000-0000-4000-8000-000000000077' },
    });
    await waitFor(() => expect(get('lost')).toBeUndefined());
  });
});

it('a namespace has a ServiceAccount, and goes with all that is in it', async () => {
  await start();
  await simulator.client.create({ resource: 'namespaces' }, { metadata: { name: 'ns' } });
  const account = { resource: 'serviceaccounts', namespace: 'ns', name: 'default' };
  await waitFor(() => expect(simulator.client.get(account)).toBeDefined());
  await simulator.client.create(
    { resource: 'configmaps', namespace: 'ns' },
    { metadata: { name: 'c', finalizers: ['example.com/hold'] } },
  );
  await simulator.client.delete({ resource: 'namespaces', name: 'ns' });
  const namespace = () => simulator.client.get({ resource: 'namespaces', name: 'ns' });
  await waitFor(() =>
    expect(namespace()?.['status']).toMatchObject({
      conditions: [{}, {}, {}, { message: 'Some resources are remaining: configmaps. has 1 resource instances' }, {}],
    }),
  );
  const path = { resource: 'configmaps', namespace: 'ns', name: 'c' };
  await simulator.client.patch(path, { type: 'merge', body: { metadata: { finalizers: null } } });
  await waitFor(() => expect(namespace()).toBeUndefined());
});

describe('Pods that the API server refuses', () => {
  it('are reported by ReplicaSet and Deployment as ReplicaFailure, until they are created', async () => {
    await start({ nodes: [{ name: 'node-1' }], onControllerError: () => undefined });
    const serviceAccounts = { resource: 'serviceaccounts', namespace: 'default' };
    const template = {
      metadata: { labels: { app: 'agent' } },
      spec: { serviceAccountName: 'agent', containers: [{ name: 'agent', image: 'v1' }] },
    };
    await deploy('v1', { template });
    const failure = () =>
      ((deployment()?.['status'] ?? {}) as { readonly conditions?: readonly { readonly type: string }[] }).conditions?.find(
        ({ type }) => type === 'ReplicaFailure',
      );
    await waitFor(() =>
      expect(failure()).toMatchObject({
        status: 'True',
        reason: 'FailedCreate',
        message: expect.stringMatching(
          /^pods "agent-[^"]+" is forbidden: error looking up service account default\/agent: serviceaccount "agent" not found$/,
        ) as string,
      }),
    );
    expect(pods()).toEqual([]);
    await simulator.client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'agent' } });
    await waitFor(() => expect(pods()).toHaveLength(2));
    await waitFor(() => expect(failure()).toBeUndefined());
  });
});
