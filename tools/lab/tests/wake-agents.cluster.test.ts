/** WolConfigs at an API server that fills in what it fills in, simulated in every run: DaemonSets, their pods on nodes, statuses, and no write too many. */
import { toCustomResourceDefinition, wolConfigResource } from '@vmdhcp/ippool-api';
import { type ApiResource, type KubernetesObject, readField, readList, SharedCaches } from '@vmdhcp/kube-runtime';
import { ApiObjectClient, systemClock } from '@vmdhcp/kube-runtime/node';
import { planWakeAgents, readWolConfig, type WakeDaemonSetSettings, WakeOnLanController } from '@vmdhcp/wake-on-lan/controller';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PrivateCluster, waitFor } from '../src/index.js';

const AGENTS: WakeDaemonSetSettings = {
  namespace: 'vm-dhcp-system',
  image: 'registry.local/vmdhcp-agent:1',
  imagePullSecrets: ['registry'],
  manager: 'vmdhcp-wake-on-lan.vm-dhcp-system.svc:9090',
  tlsSecret: 'vmdhcp-wake-on-lan-agent-tls',
};
const MACHINES = [1, 2, 3].map((last) => ({
  namespace: 'lab',
  name: `vm-${last}`,
  labels: {},
  macAddresses: [`02:00:5e:10:00:0${last}`],
}));

let cluster: PrivateCluster;
let controller: WakeOnLanController;
const writes: string[] = [];

beforeAll(async () => {
  const nodes = ['a', 'b'].map((zone) => ({ name: `node-${zone}`, labels: { zone } }));
  cluster = await PrivateCluster.start([], { nodes });
  await cluster.admin.create(toCustomResourceDefinition(wolConfigResource) as unknown as KubernetesObject);
  await cluster.admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: AGENTS.namespace } });
  const clientOf = (resource: ApiResource) => new ApiObjectClient(cluster.admin.connection, resource) as never;
  controller = new WakeOnLanController({
    caches: new SharedCaches({
      open: clientOf,
      clock: systemClock,
      backOff: { firstMs: 50, mostMs: 1_000, random: Math.random },
    }),
    clientOf,
    inventory: {
      synced: true,
      machines: () => MACHINES,
      get: (key) => MACHINES.find(({ name }) => key === `lab/${name}`),
      onChange: () => () => undefined,
      onSynced: (listener) => {
        listener();
        return () => undefined;
      },
    },
    agents: AGENTS,
    clock: systemClock,
    now: () => new Date().toISOString(),
    random: Math.random,
    identity: 'controller-1',
    observer: { onAgentWrite: ({ kind, object }) => writes.push(`${kind} ${object.metadata.name}`) },
  });
  controller.start();
  controller.lead();
});

afterAll(async () => {
  await controller.stop();
  await cluster.close();
});

const config = (name: string, spec: Readonly<Record<string, unknown>> = {}): KubernetesObject => ({
  apiVersion: 'wol.pillon.org/v1beta1',
  kind: 'WolConfig',
  metadata: { name },
  spec,
});

/** So many are wanted, and ready: one count alone may be that of before. */
const hasAgents = (count: number) => (object: KubernetesObject) =>
  ['desiredNumberScheduled', 'numberReady'].every((name) => readField(object.status, 'agentStatus', name) === count);

const daemonSets = () => cluster.admin.list('DaemonSet');

async function waitForReason(name: string, reason: string): Promise<KubernetesObject> {
  return await cluster.admin.waitForObject('WolConfig', name, ({ status }) =>
    readList(status, 'conditions').some((one) => readField(one, 'type') === 'Ready' && readField(one, 'reason') === reason),
  );
}

/** Fails where planning again would write: a default of the server, for example, that the plan does not know. */
async function expectNothingToWrite(): Promise<void> {
  const configs = (await cluster.admin.list('WolConfig')).flatMap((object) => {
    const reading = readWolConfig(object);
    return reading.ok ? [reading.config] : [];
  });
  expect(planWakeAgents({ configs, daemonSets: await daemonSets() }, AGENTS).writes).toEqual([]);
}

describe('a WolConfig at an API server', () => {
  it('gets agents on every node, and a status with their number', async () => {
    await cluster.admin.create(config('office'));
    const { status } = await waitForReason('office', 'MappingUpdated');
    expect(status).toMatchObject({ managedVMs: 3, agentStatus: { daemonSetName: 'wol-agent-office' } });
    await cluster.admin.waitForObject(
      'WolConfig',
      'office',
      (object) => readField(object.status, 'agentStatus', 'numberReady') === 2,
    );
    await expectNothingToWrite();
    expect(writes).toEqual(['create wol-agent-office']);
  });

  it('a change moves them, and what was set before is gone', async () => {
    const agent = {
      nodeSelector: { zone: 'a' },
      resources: { requests: { cpu: '0.5', memory: '1024Mi' }, limits: { memory: '2Gi' } },
      tolerations: [{ key: 'gpu', operator: 'Exists' }],
      priorityClassName: 'system-node-critical',
      updateStrategy: { rollingUpdate: { maxUnavailable: '50%' } },
    };
    await cluster.admin.patch('WolConfig', 'office', { spec: { agent, wolPorts: [7, 9] } });
    await cluster.admin.waitForObject('WolConfig', 'office', hasAgents(1));
    await expectNothingToWrite();
    await cluster.admin.patch('WolConfig', 'office', { spec: { agent: null } });
    await cluster.admin.waitForObject('WolConfig', 'office', hasAgents(2));
    await expectNothingToWrite();
    expect(writes.slice(1)).toEqual(['patch wol-agent-office', 'patch wol-agent-office']);
  });

  it('a second one on some of the nodes shares the agents; a third one, whose nodes may be others, is refused', async () => {
    await cluster.admin.create(config('young', { agent: { nodeSelector: { zone: 'b' } } }));
    const young = await waitForReason('young', 'MappingUpdated');
    expect(readField(young.status, 'agentStatus', 'daemonSetName')).toBe('wol-agent-office');
    await cluster.admin.create(config('other', { wolPorts: [9], agent: { tolerations: [{ operator: 'Exists' }] } }));
    await waitForReason('other', 'PortConflict');
    expect((await daemonSets()).map(({ metadata }) => metadata.name)).toEqual(['wol-agent-office']);
  });

  it('is deleted with its DaemonSet; the one that shared its agents gets its own then', async () => {
    for (const name of ['other', 'office']) await cluster.admin.delete('WolConfig', name);
    await waitFor('the DaemonSet of young alone', async () => {
      const names = (await daemonSets()).map(({ metadata }) => metadata.name);
      return names.length === 1 && names[0] === 'wol-agent-young' ? true : undefined;
    });
    await waitForReason('young', 'MappingUpdated');
    await expectNothingToWrite();
  });
});
