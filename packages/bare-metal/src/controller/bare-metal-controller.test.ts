import {
  type ApiResource,
  type EventObject,
  type KubernetesObject,
  readConditions,
  readField,
  SharedCaches,
  type WriteRefusal,
} from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { BareMetalController } from './bare-metal-controller.js';
import type { BareMetalObserver } from './bare-metal-settings.js';
import { CACHED_HOST_PARTS } from './cached-hosts.js';
import {
  clusterAgentObject,
  HOST_AGENT_SETTINGS,
  HOST_AGENTS_BINDING_OBJECT,
  hostEndpointObject,
} from './cluster-agent-fixtures.js';

const running: BareMetalController[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
});

class World {
  readonly clock = new FakeClock();
  readonly kinds = new Map<string, MemoryResource<KubernetesObject>>();

  /** One for each kind and namespace. */
  of({ plural, namespace = '' }: Pick<ApiResource, 'plural' | 'namespace'>): MemoryResource<KubernetesObject> {
    const key = `${plural} ${namespace}`;
    const found = this.kinds.get(key) ?? new MemoryResource<KubernetesObject>(this.clock);
    this.kinds.set(key, found);
    return found;
  }

  constructor() {
    this.of({ plural: 'clusterrolebindings' }).put(HOST_AGENTS_BINDING_OBJECT);
  }

  get agents() {
    return this.of({ plural: 'clusteragents' });
  }

  get deployments() {
    return this.of({ plural: 'deployments', namespace: 'vm-dhcp-agents' });
  }

  get events() {
    return [...this.of({ plural: 'events' }).objects.values()].map((event) => {
      const { reason, regarding, involvedObject } = event as EventObject & {
        regarding?: { name: string };
        involvedObject?: { name: string };
      };
      return `${reason} ${(regarding ?? involvedObject)?.name}`;
    });
  }

  names(): readonly string[] {
    const own = /^(deployments|serviceaccounts|leases|roles|rolebindings|clusterroles|clusterrolebindings) /;
    return [...this.kinds].flatMap(([key, { objects }]) =>
      own.test(key) ? [...objects.keys()].map((name) => `${key.split(' ')[0]} ${name}`) : [],
    );
  }
}

async function leading(world = new World(), observer: BareMetalObserver = {}) {
  const clientOf = (resource: ApiResource) => world.of(resource) as never;
  const { clock } = world;
  const caches = new SharedCaches({
    open: clientOf,
    clock,
    backOff: { firstMs: 100, mostMs: 1_000, random: () => 0.5 },
    trim: ({ plural }, object) => CACHED_HOST_PARTS[plural]?.(object) ?? object,
  });
  const controller = new BareMetalController({
    ...{ caches, clientOf, clock, agents: HOST_AGENT_SETTINGS, identity: 'controller-1', observer },
    wallTimeMs: () => Date.parse('2026-01-01T00:00:00Z') + clock.nowMs(),
    now: () => `at ${clock.nowMs()}`,
    random: () => 0.5,
  });
  running.push(controller);
  controller.start();
  controller.lead();
  await clock.advance(5_000);
  return { world, controller, clock };
}

function conditionOf({ agents }: World, name: string, type = 'Ready'): string {
  const found = readConditions(agents.objects.get(name)?.status).find((one) => one.type === type);
  return found === undefined ? '' : [found.status, found.reason].filter(Boolean).join(' ');
}

const statusOf = ({ agents }: World, name: string, ...path: readonly string[]) =>
  readField(agents.objects.get(name)?.status, ...path);

/** Reports what the Deployment controller of Kubernetes reports. */
function report({ deployments }: World, name: string, count: number): void {
  const object = deployments.objects.get(`vm-dhcp-agents/${name}`) as KubernetesObject;
  const counts = { replicas: count, readyReplicas: count, updatedReplicas: count, availableReplicas: count };
  deployments.put({ ...object, status: { observedGeneration: 9, ...counts } });
}

/** @returns a function that ends it. */
function refuse(
  resource: MemoryResource<KubernetesObject>,
  refusal: { readonly reason: WriteRefusal; readonly message: string },
): () => void {
  const { create } = resource;
  Object.assign(resource, { create: async () => ({ ok: false, ...refusal }) });
  return () => void Object.assign(resource, { create });
}

describe('a story of one ClusterAgent', () => {
  it('its agents are created, its status follows, edits are undone, and everything is deleted with it at once', async () => {
    const { world, clock, controller } = await leading();
    expect(controller.unready()).toEqual([]);
    world.agents.put(clusterAgentObject('rack'));
    await clock.advance(2_000);
    expect(world.names().toSorted()).toEqual([
      'clusterrolebindings vmdhcp-bare-metal-agents',
      'deployments vm-dhcp-agents/agent-rack',
      'leases vm-dhcp-agents/agent-rack',
      'rolebindings vm-dhcp-agents/agent-rack',
      'roles vm-dhcp-agents/agent-rack',
      'serviceaccounts vm-dhcp-agents/agent-rack',
    ]);
    expect([conditionOf(world, 'rack'), conditionOf(world, 'rack', 'Valid')]).toEqual(['False HostAgentsStarting', 'True']);
    expect(statusOf(world, 'rack', 'ready')).toBe(false);

    report(world, 'agent-rack', 1);
    await clock.advance(2_000);
    expect([conditionOf(world, 'rack'), statusOf(world, 'rack', 'ready')]).toEqual(['True HostAgentsReady', true]);
    expect([...controller.ready()]).toEqual([['rack', true]]);

    const there = world.deployments.objects.get('vm-dhcp-agents/agent-rack') as KubernetesObject;
    world.deployments.put({ ...there, spec: { ...(there.spec as object), replicas: 7 } });
    await clock.advance(2_000);
    expect(readField(world.deployments.objects.get('vm-dhcp-agents/agent-rack')?.spec, 'replicas')).toBe(1);
    expect(world.events).toEqual([]);

    world.agents.remove('rack');
    await clock.advance(100);
    expect(world.names().toSorted()).toEqual(['clusterrolebindings vmdhcp-bare-metal-agents']);
  });

  it('an object that is deleted by hand is recreated', async () => {
    const { world, clock } = await leading();
    world.agents.put(clusterAgentObject('rack'));
    await clock.advance(2_000);
    world.deployments.remove('vm-dhcp-agents/agent-rack');
    await clock.advance(2_000);
    expect(world.names()).toContain('deployments vm-dhcp-agents/agent-rack');
  });

  it('another replica that becomes leader writes nothing that already exists', async () => {
    const { world, clock } = await leading();
    world.agents.put(clusterAgentObject('rack'));
    await clock.advance(2_000);
    await running.pop()?.stop();
    const versions = () =>
      [...world.kinds.values()].flatMap(({ objects }) => [...objects.values()].map((one) => one.metadata.resourceVersion));
    const before = versions();
    await leading(world);
    expect(versions()).toEqual(before);
  });
});

describe('the counter of writes', () => {
  it('counts successful writes, but not refused ones', async () => {
    const writes: string[] = [];
    const world = new World();
    const { clock } = await leading(world, { onAgentWrite: ({ kind, object }) => writes.push(`${kind} ${object.kind}`) });
    const end = refuse(world.deployments, { reason: 'forbidden', message: 'cannot create' });
    world.agents.put(clusterAgentObject('rack'));
    await clock.advance(2_000);
    expect(writes).toContain('create ServiceAccount');
    expect(writes).not.toContain('create Deployment');
    end();
    await clock.advance(40_000);
    expect(writes.filter((one) => one === 'create Deployment')).toHaveLength(1);
  });

  it('a ClusterAgent that is switched off is neither ready nor waited for', async () => {
    const { world, controller, clock } = await leading();
    world.agents.put(clusterAgentObject('off', { yaml: { replicas: 0 } }));
    world.agents.put(clusterAgentObject('rack', { yaml: { underlayInterface: 'kube-system/other' } }));
    await clock.advance(2_000);
    expect(conditionOf(world, 'off')).toBe('False HostAgentsOff');
    expect([...controller.ready()]).toEqual([['rack', false]]);
  });
});

describe('problems that a person has to know', () => {
  it.each<[string, { reason: WriteRefusal; message: string }, string, string]>([
    ['a Deployment of others', { reason: 'already-exists', message: '' }, 'False HostAgentsRefused', 'delete it'],
    [
      'a right that is missing',
      { reason: 'forbidden', message: 'cannot create' },
      'False HostAgentsFailed',
      'cannot create; correct the rights',
    ],
    [
      'a field that the server refuses',
      { reason: 'invalid', message: 'image' },
      'False HostAgentsFailed',
      'correct spec.agentYaml',
    ],
  ])('%s is in the condition and in an Event until it is gone', async (_, refusal, condition, text) => {
    const { world, clock } = await leading();
    const end = refuse(world.deployments, refusal);
    world.agents.put(clusterAgentObject('rack'));
    await clock.advance(2_000);
    expect(conditionOf(world, 'rack')).toBe(condition);
    expect(readConditions(world.agents.objects.get('rack')?.status).find(({ type }) => type === 'Ready')?.message).toContain(
      text,
    );
    expect(world.events).toEqual([`${condition.split(' ')[1]} rack`]);
    end();
    await clock.advance(40_000);
    expect(conditionOf(world, 'rack')).toBe('False HostAgentsStarting');
  });

  it('if two ClusterAgents have the same addresses, the older one runs, and the younger one follows when it is gone', async () => {
    const { world, clock } = await leading();
    world.agents.put(clusterAgentObject('old'));
    world.agents.put(clusterAgentObject('young', { age: 9 }));
    await clock.advance(2_000);
    expect([conditionOf(world, 'old'), conditionOf(world, 'young')]).toEqual([
      'False HostAgentsStarting',
      'False UnderlayShared',
    ]);
    expect(readField(world.deployments.objects.get('vm-dhcp-agents/agent-young')?.spec, 'replicas')).toBe(0);
    expect(world.events).toEqual(['UnderlayShared young']);
    world.agents.remove('old');
    await clock.advance(2_000);
    expect(readField(world.deployments.objects.get('vm-dhcp-agents/agent-young')?.spec, 'replicas')).toBe(1);
  });

  it('a Secret that lacks a key, or is not there, is reported where it is named, and never cached with its values', async () => {
    const { world, clock } = await leading();
    const secrets = world.of({ plural: 'secrets', namespace: 'bmc-secrets' });
    world.agents.put(clusterAgentObject('rack', { endpoint: { secretName: 'bmc', secretNamespace: 'bmc-secrets' } }));
    const endpoint = hostEndpointObject('host', {
      clusterAgent: 'rack',
      ipAddr: '10.0.0.1',
      secretName: 'own',
      secretNamespace: 'bmc-secrets',
    });
    world.of({ plural: 'hostendpoints' }).put(endpoint);
    await clock.advance(2_000);
    expect(conditionOf(world, 'rack', 'Valid')).toBe('False HostSecretUnusable');
    expect(world.events.toSorted()).toEqual(['HostSecretUnusable host', 'HostSecretUnusable rack']);
    for (const name of ['bmc', 'own'])
      secrets.put({ metadata: { namespace: 'bmc-secrets', name }, ...{ data: { username: 'YWRtaW4=', password: 'c2VjcmV0' } } });
    await clock.advance(2_000);
    expect(conditionOf(world, 'rack', 'Valid')).toBe('True');
    expect(CACHED_HOST_PARTS['secrets']?.(secrets.objects.get('bmc-secrets/own') as KubernetesObject)).toMatchObject({
      data: { username: 'set', password: 'set' },
    });
  });

  it('hosts that are polled over HTTPS without a Secret are reported, until a Secret is named; agents run nevertheless', async () => {
    const { world, clock } = await leading();
    world.agents.put(clusterAgentObject('rack', { endpoint: { port: 443 } }));
    world.of({ plural: 'hostendpoints' }).put(hostEndpointObject('host', { ipAddr: '192.168.0.200' }));
    await clock.advance(2_000);
    expect(conditionOf(world, 'rack', 'Valid')).toBe('False HostSecretUnusable');
    expect(world.events.toSorted()).toEqual(['HostSecretUnusable host', 'HostSecretUnusable rack']);
    expect(readField(world.deployments.objects.get('vm-dhcp-agents/agent-rack')?.spec, 'replicas')).toBe(1);
    world.agents.put(clusterAgentObject('rack', { endpoint: { secretName: 'bmc', secretNamespace: 'bmc-secrets' } }));
    world.of({ plural: 'secrets', namespace: 'bmc-secrets' }).put({
      metadata: { namespace: 'bmc-secrets', name: 'bmc' },
      ...{ data: { username: 'YWRtaW4=', password: 'c2VjcmV0' } },
    });
    await clock.advance(2_000);
    expect(conditionOf(world, 'rack', 'Valid')).toBe('True');
    expect(world.events).toHaveLength(2);
  });

  it('a HostEndpoint without any ClusterAgent has an Event, once', async () => {
    const { world, clock } = await leading();
    world.of({ plural: 'hostendpoints' }).put(hostEndpointObject('host', { ipAddr: '10.0.0.1' }));
    world.of({ plural: 'secrets', namespace: 'bmc-secrets' }).put({ metadata: { namespace: 'bmc-secrets', name: 'x' } });
    await clock.advance(10_000);
    expect(world.events).toEqual(['ClusterAgentMissing host']);
  });

  it('an operation that no agent accepts fails after ten minutes, with an Event; one of a host stays', async () => {
    const { world, clock } = await leading();
    const [operations, hosts] = [world.of({ plural: 'hostoperations' }), world.of({ plural: 'hoststatuses' })];
    const operation = (name: string, hostStatusName: string): KubernetesObject => ({
      apiVersion: 'bmc.spidernet.io/v1beta1',
      kind: 'HostOperation',
      metadata: { name, uid: name, creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { action: 'On', hostStatusName },
    });
    world.agents.put(clusterAgentObject('rack'));
    hosts.put({ metadata: { name: 'rack-10-0-0-1' }, status: { clusterAgent: 'rack' } });
    operations.put(operation('lost', 'no-such-host'));
    operations.put(operation('served', 'rack-10-0-0-1'));
    await clock.advance(500_000);
    expect(readField(operations.objects.get('lost')?.status, 'status')).toBeUndefined();
    await clock.advance(200_000);
    expect(readField(operations.objects.get('lost')?.status, 'status')).toBe('failure');
    expect(readField(operations.objects.get('served')?.status, 'status')).toBeUndefined();
    expect(world.events).toContain('OperationFailed lost');
  });
});
