/** A running machine is moved to another network: KubeVirt changes its instance at once, and the guest moves with a migration. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readList, readText } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { virtualMachine } from '../fixtures/object-fixtures.js';
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
}

/** As the controller caches it. */
function instanceOn(network: string, migrationState?: Migration, uid = 'instance'): KubernetesObject {
  const { spec } = machineOn(network) as { spec: { template: { spec: object } } };
  return projectInstance({
    metadata: { namespace: 'default', name: 'vm-a', uid, ownerReferences: [{ ...OWNER, controller: true }] },
    spec: spec.template.spec,
    status: { phase: 'Running', ...(migrationState && { migrationState }) },
  });
}

/** Carries out what is planned, and shows the networks on which the machine has an address. */
class Story {
  #config: KubernetesObject | undefined;

  see(network: string, instance: KubernetesObject | 'unseen' | undefined): string[] {
    const machine = machineOn(network);
    const seen: MachineKnowledge['instance'] = typeof instance === 'object' ? readRunningInstance(machine, instance) : instance;
    const [action] = planNetworkConfig(machine, this.#config, { instance: seen }).actions;
    if (action?.kind === 'create') this.#config = { ...action.object, metadata: { ...action.object.metadata, uid: 'c' } };
    if (action?.kind === 'update') this.#config = applied(this.#config as KubernetesObject, action.patch);
    expect(planNetworkConfig(machine, this.#config, { instance: seen }).actions, 'the next plan is empty').toEqual([]);
    return readList(this.#config?.spec, 'networkConfigs')
      .map((entry) => readText(entry, 'networkName') ?? '')
      .toSorted();
  }
}

function applied(config: KubernetesObject, patch: object): KubernetesObject {
  const { metadata = {}, spec = {} } = patch as { metadata?: { annotations?: object }; spec?: object };
  const annotations = { ...config.metadata.annotations, ...metadata.annotations } as Record<string, string>;
  return { ...config, metadata: { ...config.metadata, ...metadata, annotations }, spec: { ...(config.spec as object), ...spec } };
}

/** On `old`, then its instance is changed to `new`. */
function changed(before?: Migration): Story {
  const story = new Story();
  expect(story.see('old', instanceOn('old', before))).toEqual(['default/old']);
  expect(story.see('new', instanceOn('new', before))).toEqual(['default/new', 'default/old']);
  return story;
}

describe('a running machine whose instance gets another network', () => {
  it('has both addresses until it has been migrated, and then the new one alone', () => {
    const story = changed();
    expect(story.see('new', instanceOn('new', { migrationUid: 'm1' })), 'under way').toEqual(['default/new', 'default/old']);
    const failed = { migrationUid: 'm1', completed: true, failed: true };
    expect(story.see('new', instanceOn('new', failed)), 'failed').toEqual(['default/new', 'default/old']);
    expect(story.see('new', instanceOn('new', { migrationUid: 'm2', completed: true }))).toEqual(['default/new']);
  });

  it('a migration that began before the change does not move it', () => {
    const story = changed({ migrationUid: 'm1' });
    expect(story.see('new', instanceOn('new', { migrationUid: 'm1', completed: true }))).toEqual(['default/new', 'default/old']);
    expect(story.see('new', instanceOn('new', { migrationUid: 'm2', completed: true }))).toEqual(['default/new']);
  });

  it('is on the new network alone after it was stopped, or started again', () => {
    expect(changed().see('new', undefined)).toEqual(['default/new']);
    expect(changed().see('new', instanceOn('new', undefined, 'another'))).toEqual(['default/new']);
  });

  it('keeps both while the controller does not know what runs', () => {
    expect(changed().see('new', 'unseen')).toEqual(['default/new', 'default/old']);
  });

  it('is on its network alone if the change is taken back before it was migrated', () => {
    expect(changed().see('old', instanceOn('old'))).toEqual(['default/old']);
  });

  it('keeps the network that the guest uses through two changes', () => {
    expect(changed().see('third', instanceOn('third'))).toEqual(['default/old', 'default/third']);
  });

  it('that was migrated, and changed back, keeps the network that it is on', () => {
    const migrated = { migrationUid: 'm1', completed: true };
    expect(changed().see('old', instanceOn('old', migrated))).toEqual(['default/new', 'default/old']);
  });
});
