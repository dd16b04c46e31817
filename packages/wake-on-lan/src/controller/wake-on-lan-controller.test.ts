import {
  type EventObject,
  type KubernetesObject,
  readConditions,
  readField,
  readList,
  readText,
  SharedCaches,
  type WriteRefusal,
} from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { AGENT_SETTINGS, MemoryInventory, macEndingIn, wakeMachine, wolConfigObject } from '../config/wol-config-fixtures.js';
import { WakeOnLanController } from './wake-on-lan-controller.js';

const running: WakeOnLanController[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
});

interface World {
  readonly clock: FakeClock;
  readonly configs: MemoryResource<KubernetesObject>;
  readonly daemonSets: MemoryResource<KubernetesObject>;
  readonly events: MemoryResource<EventObject>;
  readonly inventory: MemoryInventory;
}

function world(): World {
  const clock = new FakeClock();
  const inventory = new MemoryInventory();
  inventory.sync();
  const [configs, daemonSets] = [new MemoryResource<KubernetesObject>(clock), new MemoryResource<KubernetesObject>(clock)];
  return { clock, configs, daemonSets, events: new MemoryResource<EventObject>(clock), inventory };
}

function controller({ clock, configs, daemonSets, events, inventory }: World) {
  const clients: Record<string, unknown> = { wolconfigs: configs, daemonsets: daemonSets, events };
  const clientOf = ({ plural }: { readonly plural: string }) => clients[plural] as never;
  const caches = new SharedCaches({
    open: clientOf,
    clock,
    backOff: { firstMs: 100, mostMs: 1_000, random: () => 0.5 },
  });
  const made = new WakeOnLanController({
    caches,
    clientOf,
    inventory,
    agents: AGENT_SETTINGS,
    clock,
    now: () => `at ${clock.nowMs()}`,
    random: () => 0.5,
    identity: 'controller-1',
  });
  running.push(made);
  return made;
}

async function leading(within: World = world()) {
  const made = controller(within);
  made.start();
  made.lead();
  await within.clock.advance(5_000);
  return { ...within, controller: made };
}

/** The status and reason of a condition, `False InvalidConfig`. */
function conditionOf({ configs }: World, name: string, type = 'Ready'): string {
  const found = readConditions(configs.objects.get(name)?.status).find((one) => one.type === type);
  return found === undefined ? '' : [found.status, found.reason].filter(Boolean).join(' ');
}

function messageOf({ configs }: World, name: string, type = 'Ready'): string {
  return readConditions(configs.objects.get(name)?.status).find((one) => one.type === type)?.message ?? '';
}

const statusOf = ({ configs }: World, name: string, ...path: string[]) => readField(configs.objects.get(name)?.status, ...path);
const daemonSetNames = ({ daemonSets }: World) => [...daemonSets.objects.keys()];
const reasonsOf = ({ events }: World) => [...events.objects.values()].map(({ reason }) => reason);

/** Reports what the DaemonSet controller of Kubernetes reports. */
function report({ daemonSets }: World, name: string, nodes: number, ready = nodes): void {
  const object = daemonSets.objects.get(`vm-dhcp-system/${name}`) as KubernetesObject;
  const status = { observedGeneration: 9, desiredNumberScheduled: nodes, numberReady: ready, numberAvailable: ready };
  daemonSets.put({ ...object, status });
}

/** @returns a function that ends it. */
function refuseCreation({ daemonSets }: World, refusal: { readonly reason: WriteRefusal; readonly message: string }): () => void {
  const { create } = daemonSets;
  Object.assign(daemonSets, { create: async () => ({ ok: false, ...refusal }) });
  return () => void Object.assign(daemonSets, { create });
}

describe('a story of one WolConfig', () => {
  it('creates its DaemonSet, updates its status, and deletes the DaemonSet with it at once', async () => {
    const story = await leading();
    expect(daemonSetNames(story)).toEqual([]);
    story.inventory.set(wakeMachine('lab/vm-a', 1));
    story.configs.put(wolConfigObject('office'));
    await story.clock.advance(2_000);
    expect(daemonSetNames(story)).toEqual(['vm-dhcp-system/wol-agent-office']);
    expect([conditionOf(story, 'office'), conditionOf(story, 'office', 'MappingsResolved')]).toEqual([
      'Unknown Configured',
      'True',
    ]);
    expect(story.controller.index.find(macEndingIn(1)).kind).toBe('machine');
    expect([...story.controller.managed()]).toEqual([['office', 1]]);

    report(story, 'wol-agent-office', 3, 2);
    await story.clock.advance(2_000);
    expect(conditionOf(story, 'office')).toBe('True MappingUpdated');
    expect(messageOf(story, 'office')).toBe('VM mapping refreshed successfully');
    expect(readConditions(story.configs.objects.get('office')?.status)[0]?.observedGeneration).toBe(1);
    expect(statusOf(story, 'office', 'managedVMs')).toBe(1);
    expect(statusOf(story, 'office', 'agentStatus')).toEqual({
      daemonSetName: 'wol-agent-office',
      desiredNumberScheduled: 3,
      numberReady: 2,
      numberAvailable: 2,
    });
    expect(reasonsOf(story)).toEqual([]);

    story.configs.remove('office');
    await story.clock.advance(10);
    expect(daemonSetNames(story)).toEqual([]);
    expect(story.controller.index.find(macEndingIn(1)).kind).toBe('not-allowed');
  });

  it('writes nothing if nothing has changed: lastSync stays', async () => {
    const story = await leading();
    story.configs.put(wolConfigObject('office'));
    await story.clock.advance(5_000);
    const { resourceVersion } = story.configs.objects.get('office')?.metadata ?? {};
    const lastSync = statusOf(story, 'office', 'lastSync');
    const writes: string[] = [];
    for (const one of [story.configs, story.daemonSets]) one.onWritten = (what, key) => writes.push(`${what} ${key}`);
    story.inventory.set({ ...wakeMachine('lab/none', 1), macAddresses: [] });
    await story.clock.advance(600_000);
    expect(writes).toEqual([]);
    expect(story.configs.objects.get('office')?.metadata.resourceVersion).toBe(resourceVersion);
    expect([typeof lastSync, statusOf(story, 'office', 'lastSync')]).toEqual(['string', lastSync]);
  });

  it('ten thousand changes of machines within a second cause one write of the status', async () => {
    const story = await leading();
    story.configs.put(wolConfigObject('office'));
    await story.clock.advance(5_000);
    const writes: string[] = [];
    story.configs.onWritten = (what) => writes.push(what);
    for (let last = 0; last < 10_000; last++) story.inventory.set(wakeMachine(`lab/vm-${last}`, last));
    await story.clock.advance(5_000);
    expect(writes).toHaveLength(1);
    expect(statusOf(story, 'office', 'managedVMs')).toBe(10_000);
  });

  it('restores a DaemonSet that another client changes or deletes', async () => {
    const story = await leading();
    story.configs.put(wolConfigObject('office'));
    await story.clock.advance(1_000);
    const key = 'vm-dhcp-system/wol-agent-office';
    const before = story.daemonSets.objects.get(key) as KubernetesObject;
    const args = () => readField(readList(story.daemonSets.objects.get(key)?.spec, 'template', 'spec', 'containers')[0], 'args');
    const wanted = args();
    const evil = [{ name: 'agent', image: 'evil:1' }];
    const spec = before.spec as { readonly template: { readonly spec: object } };
    const template = { ...spec.template, spec: { ...spec.template.spec, containers: evil } };
    story.daemonSets.put({ ...before, spec: { ...spec, template } });
    await story.clock.advance(1_000);
    expect(args()).toEqual(wanted);
    story.daemonSets.remove(key);
    await story.clock.advance(1_000);
    expect(args()).toEqual(wanted);
  });
});

describe('what a WolConfig reports', () => {
  it('InvalidConfig with every problem, once: no retry until it changes, and no agents', async () => {
    const story = await leading();
    const writes: string[] = [];
    story.configs.onWritten = (what) => writes.push(what);
    story.configs.put(wolConfigObject('office', { wolPorts: [70_000, 0] }));
    story.configs.put(wolConfigObject('other', { wolPorts: [7] }, 1));
    await story.clock.advance(600_000);
    expect(conditionOf(story, 'office')).toBe('False InvalidConfig');
    expect(messageOf(story, 'office')).toMatch(/invalid WOL port 70000.*invalid WOL port 0/);
    expect(conditionOf(story, 'office', 'MappingsResolved')).toBe('Unknown InvalidConfig');
    expect(daemonSetNames(story)).toEqual(['vm-dhcp-system/wol-agent-other']);
    expect(writes, 'one of each').toHaveLength(2);
    expect(reasonsOf(story)).toEqual(['InvalidConfig']);
    story.configs.put({ ...(story.configs.objects.get('office') as KubernetesObject), spec: {} });
    await story.clock.advance(5_000);
    expect(conditionOf(story, 'office')).toBe('Unknown Configured');
  });

  it('PortConflict with the other WolConfig and the port', async () => {
    const story = await leading();
    story.configs.put(wolConfigObject('old', { agent: { nodeSelector: { zone: 'a' } } }, 1));
    story.configs.put(wolConfigObject('young', {}, 2));
    await story.clock.advance(5_000);
    expect(conditionOf(story, 'young')).toBe('False PortConflict');
    expect(messageOf(story, 'young')).toContain('UDP port 9 is opened by the agents of WolConfig old');
    expect(statusOf(story, 'young', 'agentStatus')).toBeUndefined();
    expect(daemonSetNames(story)).toEqual(['vm-dhcp-system/wol-agent-old']);
    story.configs.remove('old');
    await story.clock.advance(5_000);
    expect([conditionOf(story, 'young'), daemonSetNames(story)]).toEqual([
      'Unknown Configured',
      ['vm-dhcp-system/wol-agent-young'],
    ]);
  });

  it('the DaemonSet of another WolConfig, if that listens for it', async () => {
    const story = await leading();
    story.configs.put(wolConfigObject('old', {}, 1));
    story.configs.put(wolConfigObject('young', {}, 2));
    await story.clock.advance(1_000);
    report(story, 'wol-agent-old', 1);
    await story.clock.advance(5_000);
    expect([conditionOf(story, 'old'), conditionOf(story, 'young')]).toEqual(['True MappingUpdated', 'True MappingUpdated']);
    expect(statusOf(story, 'young', 'agentStatus', 'daemonSetName')).toBe('wol-agent-old');
  });

  it.each<[string, KubernetesObject['metadata']]>([
    ['with the label', { name: 'wol-agent-office', namespace: 'vm-dhcp-system', labels: { app: 'wol-agent' }, uid: 'other' }],
  ])('AgentsRefused for a DaemonSet of another owner %s', async (_, metadata) => {
    const within = world();
    within.daemonSets.put({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec: {} });
    const story = await leading(within);
    story.configs.put(wolConfigObject('office'));
    await story.clock.advance(5_000);
    expect(conditionOf(story, 'office')).toBe('False AgentsRefused');
    expect(messageOf(story, 'office')).toContain('delete it');
    expect(story.daemonSets.objects.get('vm-dhcp-system/wol-agent-office')?.metadata.uid).toBe('other');
  });

  it('AgentsRefused for a DaemonSet that the watch does not show, until it is gone', async () => {
    const within = world();
    const accept = refuseCreation(within, { reason: 'already-exists', message: 'exists' });
    const story = await leading(within);
    story.configs.put(wolConfigObject('office'));
    await story.clock.advance(5_000);
    expect(conditionOf(story, 'office')).toBe('False AgentsRefused');
    accept();
    await story.clock.advance(60_000);
    expect(conditionOf(story, 'office')).toBe('Unknown Configured');
  });

  it('AgentFailed with the text of the API server, or if no node accepts an agent', async () => {
    const within = world();
    const accept = refuseCreation(within, { reason: 'invalid', message: 'tolerations[0].operator: Near' });
    const story = await leading(within);
    story.configs.put(wolConfigObject('office'));
    await story.clock.advance(5_000);
    expect([conditionOf(story, 'office'), reasonsOf(story)]).toEqual(['False AgentFailed', ['AgentFailed']]);
    expect(messageOf(story, 'office')).toContain('tolerations[0].operator: Near');
    accept();
    await story.clock.advance(60_000);
    report(story, 'wol-agent-office', 0);
    await story.clock.advance(5_000);
    expect(conditionOf(story, 'office')).toBe('False AgentFailed');
    expect(messageOf(story, 'office')).toContain('no node accepts an agent');
  });

  it('MachineMissing, MappingIgnored and AddressAmbiguous, while the rest works', async () => {
    const story = await leading();
    const mapping = (last: number, vmName: string, namespace = 'lab') => ({ macAddress: macEndingIn(last), vmName, namespace });
    const explicitMappings = [mapping(1, 'vm-a'), mapping(2, 'gone')];
    story.configs.put(wolConfigObject('explicit', { discoveryMode: 'Explicit', explicitMappings }));
    story.inventory.set(wakeMachine('lab/vm-a', 1));
    story.inventory.set(wakeMachine('prod/vm-b', 7));
    await story.clock.advance(5_000);
    expect(conditionOf(story, 'explicit', 'MappingsResolved')).toBe('False MachineMissing');
    expect(messageOf(story, 'explicit', 'MappingsResolved')).toContain('lab/gone');
    expect(story.controller.index.find(macEndingIn(1)).kind).toBe('machine');
    story.inventory.set(wakeMachine('lab/gone', 9));
    await story.clock.advance(5_000);
    expect(conditionOf(story, 'explicit', 'MappingsResolved')).toBe('True');

    story.configs.put(wolConfigObject('all', { wolPorts: [7] }, 1));
    story.inventory.set(wakeMachine('lab/copy', 7));
    await story.clock.advance(5_000);
    expect(conditionOf(story, 'all', 'MappingsResolved')).toBe('False AddressAmbiguous');
    expect(messageOf(story, 'all', 'MappingsResolved')).toContain(`${macEndingIn(7)} of lab/copy, prod/vm-b`);
    expect(conditionOf(story, 'explicit', 'MappingsResolved'), 'it allows neither').toBe('True');

    const ignored = { discoveryMode: 'Explicit', namespaceSelectors: ['lab'], explicitMappings: [mapping(3, 'vm-c', 'prod')] };
    story.configs.put(wolConfigObject('narrow', ignored, 2));
    await story.clock.advance(5_000);
    expect(conditionOf(story, 'narrow', 'MappingsResolved')).toBe('False MappingIgnored');
    expect(reasonsOf(story).toSorted()).toEqual(['AddressAmbiguous', 'MachineMissing', 'MappingIgnored']);
  });

  it('AddressAmbiguous with a machine of each tenant, even if one tenant has many copies', async () => {
    const story = await leading();
    story.configs.put(wolConfigObject('all'));
    story.inventory.set(wakeMachine('lab/vm-a', 7));
    for (let copy = 0; copy < 20; copy++) story.inventory.set(wakeMachine(`aaa-tenant/copy-${copy}`, 7));
    await story.clock.advance(5_000);
    expect(messageOf(story, 'all', 'MappingsResolved')).toContain(`${macEndingIn(7)} of aaa-tenant/copy-0, lab/vm-a, `);
  });

  it('bounded texts, however many problems there are', async () => {
    const story = await leading();
    for (let last = 0; last < 300; last++)
      for (const copy of ['a', 'b']) story.inventory.set(wakeMachine(`lab/vm-${copy}-${'x'.repeat(40)}-${last}`, last));
    const explicitMappings = Array.from({ length: 500 }, (_, last) => ({
      macAddress: macEndingIn(1_000 + last),
      vmName: `gone-${'y'.repeat(50)}-${last}`,
      namespace: 'lab',
    }));
    story.configs.put(wolConfigObject('all'));
    story.configs.put(wolConfigObject('explicit', { discoveryMode: 'Explicit', explicitMappings, wolPorts: [7] }, 1));
    await story.clock.advance(5_000);
    for (const name of ['all', 'explicit']) {
      expect(conditionOf(story, name, 'MappingsResolved')).toMatch(/^False/);
      expect(messageOf(story, name, 'MappingsResolved').length).toBeLessThanOrEqual(1_024);
    }
  });
});

describe('several controllers', () => {
  it('a standby has an up-to-date index and writes nothing; when it becomes leader, it continues', async () => {
    const within = world();
    const follower = controller(within);
    follower.start();
    within.inventory.set(wakeMachine('lab/vm-a', 1));
    within.configs.put(wolConfigObject('office'));
    await within.clock.advance(5_000);
    expect([follower.synced, follower.unready()]).toEqual([true, []]);
    expect(follower.index.find(macEndingIn(1)).kind).toBe('machine');
    expect([daemonSetNames(within), within.configs.objects.get('office')?.status]).toEqual([[], undefined]);
    follower.lead();
    await within.clock.advance(5_000);
    expect(daemonSetNames(within)).toEqual(['vm-dhcp-system/wol-agent-office']);
    await follower.stop();
    within.configs.remove('office');
    await within.clock.advance(5_000);
    expect(daemonSetNames(within), 'it has stopped').toHaveLength(1);
  });

  it('nothing is written before every virtual machine is known', async () => {
    const within = { ...world(), inventory: new MemoryInventory() };
    within.configs.put(wolConfigObject('office'));
    const story = await leading(within);
    expect([story.controller.synced, story.controller.unready()]).toEqual([false, ['not listed yet: virtual machines']]);
    expect(daemonSetNames(story)).toEqual([]);
    within.inventory.sync();
    await story.clock.advance(5_000);
    expect(daemonSetNames(story)).toHaveLength(1);
  });

  it('the DaemonSet of a WolConfig that was deleted while no controller ran is deleted', async () => {
    const before = await leading();
    before.configs.put(wolConfigObject('office'));
    await before.clock.advance(5_000);
    await before.controller.stop();
    before.configs.remove('office');
    await leading(before);
    expect(daemonSetNames(before)).toEqual([]);
  });

  it('refused and lost writes are tried again', async () => {
    const within = world();
    let faults = 0;
    const fault = () => (faults++ % 3 === 0 ? 'lost-answer' : faults % 3 === 1 ? 'conflict' : 'none');
    within.configs.writeFault = fault;
    within.daemonSets.writeFault = fault;
    const story = await leading(within);
    story.configs.put(wolConfigObject('office'));
    await story.clock.advance(120_000);
    expect(daemonSetNames(story)).toHaveLength(1);
    expect(conditionOf(story, 'office')).toBe('Unknown Configured');
    expect(readText(story.configs.objects.get('office')?.status, 'agentStatus', 'daemonSetName')).toBe('wol-agent-office');
  });
});
