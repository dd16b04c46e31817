import { describe, expect, it } from 'vitest';
import { network, pool } from '../controller/controller-fixtures.js';
import { DhcpController } from '../controller/dhcp-controller.js';
import { readConditions } from '../object/conditions.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { readField, readList, readText } from '../object/read-field.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryCluster } from '../testing/memory-cluster.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { AGENT_REPORT_ANNOTATION, formatAgentReport, type PoolReport } from './agent-report.js';
import { UnifiedAgents } from './unified-agents.js';

const NAMESPACE = 'harvester-system';

class Story {
  readonly clock = new FakeClock();
  readonly cluster = new MemoryCluster(this.clock);
  readonly deployments = new MemoryResource<KubernetesObject>(this.clock);
  readonly leases = new MemoryResource<KubernetesObject>(this.clock);
  readonly #controller: DhcpController;
  readonly #agents: UnifiedAgents;
  #renewals = 0;

  constructor() {
    const { clock, cluster, deployments, leases } = this;
    this.#controller = new DhcpController({
      clients: { ...cluster, events: cluster.events },
      clock,
      now: () => '2026-01-01T00:00:00Z',
      random: () => 0.5,
      identity: 'one',
      agentConditions: (one) => this.#agents.conditions(one),
      onPoolsChanged: () => this.#agents.poolsChanged(),
    });
    this.#agents = new UnifiedAgents({
      namespace: NAMESPACE,
      deploymentName: 'agent',
      containerName: 'agent',
      clients: { deployments, leases },
      clock,
      random: () => 0.5,
      cluster: () => ({
        view: this.#controller.view,
        networks: this.#controller.caches.networks,
        isKnown: this.#controller.working,
      }),
      onChange: (key) => this.#controller.agentsChanged(key),
    });
  }

  async begin(): Promise<void> {
    this.cluster.networks.put(network());
    this.cluster.ipPools.put({ ...pool(), metadata: { ...pool().metadata, uid: 'u', generation: 1 } });
    this.#controller.start();
    this.#agents.start();
    this.#controller.lead();
    this.#agents.lead();
    await this.clock.advance(1_000);
  }

  deploy(container = 'agent'): void {
    this.deployments.put({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: NAMESPACE, name: 'agent', uid: 'd' },
      spec: { template: { spec: { containers: [{ name: container }] } } },
    });
  }

  renew(report: Readonly<Record<string, PoolReport>>, holder = 'agent-1'): void {
    this.leases.put({
      metadata: {
        namespace: NAMESPACE,
        name: 'vm-dhcp-agents',
        annotations: { [AGENT_REPORT_ANNOTATION]: formatAgentReport(new Map(Object.entries(report))) },
      },
      spec: { holderIdentity: holder, leaseDurationSeconds: 4, renewTime: `t${++this.#renewals}` },
    });
  }

  states(): string[] {
    const { status } = this.cluster.ipPools.objects.get('default/pool-1') ?? {};
    return readConditions(status)
      .filter(({ type }) => type === 'Registered' || type === 'AgentReady')
      .map(({ type, status: is, reason }) => `${type}=${is}${reason === undefined ? '' : ` ${reason}`}`);
  }

  told(): string[] {
    const [deployment] = this.deployments.objects.values();
    const [container] = readList(deployment?.spec, 'template', 'spec', 'containers');
    const env = readList(container, 'env').find((entry) => readText(entry, 'name') === 'IPPOOL_REFS_JSON');
    return JSON.parse(readText(env, 'value') ?? '[]') as string[];
  }
}

describe('the agents of all pools', () => {
  it('from no Deployment at all to a pool that is served, and back', async () => {
    const story = new Story();
    await story.begin();
    expect(story.states()).toEqual(['Registered=False AgentDeploymentMissing', 'AgentReady=False AgentDeploymentMissing']);
    story.deploy('sidecar');
    await story.clock.advance(1_000);
    expect(story.states()[0]).toBe('Registered=False AgentContainerMissing');
    story.deploy();
    await story.clock.advance(1_000);
    expect(story.told()).toEqual(['default/pool-1']);
    expect(story.states()).toEqual(['Registered=True', 'AgentReady=False NotLeading']);
    story.renew({});
    await story.clock.advance(100);
    expect(story.states()).toEqual(['Registered=True', 'AgentReady=False RollingOut']);
    story.renew({ 'default/pool-1': { serving: false, reason: 'InterfaceMissing', message: 'no interface' } });
    await story.clock.advance(100);
    expect(story.states()).toEqual(['Registered=True', 'AgentReady=False InterfaceMissing']);
    story.renew({ 'default/pool-1': { serving: true } });
    await story.clock.advance(100);
    expect(story.states()).toEqual(['Registered=True', 'AgentReady=True']);
    await story.clock.advance(7_000);
    expect(story.states(), 'the Lease lasts twice its time').toEqual(['Registered=True', 'AgentReady=True']);
    await story.clock.advance(2_000);
    expect(story.states()).toEqual(['Registered=True', 'AgentReady=False NotLeading']);
  });

  it('a lease that was released, a paused pool, a network that is gone', async () => {
    const story = new Story();
    story.deploy();
    await story.begin();
    story.renew({ 'default/pool-1': { serving: true } });
    await story.clock.advance(100);
    story.renew({ 'default/pool-1': { serving: true } }, '');
    await story.clock.advance(100);
    expect(story.states()[1]).toBe('AgentReady=False NotLeading');
    const stored = story.cluster.ipPools.objects.get('default/pool-1') as KubernetesObject;
    const paused = {
      ...stored,
      metadata: { ...stored.metadata, generation: 2 },
      spec: { ...(stored.spec as object), paused: true },
    };
    story.cluster.ipPools.put(paused);
    await story.clock.advance(1_000);
    expect(story.states()).toEqual(['Registered=False Paused', 'AgentReady=False Paused']);
    expect(story.told()).toEqual([]);
    story.cluster.ipPools.put({ ...stored, metadata: { ...stored.metadata, generation: 3 } });
    story.cluster.networks.remove('default/net-1');
    await story.clock.advance(1_000);
    expect(story.states()[0]).toBe('Registered=False NetworkMissing');
    expect(story.told()).toEqual([]);
  });

  it('writes nothing more once everything is told', async () => {
    const story = new Story();
    story.deploy();
    await story.begin();
    story.renew({ 'default/pool-1': { serving: true } });
    await story.clock.advance(1_000);
    const before = readField([...story.deployments.objects.values()][0], 'metadata', 'resourceVersion');
    for (let turn = 0; turn < 20; turn++) {
      story.renew({ 'default/pool-1': { serving: true } });
      await story.clock.advance(1_000);
    }
    expect(readField([...story.deployments.objects.values()][0], 'metadata', 'resourceVersion')).toBe(before);
  });
});
