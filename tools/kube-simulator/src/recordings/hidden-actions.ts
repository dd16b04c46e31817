import type { JsonObject } from '../api-object.js';
import type { ReplayedScenario } from './replayed-scenario.js';
import type { RecordedRequest } from './transcript.js';

export const NETWORK = '/apis/network.harvesterhci.io/v1alpha1';
export const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const PATIENCE_MS = 15_000;

const POOL_SPEC: JsonObject = {
  networkName: 'default/net-48',
  ipv4Config: {
    cidr: '192.168.48.0/24',
    serverIP: '192.168.48.2',
    pool: { start: '192.168.48.101', end: '192.168.48.200', exclude: ['192.168.48.150'] },
    router: '192.168.48.1',
    dns: ['1.1.1.1'],
    domainName: 'example.com',
    leaseTime: 300,
  },
};

/** Applies CustomResourceDefinitions and waits until all of them are served. */
export async function applyDefinitions(scenario: ReplayedScenario, requests: readonly RecordedRequest[]): Promise<void> {
  for (const { body } of requests) await scenario.do('POST', CRDS, { body });
  for (const { body } of requests) {
    const { metadata } = body as { metadata: { name: string } };
    const isServed = async (): Promise<boolean> =>
      JSON.stringify(await scenario.do('GET', `${CRDS}/${metadata.name}`)).includes('"InitialNamesAccepted"');
    await until(isServed, `${metadata.name} is established`);
  }
}

export async function createNamespace(scenario: ReplayedScenario, name: string): Promise<void> {
  await scenario.do('POST', '/api/v1/namespaces', { body: { metadata: { name } } });
}

/** The uid of the new pool. */
export async function createPool(scenario: ReplayedScenario, namespace: string, metadata: JsonObject): Promise<string> {
  const body = {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { ...metadata, namespace },
    spec: POOL_SPEC,
  };
  return uidOf(await scenario.do('POST', `${NETWORK}/namespaces/${namespace}/ippools`, { body }));
}

export async function createVmNetworkConfig(scenario: ReplayedScenario, metadata: JsonObject): Promise<void> {
  const spec = {
    vmName: metadata['name'],
    networkConfigs: [{ networkName: 'default/net-48', macAddress: '02:00:00:00:00:01' }],
  };
  const body = { apiVersion: 'network.harvesterhci.io/v1alpha1', kind: 'VirtualMachineNetworkConfig', metadata, spec };
  await scenario.do('POST', `${NETWORK}/namespaces/s12/virtualmachinenetworkconfigs`, { body });
}

export async function createPod(scenario: ReplayedScenario, name: string, spec: JsonObject): Promise<void> {
  await untilThere(scenario, '/api/v1/namespaces/s12/serviceaccounts/default');
  const body = { metadata: { name }, spec: { containers: [{ name: 'c', image: 'img:1' }], ...spec } };
  await scenario.do('POST', '/api/v1/namespaces/s12/pods', { body });
}

export async function createEvent(scenario: ReplayedScenario, name: string): Promise<void> {
  const body = { metadata: { name }, involvedObject: { namespace: 's20' }, reason: 'R', message: 'm', type: 'Normal' };
  await scenario.do('POST', '/api/v1/namespaces/s20/events', { body });
}

export async function createListedPools(scenario: ReplayedScenario): Promise<void> {
  for (const index of [1, 2, 3, 4, 5, 6, 7]) {
    const low = index <= 2 ? { low: 'yes' } : {};
    await createPool(scenario, 's10', { name: `p${index}`, labels: { idx: `${index}`, odd: `${index % 2 === 1}`, ...low } });
  }
  await createPool(scenario, 's10b', { name: 'q1', labels: { idx: '8' } });
  const conditions = [
    { type: 'Registered', status: 'True' },
    { type: 'CacheReady', status: 'False', reason: 'NotInitialized' },
  ];
  const status = { conditions, ipv4: { allocated: { '192.168.48.101': '02:00:00:00:00:01' }, available: 99, used: 1 } };
  await scenario.do('PATCH', `${NETWORK}/namespaces/s10/ippools/p1/status`, { body: { status }, type: MERGE });
}

/** An owner with two dependents, one of which blocks its deletion; the watches that follow begin after all three. */
export async function createOwned(scenario: ReplayedScenario, name: string, versions: readonly string[]): Promise<void> {
  const uid = await createPool(scenario, 's12', { name });
  const owner = { apiVersion: 'network.harvesterhci.io/v1alpha1', kind: 'IPPool', name, uid };
  const blocking = { ...owner, controller: true, blockOwnerDeletion: true };
  await createVmNetworkConfig(scenario, { name: `${name}-dep`, namespace: 's12', ownerReferences: [blocking] });
  await createVmNetworkConfig(scenario, { name: `${name}-nonblock`, namespace: 's12', ownerReferences: [owner] });
  await bindCurrentVersion(scenario, versions);
}

/** An owner whose dependent has a finalizer. */
export async function createBlocked(scenario: ReplayedScenario): Promise<void> {
  const uid = await createPool(scenario, 's12', { name: 'blk' });
  const owner = { apiVersion: 'network.harvesterhci.io/v1alpha1', kind: 'IPPool', name: 'blk', uid, blockOwnerDeletion: true };
  await createVmNetworkConfig(scenario, {
    name: 'blk-dep',
    namespace: 's12',
    finalizers: ['example.com/hold'],
    ownerReferences: [owner],
  });
}

/** Makes 150 changes after the version at which a watch begins. */
export async function changeConfigMap(scenario: ReplayedScenario): Promise<void> {
  const path = '/api/v1/namespaces/s11/configmaps';
  await scenario.do('POST', path, { body: { metadata: { name: 'x' }, data: { n: '0' } } });
  await bindCurrentVersion(scenario, ['1551']);
  for (let n = 1; n <= 150; n += 1) await scenario.do('PATCH', `${path}/x`, { body: { data: { n: `${n}` } }, type: MERGE });
}

/** Stricter rules for existing objects: old violations are tolerated, new ones are not. */
export async function tightenProbes(scenario: ReplayedScenario): Promise<void> {
  const path = `${CRDS}/probes.probe.example.com`;
  const definition = structuredClone(await scenario.do('GET', path));
  const { versions } = definition['spec'] as unknown as {
    versions: { schema: { openAPIV3Schema: { properties: { spec: SpecSchema } } } }[];
  };
  const spec = versions[0]?.schema.openAPIV3Schema.properties.spec;
  if (spec === undefined) throw new Error('the CustomResourceDefinition of probes has no schema of spec');
  spec.properties['s'] = { ...spec.properties['s'], maxLength: 2 };
  spec.properties['newReq'] = { type: 'string' };
  spec.required = [...(spec.required ?? []), 'newReq'];
  await scenario.do('PUT', path, { body: definition });
}

interface SpecSchema {
  readonly properties: Record<string, JsonObject>;
  required?: string[];
}

/** A status patch that fills a pool: consecutive addresses with consecutive hardware addresses. */
export function allocations(count: number): JsonObject {
  const byte = (value: number): string => value.toString(16).padStart(2, '0');
  const entries = Array.from({ length: count }, (_, index) => {
    const [high, low] = [index >> 8, index & 255];
    return [`10.100.${high}.${low}`, `02:00:00:00:${byte(high)}:${byte(low)}`];
  });
  return { status: { ipv4: { allocated: Object.fromEntries(entries) as JsonObject } } };
}

export async function makePodReady(scenario: ReplayedScenario, name: string): Promise<void> {
  const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: `${new Date().toISOString().slice(0, 19)}Z`,
  }));
  const status = { phase: 'Running', conditions };
  await scenario.do('PATCH', `/api/v1/namespaces/s14/pods/${name}/status`, { body: { status }, type: STRATEGIC });
}

/** Makes every new Pod of the Deployment ready until the rollout is done. */
export async function makePodsReadyUntilRolledOut(scenario: ReplayedScenario): Promise<void> {
  const isDone = async (): Promise<boolean> => {
    const { items } = (await scenario.do('GET', '/api/v1/namespaces/s14/pods')) as unknown as { items: PodState[] };
    const waiting = items.filter(
      ({ metadata, status }) => metadata.deletionTimestamp === undefined && status.phase === 'Pending',
    );
    for (const { metadata } of waiting) {
      await makePodReady(scenario, metadata.name);
      // Of two Pods the one that became ready later goes first; times have seconds.
      await new Promise((resolve) => setTimeout(resolve, 1_100));
    }
    const { status } = await scenario.do('GET', '/apis/apps/v1/namespaces/s14/deployments/agent');
    const { replicas, updatedReplicas, availableReplicas } = status as Record<string, number>;
    return replicas === 2 && updatedReplicas === 2 && availableReplicas === 2;
  };
  await until(isDone, 'the rollout is done');
}

interface PodState {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly status: { readonly phase?: string };
}

/** Learns the name of the only new object, if the transcript mentions the object before it shows it. */
export async function learnName(scenario: ReplayedScenario, path: string, recorded: string): Promise<void> {
  await until(async () => {
    const { items } = (await scenario.do('GET', path)) as unknown as { items: NamedObject[] };
    const isNew = ({ metadata }: NamedObject): boolean =>
      metadata.deletionTimestamp === undefined && !scenario.bindings.isNameKnown(metadata.name);
    const metadata = items.find(isNew)?.metadata;
    if (metadata === undefined) return false;
    const hash = metadata.labels?.['pod-template-hash'];
    if (hash === undefined) scenario.bindings.bindName(recorded, metadata.name);
    else scenario.bindings.bindName(recorded.slice(recorded.lastIndexOf('-') + 1), hash);
    return true;
  }, `there is what ${recorded} stands for`);
}

interface NamedObject {
  readonly metadata: {
    readonly name: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Record<string, string>;
  };
}

/** From now on, the given recorded versions stand for the current version. */
export async function bindCurrentVersion(scenario: ReplayedScenario, recorded: readonly string[]): Promise<void> {
  const { metadata } = await scenario.do('GET', '/api/v1/namespaces');
  const { resourceVersion } = metadata as { resourceVersion: string };
  for (const version of recorded) scenario.bindings.versions.learn([version, resourceVersion], 'list');
}

export async function untilThere(scenario: ReplayedScenario, path: string): Promise<void> {
  await until(async () => (await scenario.attempt('GET', path)).status === 200, `${path} is there`);
}

export async function untilGone(scenario: ReplayedScenario, path: string): Promise<void> {
  await until(async () => (await scenario.attempt('GET', path)).status === 404, `${path} is gone`);
}

async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited ${PATIENCE_MS / 1000} s in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function uidOf({ metadata }: JsonObject): string {
  return (metadata as { uid: string }).uid;
}
