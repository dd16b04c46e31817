/** A running machine is moved to another network: KubeVirt changes its instance at once, and the guest moves with a migration. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readList, readText } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { virtualMachine } from '../fixtures/object-fixtures.js';
import { readLeavingNetworks } from './leaving-networks.js';
import { planNetworkConfig } from './plan-network-config.js';
import { projectInstance, readRunningInstance } from './running-instance.js';
import type { MachineKnowledge } from './wanted-interfaces.js';

const MAC = '02:00:00:00:00:0a';
const OWNER = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'vm-a', uid: 'machine' };

function machineOn(network: string): KubernetesObject {
  const one = virtualMachine('vm-a', { interfaces: { nic: [MAC, network] } });
  return { ...one, metadata: { ...one.metadata, uid: OWNER.uid } };
}

interface Migration {
  readonly migrationUid: string;
  readonly completed?: boolean;
  readonly failed?: boolean;
  readonly endTimestamp?: string;
}

const START = '2026-01-31T12:00:00Z';
const minutes = (count: number) => count * 60_000;
const at = (count: number) => new Date(Date.parse(START) + minutes(count)).toISOString().replace('.000', '');

/** As the controller caches it. */
function instanceOn(
  network: string,
  migrationState?: Migration,
  { uid = 'instance', isRequired = false } = {},
): KubernetesObject {
  const { spec } = machineOn(network) as { spec: { template: { spec: object } } };
  return projectInstance({
    metadata: { namespace: 'default', name: 'vm-a', uid, ownerReferences: [{ ...OWNER, controller: true }] },
    spec: spec.template.spec,
    status: {
      phase: 'Running',
      ...(isRequired && { conditions: [{ type: 'MigrationRequired', status: 'True' }] }),
      ...(migrationState && { migrationState }),
    },
  });
}

/** Carries out what is planned, and shows the networks on which the machine has an address. */
class Story {
  #config: KubernetesObject | undefined;
  #nowMs = Date.parse(START);

  later(count: number): this {
    this.#nowMs += minutes(count);
    return this;
  }

  see(network: string, instance: KubernetesObject | 'unseen' | undefined, machine = machineOn(network)): string[] {
    const seen: MachineKnowledge['instance'] = typeof instance === 'object' ? readRunningInstance(machine, instance) : instance;
    const knowledge = { instance: seen, nowMs: this.#nowMs };
    const [action] = planNetworkConfig(machine, this.#config, knowledge).actions;
    if (action?.kind === 'create') this.#config = { ...action.object, metadata: { ...action.object.metadata, uid: 'c' } };
    if (action?.kind === 'update') this.#config = applied(this.#config as KubernetesObject, action.patch);
    expect(planNetworkConfig(machine, this.#config, knowledge).actions, 'the next plan is empty').toEqual([]);
    return readList(this.#config?.spec, 'networkConfigs')
      .map((entry) => readText(entry, 'networkName') ?? '')
      .toSorted();
  }
}

function applied(config: KubernetesObject, patch: object): KubernetesObject {
  const { metadata = {}, spec = {} } = patch as { metadata?: { annotations?: object }; spec?: object };
  const merged = Object.entries({ ...config.metadata.annotations, ...metadata.annotations });
  const annotations = Object.fromEntries(merged.filter(([, value]) => value !== null)) as Record<string, string>;
  return { ...config, metadata: { ...config.metadata, ...metadata, annotations }, spec: { ...(config.spec as object), ...spec } };
}

/** On `old`, then its instance is changed to `new`. */
function changed(before?: Migration): Story {
  const story = new Story();
  expect(story.see('old', instanceOn('old', before))).toEqual(['default/old']);
  expect(story.see('new', instanceOn('new', before))).toEqual(['default/new', 'default/old']);
  return story;
}

const BOTH = ['default/new', 'default/old'];
const succeeded = (migrationUid: string, endTimestamp: string) => ({ migrationUid, completed: true, endTimestamp });

describe('a running machine whose instance gets another network', () => {
  it('has both addresses until it has been migrated, and five minutes longer', () => {
    const story = changed().later(90);
    const required = { isRequired: true };
    expect(story.see('new', instanceOn('new', undefined, required)), 'KubeVirt waits').toEqual(BOTH);
    expect(story.see('new', instanceOn('new', { migrationUid: 'm1' })), 'under way').toEqual(BOTH);
    const failed = { ...succeeded('m1', at(90)), failed: true };
    expect(story.see('new', instanceOn('new', failed, required)), 'failed').toEqual(BOTH);
    expect(story.see('new', instanceOn('new', succeeded('m2', at(91))))).toEqual(BOTH);
    expect(story.later(5).see('new', instanceOn('new', succeeded('m2', at(91)))), 'too early').toEqual(BOTH);
    expect(story.later(2).see('new', instanceOn('new', succeeded('m2', at(91))))).toEqual(['default/new']);
  });

  it('has both addresses after a migration to a pod that was made before the change', () => {
    const story = changed().later(90);
    const required = { isRequired: true };
    expect(story.see('new', instanceOn('new', succeeded('m1', at(1)), required))).toEqual(BOTH);
    expect(story.later(600).see('new', instanceOn('new', succeeded('m1', at(1)), required))).toEqual(BOTH);
  });

  it('is on the new network alone after it was stopped, or started again', () => {
    expect(changed().see('new', undefined)).toEqual(['default/new']);
    expect(changed().see('new', instanceOn('new', undefined, { uid: 'another' }))).toEqual(['default/new']);
  });

  it('keeps both while the controller does not know what runs', () => {
    expect(changed().later(600).see('new', 'unseen')).toEqual(BOTH);
  });

  it('has both addresses for an hour if KubeVirt requires no migration: the change was taken back, or seen late', () => {
    const story = changed();
    expect(story.see('old', instanceOn('old'))).toEqual(BOTH);
    expect(story.later(59).see('old', instanceOn('old'))).toEqual(BOTH);
    expect(story.later(2).see('old', instanceOn('old'))).toEqual(['default/old']);
    const seenLate = changed(succeeded('m1', at(-1)));
    expect(seenLate.later(59).see('new', instanceOn('new', succeeded('m1', at(-1))))).toEqual(BOTH);
    expect(seenLate.later(2).see('new', instanceOn('new', succeeded('m1', at(-1))))).toEqual(['default/new']);
  });

  it('keeps every network that the guest may use through two changes', () => {
    expect(changed().see('third', instanceOn('third'))).toEqual(['default/new', 'default/old', 'default/third']);
  });

  it('keeps both while a pin cannot be read, also if it could not when the network was changed', () => {
    const machine = machineOn('new');
    const annotations = { 'network.kubevirt.io/addresses': 'oops' };
    const broken = { ...machine, metadata: { ...machine.metadata, annotations } };
    expect(changed().see('new', instanceOn('new'), broken)).toEqual(BOTH);
    const story = new Story();
    story.see('old', instanceOn('old'));
    expect(story.see('new', instanceOn('new'), broken)).toContain('default/old');
  });
});

it('a text that does not say which networks are left counts as none', () => {
  const config = (text: string) => ({
    metadata: { name: 'c', annotations: { 'network.harvesterhci.io/leaving-networks': text } },
  });
  for (const text of ['', '[]', '{"a":1}', '{"a":{"since":"x","instance":"i"}}', '{"a":{"since":"2026-01-31T12:00:00Z"}}'])
    expect(readLeavingNetworks(config(text)).size).toBe(0);
  expect([...readLeavingNetworks(config('{"n m":{"since":"2026-01-31T12:00:00Z","instance":"i"}}'))]).toEqual([
    ['n m', { sinceMs: Date.parse(START), instanceUid: 'i', migrationUid: '' }],
  ]);
});
