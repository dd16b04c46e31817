import {
  AGENT_GROUP_LABEL,
  AGENT_LABEL,
  AGENT_REPORT_ANNOTATION,
  CLUSTER_NETWORK_LABEL,
  formatAgentReport,
  HOLD_AGENT_UPGRADE_ANNOTATION,
  IPPOOL_FINALIZER,
  IPPOOL_NAME_LABEL,
  IPPOOL_NAMESPACE_LABEL,
  type PoolReport,
  parseSuspendedPools,
  SUSPENDED,
  SUSPENDED_POOLS_ANNOTATION,
  SUSPENDED_POOLS_SEEN_ANNOTATION,
} from '@vmdhcp/ippool-api';
import { type ApiResource, type KubernetesObject, readConditions, readField, readText } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import type { AgentPodSettings } from '../agents/agent-deployment.js';
import { configuredPools } from '../agents/configured-pools.js';
import type { AgentTopology } from '../agents/topology.js';
import { memoryApi } from '../fixtures/memory-api-fixtures.js';
import { MemoryCluster } from '../fixtures/memory-cluster-fixtures.js';
import { instance, network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { DhcpController } from './dhcp-controller.js';

const NAMESPACE = 'harvester-system';
const UNIFIED = { deploymentName: 'chart-agent', containerName: 'agent' };

function podSettings(image = 'agent:v1'): AgentPodSettings {
  return {
    namespace: NAMESPACE,
    image,
    imagePullPolicy: 'IfNotPresent',
    imagePullSecrets: [],
    serviceAccountName: 'agent',
    priorityClassName: undefined,
    replicas: 2,
    resources: { cpu: '10m', memory: '96Mi', memoryLimit: '256Mi' },
    leaseSeconds: 2.75,
    dryRun: false,
  };
}

interface ControllerChoices {
  readonly topology?: AgentTopology;
  readonly image?: string;
  readonly maxPoolsPerAgent?: number;
}

/** How much later a controller sees changes of these kinds. */
interface WatchLags {
  readonly deployments: () => number;
  readonly leases: () => number;
}

/** A cluster whose agents follow their configuration, a moment later. */
class Story {
  readonly clock = new FakeClock();
  readonly cluster = new MemoryCluster(this.clock);
  readonly deployments = new MemoryResource<KubernetesObject>(this.clock);
  readonly leases = new MemoryResource<KubernetesObject>(this.clock);
  readonly pods = new MemoryResource<KubernetesObject>(this.clock);
  /** Writes of Deployments, Leases and pods. */
  readonly writes: string[] = [];
  /** Attempted writes of Deployments. */
  readonly attempts: string[] = [];
  /** Groups whose agents are dead. */
  readonly dead = new Set<string>();
  /** Until when the controller sees no changes of Leases. */
  leasesStallUntilMs = 0;
  /** Groups whose pods outlive their Deployment, because the garbage collector is busy. */
  readonly outliving = new Set<string>();
  /** The conditions of Deployments about their rollouts, besides counts. */
  rolloutStatus: Readonly<Record<string, unknown>> = {};
  /** How much later the controller sees changes of Deployments. */
  watchesLagMs = 0;
  #end: () => Promise<void> = async () => undefined;
  #renewals = 0;
  #isEnding = false;

  constructor(...names: readonly string[]) {
    for (const name of names) this.addPool(name);
    for (const [kind, resource] of Object.entries({ deployment: this.deployments, lease: this.leases, pod: this.pods })) {
      resource.onWritten = (what, key) => void this.writes.push(`${what} ${kind} ${key.split('/')[1]}`);
    }
    this.deployments.writeFault = (what) => {
      this.attempts.push(`${what} deployment`);
      return 'none';
    };
  }

  addPool(name: string, clusterNetwork = 'vlan', annotations = {}): void {
    const one = network(`net-${name}`);
    this.cluster.networks.put({ ...one, metadata: { ...one.metadata, labels: { [CLUSTER_NETWORK_LABEL]: clusterNetwork } } });
    const given = pool(name, { network: `default/net-${name}` });
    this.cluster.ipPools.put({ ...given, metadata: { ...given.metadata, uid: `uid-${name}`, generation: 1, annotations } });
  }

  /** Stops the current controller. */
  async rest(): Promise<void> {
    await this.#end();
    this.#end = async () => undefined;
  }

  /** Stops the current controller, and starts another one. */
  async control(choices: ControllerChoices = {}): Promise<void> {
    await this.#end();
    await this.#lead(
      this.#create(choices, {
        deployments: () => this.watchesLagMs,
        leases: () => Math.max(0, this.leasesStallUntilMs - this.clock.nowMs()),
      }),
    );
  }

  /**
   * Starts another controller, which sees changes of agents this much later. It becomes leader, and the current one stops, when the returned function
   * is called.
   */
  async follow(choices: ControllerChoices, lateMs: number): Promise<() => Promise<void>> {
    const controller = this.#create(choices, { deployments: () => lateMs, leases: () => lateMs });
    controller.start();
    await this.goOn(1_000);
    return async () => {
      await this.#end();
      await this.#lead(controller);
    };
  }

  #create({ topology = 'per-network', image, maxPoolsPerAgent = 24 }: ControllerChoices, lagsMs: WatchLags): DhcpController {
    const { clock, cluster, deployments, leases, pods } = this;
    const now = () => new Date(1_767_225_600_000 + clock.nowMs()).toISOString().replace(/\.\d+Z$/, 'Z');
    const isOurs = ({ metadata }: KubernetesObject) => metadata.labels?.[AGENT_LABEL] === 'agent';
    const ours = seenLater(deployments, { clock, lagMs: lagsMs.deployments, isOurs });
    const deploymentsOf = ({ labelSelector }: ApiResource) => (labelSelector === undefined ? deployments : ours);
    const seenLeases = seenLater(leases, { clock, lagMs: lagsMs.leases, isOurs: () => true });
    return new DhcpController({
      ...memoryApi({ ...cluster, deployments: deploymentsOf, leases: seenLeases, pods }, clock),
      clock,
      now,
      random: () => 0.5,
      identity: 'one',
      agents: {
        namespace: NAMESPACE,
        topology,
        maxPoolsPerAgent,
        maxGroupsUpgrading: 4,
        pods: podSettings(image),
        unified: UNIFIED,
      },
    });
  }

  async #lead(controller: DhcpController): Promise<void> {
    this.#end = async () => {
      this.#isEnding = true;
      const ended = controller.stop();
      await this.clock.advance(1_000);
      await ended;
      this.#isEnding = false;
    };
    controller.start();
    controller.lead();
    await this.goOn(3_000);
  }

  /** Time passes, and agents renew their Leases; no pool is ever served by two groups. */
  async goOn(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 250) {
      await this.clock.advance(125);
      if (!this.#isEnding) this.#rollOut();
      await this.clock.advance(125);
      if (!this.#isEnding) this.#renew();
      const served = [...this.serving()].flatMap(([group, names]) => (this.dead.has(group) ? [] : names));
      expect(new Set(served).size, `served once: ${served.join()}`).toBe(served.length);
    }
  }

  /** Group to the pools that its Lease reports as served. */
  serving(): Map<string, string[]> {
    return new Map(
      [...this.#reports()].map(([group, report]) => [
        group,
        [...report].flatMap(([key, { serving }]) => (serving ? [key.split('/')[1] ?? ''] : [])),
      ]),
    );
  }

  configured(group: string): string[] {
    const deployment = this.deployments.objects.get(`${NAMESPACE}/${group}`);
    return deployment === undefined ? [] : [...configuredPools(deployment, 'agent').keys()].map((key) => key.split('/')[1] ?? '');
  }

  image(group: string): string | undefined {
    const deployment = this.deployments.objects.get(`${NAMESPACE}/${group}`);
    return readText((readField(deployment?.spec, 'template', 'spec', 'containers') as unknown[] | undefined)?.[0], 'image');
  }

  pool(name: string): KubernetesObject {
    const object = this.cluster.ipPools.objects.get(`default/${name}`);
    if (object === undefined) throw new Error(`there is no pool ${name}`);
    return object;
  }

  state(name: string): string {
    const { reason = '', status } = readConditions(this.pool(name).status).find(({ type }) => type === 'AgentReady') ?? {};
    return `${status} ${reason}`.trim();
  }

  message(name: string): string {
    return readConditions(this.pool(name).status).find(({ type }) => type === 'AgentReady')?.message ?? '';
  }

  /** Reasons of the recorded Events. */
  events(): (string | undefined)[] {
    return [...this.cluster.events.objects.values()].map(({ reason }) => reason);
  }

  #reports(): Map<string, Map<string, PoolReport>> {
    const reports = [...this.leases.objects.values()].map(({ metadata, spec }) => {
      const text = readText(spec, 'holderIdentity') ? metadata.annotations?.[AGENT_REPORT_ANNOTATION] : undefined;
      return [metadata.name, new Map(Object.entries(JSON.parse(text ?? '{}') as Record<string, PoolReport>))] as const;
    });
    return new Map(reports);
  }

  #rollOut(): void {
    for (const deployment of this.deployments.objects.values()) {
      const { generation } = deployment.metadata;
      const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2 };
      const status = { observedGeneration: generation, ...counts, ...this.rolloutStatus };
      if (JSON.stringify(deployment.status) !== JSON.stringify(status)) this.deployments.put({ ...deployment, status });
    }
  }

  #renew(): void {
    for (const lease of [...this.leases.objects.values()]) {
      const { namespace, name } = lease.metadata;
      const group = name === 'vm-dhcp-agents' ? UNIFIED.deploymentName : name;
      if (this.outliving.has(name))
        this.leases.put({ ...lease, spec: { ...(lease.spec as object), renewTime: `t${++this.#renewals}` } });
      else if (!this.deployments.objects.has(`${NAMESPACE}/${group}`) && readText(lease.spec, 'holderIdentity')) {
        this.leases.put({ ...lease, metadata: { ...lease.metadata, namespace, name }, spec: { holderIdentity: '' } });
      }
    }
    for (const { metadata } of this.deployments.objects.values()) {
      const name = metadata.name === UNIFIED.deploymentName ? 'vm-dhcp-agents' : metadata.name;
      if (this.dead.has(name)) continue;
      const known = this.leases.objects.get(`${NAMESPACE}/${name}`);
      const suspended = parseSuspendedPools(known?.metadata.annotations?.[SUSPENDED_POOLS_ANNOTATION]);
      const report = new Map<string, PoolReport>(
        this.configured(metadata.name).map((one) => [
          `default/${one}`,
          suspended.has(`default/${one}`) ? { serving: false, reason: SUSPENDED } : { serving: true },
        ]),
      );
      this.leases.put({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: {
          uid: `uid-of-${name}`,
          ...known?.metadata,
          namespace: NAMESPACE,
          name,
          annotations: {
            ...known?.metadata.annotations,
            [SUSPENDED_POOLS_SEEN_ANNOTATION]: known?.metadata.annotations?.[SUSPENDED_POOLS_ANNOTATION] ?? '',
            [AGENT_REPORT_ANNOTATION]: formatAgentReport(report),
          },
        },
        spec: { holderIdentity: `${name}-pod_1`, leaseDurationSeconds: 3, renewTime: `t${++this.#renewals}` },
      });
    }
  }
}

interface Seen {
  readonly clock: FakeClock;
  readonly lagMs: () => number;
  readonly isOurs: (object: KubernetesObject) => boolean;
}

/** A resource with a label selector, whose events are seen this much later. */
function seenLater(resource: MemoryResource<KubernetesObject>, { clock, lagMs, isOurs }: Seen): MemoryResource<KubernetesObject> {
  return Object.assign(Object.create(resource) as MemoryResource<KubernetesObject>, {
    list: async (options: { readonly limit: number }) => {
      const page = await resource.list(options);
      return { ...page, items: page.items.filter(isOurs) };
    },
    watch: (...[version, handlers]: Parameters<typeof resource.watch>) =>
      resource.watch(version, {
        ...handlers,
        onEvent: (event) => {
          if (event.type === 'bookmark' || isOurs(event.object)) clock.after(lagMs(), () => handlers.onEvent(event));
        },
      }),
    create: resource.create,
    patch: resource.patch,
    patchStatus: resource.patchStatus,
    delete: resource.delete,
  });
}

function chartDeployment(): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: NAMESPACE, name: UNIFIED.deploymentName, uid: 'chart', generation: 1 },
    spec: { replicas: 2, template: { spec: { containers: [{ name: 'agent', image: 'chart:v1' }] } } },
  };
}

function legacyPod(poolName: string, more: Partial<KubernetesObject['metadata']> = {}): KubernetesObject {
  const labels = { [AGENT_LABEL]: 'agent', [IPPOOL_NAMESPACE_LABEL]: 'default', [IPPOOL_NAME_LABEL]: poolName };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: NAMESPACE, name: `default-${poolName}-agent`, uid: `pod-${poolName}`, labels, ...more },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

it.each(['per-network', 'per-pool'] as const)(
  'another controller (%s) has followed late, and becomes leader: no pool is served by two groups',
  async (topology) => {
    const story = new Story('pool-1');
    await story.control();
    const lead = await story.follow({ topology }, 20_000);
    story.addPool('pool-2', 'storage');
    await story.goOn(5_000);
    expect([...story.serving().values()].flat().toSorted()).toEqual(['pool-1', 'pool-2']);
    await lead();
    await story.goOn(30_000);
    expect([...story.serving().values()].flat().toSorted()).toEqual(['pool-1', 'pool-2']);
    expect(story.events()).toEqual([]);
  },
);

it('a Lease that pods renew is not deleted with their Deployment, even if its events come late', async () => {
  const story = new Story('pool-1');
  story.addPool('pool-2', 'mgmt');
  await story.control();
  const key = `${NAMESPACE}/vm-dhcp-agent-mgmt-1`;
  expect(story.leases.objects.has(key)).toBe(true);
  story.outliving.add('vm-dhcp-agent-mgmt-1');
  story.leasesStallUntilMs = story.clock.nowMs() + 20_000;
  story.cluster.ipPools.remove('default/pool-2');
  await story.goOn(25_000);
  expect([story.deployments.objects.has(key), story.leases.objects.has(key)]).toEqual([false, true]);
  story.outliving.clear();
  await story.goOn(20_000);
  expect(story.leases.objects.has(key)).toBe(false);
});

describe('agents that the controller creates', () => {
  it('a Deployment for each cluster network; the pool reports its Deployment and its leader', async () => {
    const story = new Story('a', 'b');
    story.addPool('c', 'mgmt');
    await story.control();
    expect(story.configured('vm-dhcp-agent-vlan-1')).toEqual(['a', 'b']);
    expect(story.configured('vm-dhcp-agent-mgmt-1')).toEqual(['c']);
    expect(['a', 'b', 'c'].map((name) => story.state(name))).toEqual(['True', 'True', 'True']);
    const { agentDeploymentRef, servedBy } = story.pool('c').status as Record<string, Record<string, string>>;
    expect(agentDeploymentRef).toMatchObject({ namespace: NAMESPACE, name: 'vm-dhcp-agent-mgmt-1', image: 'agent:v1' });
    expect(agentDeploymentRef?.['uid']).toMatch(/^uid-/);
    expect(servedBy).toBe('vm-dhcp-agent-mgmt-1-pod');
  });

  it('a correct state is left alone, also by another controller', async () => {
    const story = new Story('a', 'b');
    await story.control();
    const before = story.writes.length;
    await story.goOn(60_000);
    await story.control();
    await story.goOn(20_000);
    expect(story.writes.slice(before)).toEqual([]);
  });

  it('a change of one of many pools changes only one Deployment', async () => {
    const story = new Story(...Array.from({ length: 20 }, (_, index) => `p${String(index).padStart(3, '0')}`));
    await story.control({ maxPoolsPerAgent: 8 });
    await story.goOn(5_000);
    expect(story.deployments.objects.size).toBe(3);
    const before = story.writes.length;
    story.addPool('p010x');
    await story.goOn(5_000);
    expect(story.writes.slice(before)).toEqual(['patch deployment vm-dhcp-agent-vlan-3']);
    expect(story.state('p010x')).toBe('True');
  });

  it('kubectl rollout restart, injected annotations and free replicas stay; a changed template does not', async () => {
    const story = new Story('a');
    await story.control();
    const key = `${NAMESPACE}/vm-dhcp-agent-vlan-1`;
    const restarted = { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } };
    await patched(story, key, {
      spec: restarted,
      metadata: { annotations: { injected: 'yes', 'network.harvesterhci.io/free-replicas': 'true' } },
    });
    await patched(story, key, { spec: { replicas: 5 } });
    const before = story.writes.length;
    await story.goOn(3_000);
    expect(story.writes.slice(before)).toEqual([]);
    await patched(story, key, { spec: { template: { spec: { terminationGracePeriodSeconds: 99 } } } });
    await story.goOn(3_000);
    const { spec, metadata } = story.deployments.objects.get(key) as KubernetesObject;
    expect(readField(spec, 'template', 'spec', 'terminationGracePeriodSeconds')).toBe(10);
    expect(readField(spec, 'replicas')).toBe(5);
    expect(metadata.annotations?.['injected']).toBe('yes');
  });

  it('a deleted Deployment comes back, with a new UID in the status of its pools', async () => {
    const story = new Story('a');
    await story.control();
    const uid = () => readText(story.pool('a').status, 'agentDeploymentRef', 'uid');
    const before = uid();
    story.deployments.remove(`${NAMESPACE}/vm-dhcp-agent-vlan-1`);
    await story.goOn(5_000);
    expect(story.state('a')).toBe('True');
    expect(uid()).not.toBe(before);
  });

  it('an existing Deployment of ours is adopted; one of another owner is not changed, and is reported', async () => {
    const story = new Story('a', 'b');
    const foreign = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: NAMESPACE, name: 'default-a-agent', uid: 'x', labels: {} },
      spec: { replicas: 9 },
    };
    story.deployments.put(foreign);
    await story.control({ topology: 'per-pool' });
    expect(story.state('a')).toBe('False AgentDeploymentConflict');
    expect(story.message('a')).toContain('it is not ours, and is left alone');
    expect(story.state('b')).toBe('True');
    expect(readField(story.deployments.objects.get(`${NAMESPACE}/default-a-agent`), 'spec')).toEqual({ replicas: 9 });
    story.deployments.remove(`${NAMESPACE}/default-a-agent`);
    await story.goOn(20_000);
    expect(story.state('a')).toBe('True');
  });

  it('a Deployment that was just created, and is not seen yet, is ours', async () => {
    const story = new Story('a');
    story.watchesLagMs = 1_000;
    await story.control();
    story.addPool('b', 'mgmt');
    await story.goOn(500);
    await story.goOn(5_000);
    expect([story.state('a'), story.state('b')]).toEqual(['True', 'True']);
    expect(story.events()).toEqual([]);
  });

  it('a selector that cannot be changed is a condition, and nothing is forced', async () => {
    const story = new Story('a');
    const labels = { [AGENT_LABEL]: 'agent', [AGENT_GROUP_LABEL]: 'default-a-agent' };
    const spec = { selector: { matchLabels: { app: 'old' } } };
    story.deployments.put({ metadata: { namespace: NAMESPACE, name: 'default-a-agent', uid: 'x', labels }, spec });
    await story.control({ topology: 'per-pool' });
    expect(story.state('a')).toBe('False AgentSelectorMismatch');
    expect(story.writes.filter((write) => write.includes('deployment'))).toEqual([]);
  });

  it('a group without pools is deleted with its Lease, even if its last pool went while no controller was running', async () => {
    const story = new Story('a');
    story.addPool('b', 'mgmt');
    await story.control();
    story.cluster.ipPools.remove('default/b');
    await story.control();
    await story.goOn(10_000);
    expect([...story.deployments.objects.keys()]).toEqual([`${NAMESPACE}/vm-dhcp-agent-vlan-1`]);
    expect([...story.leases.objects.keys()]).toEqual([`${NAMESPACE}/vm-dhcp-agent-vlan-1`]);
  });

  it('a Deployment is deleted only once, however late the watch shows it', async () => {
    const story = new Story('a');
    story.addPool('b', 'mgmt');
    await story.control();
    story.watchesLagMs = 2_000;
    story.cluster.ipPools.remove('default/b');
    await story.goOn(10_000);
    expect(story.deployments.objects.size).toBe(1);
    expect(story.attempts.filter((what) => what === 'delete deployment')).toHaveLength(1);
  });

  it('two pools that are applied together cause one rollout of their group', async () => {
    const story = new Story('a');
    await story.control();
    const before = story.writes.length;
    story.addPool('b');
    await story.clock.advance(60);
    story.addPool('c');
    await story.goOn(5_000);
    expect(story.writes.slice(before)).toEqual(['patch deployment vm-dhcp-agent-vlan-1']);
    expect(['b', 'c'].map((name) => story.state(name))).toEqual(['True', 'True']);
  });

  it('a continuous stream of new pools does not delay the rollout for longer than a quarter of a second', async () => {
    const story = new Story('a');
    await story.control();
    for (let number = 0; number < 10; number++) {
      story.addPool(`more-${number}`);
      await story.clock.advance(60);
    }
    expect(story.configured('vm-dhcp-agent-vlan-1').length).toBeGreaterThan(4);
  });

  it('a deleted pool is gone only when no agent is configured with it', async () => {
    const story = new Story('a', 'b');
    await story.control();
    const { uid = '', finalizers } = story.pool('a').metadata;
    expect(finalizers).toHaveLength(1);
    void story.cluster.ipPools.delete('default/a', uid);
    await story.goOn(5_000);
    expect(story.cluster.ipPools.objects.has('default/a')).toBe(false);
    expect(story.configured('vm-dhcp-agent-vlan-1')).toEqual(['b']);
  });

  it('a pool that was deleted while no controller was running stays until its agents are gone', async () => {
    const story = new Story('a', 'b');
    await story.control();
    await story.rest();
    const { uid = '' } = story.pool('a').metadata;
    void story.cluster.ipPools.delete('default/a', uid);
    await story.goOn(500);
    let configuredWhenItWent: string[] | undefined;
    story.cluster.ipPools.onWritten = () => {
      if (!story.cluster.ipPools.objects.has('default/a')) configuredWhenItWent ??= story.configured('vm-dhcp-agent-vlan-1');
    };
    await story.control();
    await story.goOn(5_000);
    expect(configuredWhenItWent).toEqual(['b']);
  });

  it('a finalizer of another controller on a pool stays beside ours, and when ours is removed', async () => {
    const story = new Story();
    story.addPool('a');
    const made = story.pool('a');
    story.cluster.ipPools.put({ ...made, metadata: { ...made.metadata, finalizers: ['example.com/theirs'] } });
    await story.control();
    expect(story.pool('a').metadata.finalizers).toEqual(['example.com/theirs', IPPOOL_FINALIZER]);
    void story.cluster.ipPools.delete('default/a', 'uid-a');
    await story.goOn(30_000);
    expect(story.pool('a').metadata.finalizers).toEqual(['example.com/theirs']);
    expect(story.configured('vm-dhcp-agent-vlan-1')).toEqual([]);
  });

  it('an image on hold stays, even if the Deployment is created again; without the hold it is the new one', async () => {
    const story = new Story();
    story.addPool('a', 'vlan', { [HOLD_AGENT_UPGRADE_ANNOTATION]: '' });
    story.addPool('b', 'mgmt');
    await story.control();
    await story.control({ image: 'agent:v2' });
    expect([story.image('vm-dhcp-agent-vlan-1'), story.image('vm-dhcp-agent-mgmt-1')]).toEqual(['agent:v1', 'agent:v2']);
    story.deployments.remove(`${NAMESPACE}/vm-dhcp-agent-vlan-1`);
    await story.goOn(5_000);
    expect(story.image('vm-dhcp-agent-vlan-1')).toBe('agent:v1');
    const { metadata, ...rest } = story.pool('a');
    story.cluster.ipPools.put({ ...rest, metadata: { ...metadata, annotations: {} } });
    await story.goOn(5_000);
    expect(story.image('vm-dhcp-agent-vlan-1')).toBe('agent:v2');
  });
});

describe('the Deployment of a chart', () => {
  it('has the image of the chart, even if a pool is on hold: the annotation has no effect there', async () => {
    const story = new Story();
    story.addPool('a', 'vlan', { [HOLD_AGENT_UPGRADE_ANNOTATION]: '' });
    story.deployments.put(chartDeployment());
    await story.control({ topology: 'unified', image: 'agent:v2' });
    await story.goOn(3_000);
    expect(story.state('a')).toBe('True');
    expect(story.image(UNIFIED.deploymentName)).toBe('chart:v1');
    const containers = [{ name: 'agent', image: 'chart:v2' }];
    await patched(story, `${NAMESPACE}/${UNIFIED.deploymentName}`, { spec: { template: { spec: { containers } } } });
    await story.goOn(5_000);
    expect(story.image(UNIFIED.deploymentName)).toBe('chart:v2');
    expect(story.state('a')).toBe('True');
  });
});

describe('moving', () => {
  it.each<[AgentTopology, AgentTopology]>([
    ['unified', 'per-network'],
    ['per-network', 'per-pool'],
    ['per-pool', 'unified'],
    ['per-network', 'unified'],
    ['unified', 'per-pool'],
    ['per-pool', 'per-network'],
  ])('from %s to %s: every pool stays served, by one group at a time', async (from, to) => {
    const story = new Story('a', 'b', 'c');
    story.deployments.put(chartDeployment());
    await story.control({ topology: from });
    await story.goOn(2_000);
    const before = story.serving();
    expect([...before.values()].flat().toSorted()).toEqual(['a', 'b', 'c']);
    await story.control({ topology: to });
    await story.goOn(20_000);
    const after = story.serving();
    expect([...after.values()].flat().toSorted()).toEqual(['a', 'b', 'c']);
    expect(['a', 'b', 'c'].map((name) => story.state(name))).toEqual(['True', 'True', 'True']);
    expect(story.configured(UNIFIED.deploymentName)).toEqual(to === 'unified' ? ['a', 'b', 'c'] : []);
    const names = [...story.deployments.objects.keys()].map((key) => key.split('/')[1]);
    if (to === 'per-pool')
      expect(names.toSorted()).toEqual([UNIFIED.deploymentName, 'default-a-agent', 'default-b-agent', 'default-c-agent']);
    else expect(names).toHaveLength(to === 'unified' ? 1 : 2);
  });

  it('the old agents serve until the new ones could; dead agents delay it only until their Lease expires', async () => {
    const story = new Story('a');
    story.deployments.put(chartDeployment());
    await story.control({ topology: 'unified' });
    story.dead.add('vm-dhcp-agent-vlan-1');
    await story.control();
    await story.goOn(30_000);
    expect(story.configured('vm-dhcp-agent-vlan-1')).toEqual(['a']);
    expect(story.serving().get('vm-dhcp-agents')).toEqual(['a']);
    expect(story.state('a')).toBe('True');
    story.dead.clear();
    story.dead.add('vm-dhcp-agents');
    await story.goOn(10_000);
    expect(story.serving().get('vm-dhcp-agent-vlan-1')).toEqual(['a']);
  });

  it('a pool whose network moves to other nodes, according to a resource or its own selector', async () => {
    const story = new Story('a', 'b', 'c');
    await story.control();
    await story.goOn(5_000);
    const network = story.cluster.networks.objects.get('default/net-a') as KubernetesObject;
    const annotations = { 'k8s.v1.cni.cncf.io/resourceName': 'bridge.network.kubevirt.io/br1' };
    story.cluster.networks.put({ ...network, metadata: { ...network.metadata, annotations } });
    const selecting = story.pool('b');
    const spec = { ...(selecting.spec as object), agentNodeSelector: { rack: 'b' } };
    story.cluster.ipPools.put({ ...selecting, metadata: { ...selecting.metadata, generation: 2 }, spec });
    await story.goOn(30_000);
    const served = [...story.serving()].flatMap(([group, [only = 'none', ...more]]) => [[only, more.length, group] as const]);
    expect(served.toSorted(([one], [other]) => one.localeCompare(other))).toEqual([
      ['a', 0, expect.stringMatching(/^vm-dhcp-agent-vlan-[0-9a-f]{8}-1$/)],
      ['b', 0, expect.stringMatching(/^vm-dhcp-agent-vlan-[0-9a-f]{8}-1$/)],
      ['c', 0, 'vm-dhcp-agent-vlan-1'],
    ]);
  });

  it('a smaller limit moves some pools to another group', async () => {
    const story = new Story('a', 'b', 'c', 'd', 'e');
    await story.control();
    await story.control({ maxPoolsPerAgent: 2 });
    await story.goOn(20_000);
    expect([1, 2, 3].map((number) => story.configured(`vm-dhcp-agent-vlan-${number}`).join())).toEqual(['a,b', 'c,d', 'e']);
    expect(['a', 'b', 'c', 'd', 'e'].map((name) => story.state(name))).toEqual(Array(5).fill('True'));
  });

  it('a bare pod of upstream serves until the new agents are ready, and is deleted then', async () => {
    const story = new Story('a');
    story.pods.put(legacyPod('a'));
    story.cluster.ipPools.put({ ...story.pool('a'), status: { agentPodRef: { name: 'default-a-agent' } } });
    story.dead.add('vm-dhcp-agent-vlan-1');
    await story.control();
    await story.goOn(20_000);
    expect(story.pods.objects.size).toBe(1);
    expect(readText(story.pool('a').status, 'agentPodRef', 'name')).toBe('default-a-agent');
    expect(story.serving().get('vm-dhcp-agent-vlan-1')).toEqual([]);
    story.dead.clear();
    await story.goOn(5_000);
    expect(story.pods.objects.size).toBe(0);
    expect(story.serving().get('vm-dhcp-agent-vlan-1')).toEqual(['a']);
    await story.goOn(1_000);
    expect(readField(story.pool('a').status, 'agentPodRef')).toBeUndefined();
  });

  it('a bare pod stays while its pool cannot be served for another reason, and is deleted when the pool is paused', async () => {
    const story = new Story('a');
    const [[key, net] = []] = story.cluster.networks.objects;
    story.cluster.networks.remove(key ?? '');
    story.pods.put(legacyPod('a'));
    await story.control();
    await story.goOn(5_000);
    expect(story.pods.objects.size).toBe(1);
    story.cluster.networks.put(net as KubernetesObject);
    const stored = story.pool('a');
    story.cluster.ipPools.put({ ...stored, spec: { ...(stored.spec as object), paused: true } });
    await story.goOn(5_000);
    expect(story.pods.objects.size).toBe(0);
  });

  it('a pool that its network’s namespace does not allow is served by no agent and no bare pod', async () => {
    const story = new Story('a');
    const [net] = [...story.cluster.networks.objects.values()] as [KubernetesObject];
    const of = (namespaces: string) => ({ 'network.harvesterhci.io/allowed-pool-namespaces': namespaces });
    const elsewhere = { ...net, metadata: { ...net.metadata, namespace: 'tenant', annotations: of('default') } };
    story.cluster.networks.put(elsewhere);
    const stored = story.pool('a');
    story.cluster.ipPools.put({ ...stored, spec: { ...(stored.spec as object), networkName: 'tenant/net-a' } });
    await story.control();
    await story.goOn(5_000);
    expect(story.serving().get('vm-dhcp-agent-vlan-1')).toEqual(['a']);
    story.pods.put(legacyPod('a'));
    story.cluster.networks.put({ ...elsewhere, metadata: { ...elsewhere.metadata, annotations: of('others') } });
    await story.goOn(5_000);
    expect(story.pods.objects.size).toBe(0);
    expect(story.serving().get('vm-dhcp-agent-vlan-1') ?? []).toEqual([]);
    expect(story.configured('vm-dhcp-agent-vlan-1')).toEqual([]);
  });

  it('a bare pod on a lost node does not block its pool forever', async () => {
    const story = new Story('a');
    const dying = legacyPod('a', { deletionTimestamp: '2026-01-01T00:00:10Z' });
    story.pods.put({ ...dying, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] } });
    await story.control();
    await story.goOn(20_000);
    expect(story.serving().get('vm-dhcp-agent-vlan-1')).toEqual([]);
    await story.goOn(40_000);
    expect(story.serving().get('vm-dhcp-agent-vlan-1')).toEqual(['a']);
  });

  it('a bare pod whose pool is on hold stays', async () => {
    const story = new Story();
    story.addPool('a', 'vlan', { [HOLD_AGENT_UPGRADE_ANNOTATION]: '' });
    story.pods.put(legacyPod('a'));
    await story.control();
    await story.goOn(10_000);
    expect(story.pods.objects.size).toBe(1);
    expect(story.deployments.objects.size).toBe(0);
    expect(story.state('a')).toBe('True');
    expect(readText(story.pool('a').status, 'servedBy')).toBe('default-a-agent');
  });
});

describe('the conditions of a pool about its agents', () => {
  it.each([
    [{ conditions: [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes' }] }, 'False NotScheduled', '0/3 nodes'],
    [
      {
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            message: "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
          },
        ],
      },
      'False NotScheduled',
      'kubectl label node NODE network.harvesterhci.io/vlan=true',
    ],
    [
      { containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } } }] },
      'False ImagePull',
      'no such image',
    ],
    [{ containerStatuses: [{ state: { waiting: { reason: 'CrashLoopBackOff' } } }] }, 'False CrashLooping', 'log'],
    [{}, 'False NotLeading', 'is not renewed'],
  ])('%j: %s', async (status, expected, message) => {
    const story = new Story('a');
    story.dead.add('vm-dhcp-agent-vlan-1');
    const labels = { [AGENT_LABEL]: 'agent', [AGENT_GROUP_LABEL]: 'vm-dhcp-agent-vlan-1' };
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: 'x' }];
    story.pods.put({ metadata: { namespace: NAMESPACE, name: 'agent-1', uid: 'p', labels, ownerReferences }, status });
    await story.control();
    await story.goOn(3_000);
    expect(story.state('a')).toBe(expected);
    expect(story.message('a')).toContain(message);
  });

  it('pods that cannot be created, with the remedy and an Event; in an upgrade too, while the old ones serve', async () => {
    const refused = 'pods "x" is forbidden: violates PodSecurity "baseline:latest": non-default capabilities';
    const conditions = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: refused }];
    const story = new Story('a');
    story.rolloutStatus = { conditions };
    story.dead.add('vm-dhcp-agent-vlan-1');
    await story.control();
    await story.goOn(3_000);
    expect(story.state('a')).toBe('False FailedCreate');
    expect(story.message('a')).toContain(`namespace ${NAMESPACE} pod-security.kubernetes.io/enforce=privileged`);
    expect(story.events()).toContain('FailedCreate');
    story.rolloutStatus = {};
    story.dead.clear();
    await story.goOn(3_000);
    expect(story.state('a')).toBe('True');
    story.rolloutStatus = { conditions, updatedReplicas: 0 };
    await story.control({ image: 'agent:v2' });
    await story.goOn(3_000);
    expect(story.state('a')).toBe('True FailedCreate');
    expect(story.message('a')).toContain('served by the agents that are there; pods of Deployment');
  });

  it('a chart without the Deployment or the container is reported', async () => {
    const story = new Story('a');
    await story.control({ topology: 'unified' });
    expect(story.state('a')).toBe('False AgentDeploymentMissing');
    const { spec, ...chart } = chartDeployment();
    story.deployments.put({ ...chart, spec: { template: { spec: { containers: [{ name: 'other' }] } } } });
    await story.goOn(2_000);
    expect(story.state('a')).toBe('False AgentContainerMissing');
    story.deployments.put({ ...chart, spec });
    await story.goOn(4_000);
    expect(story.state('a')).toBe('True');
  });

  it('paused and resumed', async () => {
    const story = new Story('a', 'b');
    await story.control();
    const stored = story.pool('a');
    story.cluster.ipPools.put({
      ...stored,
      metadata: { ...stored.metadata, generation: 2 },
      spec: { ...(stored.spec as object), paused: true },
    });
    await story.goOn(4_000);
    expect(story.state('a')).toBe('False Paused');
    expect(readField(story.pool('a').status, 'agentDeploymentRef')).toBeUndefined();
    expect(story.configured('vm-dhcp-agent-vlan-1')).toEqual(['b']);
    const paused = story.pool('a');
    story.cluster.ipPools.put({ ...paused, metadata: { ...paused.metadata, generation: 3 }, spec: stored.spec });
    await story.goOn(6_000);
    expect(story.state('a')).toBe('True');
  });
});

async function patched(story: Story, key: string, patch: Readonly<Record<string, unknown>>): Promise<void> {
  const done = story.deployments.patch({ key }, patch);
  await story.clock.advance(10);
  await done;
  story.writes.pop();
}

describe('a controller that starts', () => {
  it('does not free the address of a running machine whose template now has another MAC address, and whose config was deleted', async () => {
    const story = new Story('a');
    const { cluster } = story;
    const machine = (macAddress: string, generation: number) => {
      const made = virtualMachine('vm-a', { interfaces: { nic: [macAddress, 'net-a'] } });
      const status = { created: true, printableStatus: 'Running' };
      cluster.virtualMachines.put({ ...made, metadata: { ...made.metadata, uid: 'uid-vm-a', generation }, status });
    };
    const recorded = () => {
      const pools = [...cluster.ipPools.objects.values()];
      return readField(pools[0]?.status, 'ipv4', 'allocated', '10.0.0.10');
    };
    machine('02:00:00:00:00:01', 1);
    const running = instance('vm-a', {
      interfaces: { nic: ['net-a', '02:00:00:00:00:01', '02:00:00:00:00:01'] },
      ownerUid: 'uid-vm-a',
    });
    cluster.virtualMachineInstances.put({ ...running, metadata: { ...running.metadata, uid: 'uid-vmi-a' } });
    await story.control();
    expect(recorded()).toBe('02:00:00:00:00:01');
    await story.rest();
    machine('02:00:00:00:00:99', 2);
    cluster.networkConfigs.remove('default/vm-a');
    const seen = new Set<unknown>();
    cluster.ipPools.onWritten = () => void seen.add(recorded());
    // Events of instances come a moment after those of the other kinds.
    const { list } = cluster.virtualMachineInstances;
    Object.assign(cluster.virtualMachineInstances, {
      list: async (options: Parameters<typeof list>[0]) => {
        await new Promise<void>((resolve) => story.clock.after(500, resolve));
        return await list(options);
      },
    });
    await story.control();
    expect([...seen, recorded()]).not.toContain(undefined);
    expect(recorded()).toBe('02:00:00:00:00:01');
  });
});
