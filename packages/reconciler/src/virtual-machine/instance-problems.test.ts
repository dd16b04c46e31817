import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { virtualMachine } from '../fixtures/object-fixtures.js';
import { INSTANCES_REMEDY } from './instance-problems.js';
import { type NetworkConfigPlan, planNetworkConfig } from './plan-network-config.js';
import type { MachineKnowledge } from './wanted-interfaces.js';

const [A, B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'] as [MacAddress, MacAddress];

function machine(interfaces: Readonly<Record<string, string | undefined>>): KubernetesObject {
  const entries = Object.entries(interfaces).map(([name, macAddress]) => [name, [macAddress, 'net'] as const] as const);
  const one = virtualMachine('vm-a', { interfaces: Object.fromEntries(entries) });
  return { ...one, metadata: { ...one.metadata, uid: 'uid-1' } };
}

function created(of: KubernetesObject): KubernetesObject {
  const [action] = planNetworkConfig(of, undefined).actions;
  if (action?.kind !== 'create') throw new Error('nothing is created');
  return action.object;
}

describe('the explanation of what a virtual machine waits for', () => {
  const waiting = machine({ b: undefined, a: undefined });
  const running = {
    uid: 'instance',
    needsMigration: false,
    spec: readField(waiting.spec, 'template', 'spec'),
    macAddresses: new Map(),
  };
  const place = 'status.interfaces of VirtualMachineInstance default/vm-a';

  it.each<[what: string, instance: MachineKnowledge['instance'], remedy: string]>([
    [
      'no instance runs',
      undefined,
      `start the virtual machine, then KubeVirt writes it to ${place}; or set macAddress in spec.template.spec.domain.devices.interfaces`,
    ],
    ['its instance runs', running, `KubeVirt writes it to ${place} when the virtual machine has started`],
    ['its instance is not seen yet', 'unseen', `KubeVirt writes it to ${place} when the virtual machine has started`],
    ['instances are unreadable', 'unreadable', `the controller may not read ${place}; ${INSTANCES_REMEDY}`],
  ])('names MAC addresses if %s', (_what, instance, remedy) => {
    const { awaits } = planNetworkConfig(waiting, undefined, { instance });
    expect(awaits).toBe(`no IP address yet for a, b, as the MAC address is not known: ${remedy}`);
  });

  it('is empty if every MAC address is known', () => {
    expect(planNetworkConfig(machine({ a: A }), undefined, { instance: 'unseen' })).not.toHaveProperty('awaits');
  });

  it('a virtual machine without a namespace is called by its name', () => {
    const { spec } = machine({ a: undefined });
    expect(planNetworkConfig({ metadata: { name: 'vm' }, spec }, undefined).awaits).toContain('VirtualMachineInstance vm;');
  });
});

describe('a change of the template', () => {
  const before = created(machine({ a: A }));
  const after = machine({ a: B });
  const reasons = ({ problems }: NetworkConfigPlan) => problems.map(({ reason }) => reason);
  const begin =
    'the interfaces of the virtual machine have changed, and a VirtualMachineInstance may run with the former ones: nothing is freed';

  it('is delayed if the controller may not read instances', () => {
    const { problems, actions } = planNetworkConfig(after, before, { instance: 'unreadable' });
    expect(actions).toEqual([]);
    expect(problems).toEqual([
      {
        reason: 'virtual-machine-instances-unreadable',
        message: `${begin} before the controller may read VirtualMachineInstances; ${INSTANCES_REMEDY}`,
      },
    ]);
  });

  it('is delayed if the controller has not seen the instance', () => {
    const { problems, actions } = planNetworkConfig(after, before, { instance: 'unseen' });
    expect(actions).toEqual([]);
    expect(problems).toEqual([
      {
        reason: 'virtual-machine-instance-unseen',
        message: expect.stringMatching(
          new RegExp(`^${begin} before the controller sees that instance; .* no VirtualMachineInstance default/vm-a that`),
        ) as string,
      },
    ]);
  });

  it.each<[what: string, of: KubernetesObject, instance: MachineKnowledge['instance'], expected: readonly string[]]>([
    ['is delayed where an interface is removed', machine({}), 'unseen', ['virtual-machine-instance-unseen']],
    ['is not delayed where no instance runs', after, undefined, []],
    [
      'is for the next start where the instance is known',
      after,
      {
        uid: 'instance',
        needsMigration: false,
        spec: readField(machine({ a: A }).spec, 'template', 'spec'),
        macAddresses: new Map([['a', A]]),
      },
      [],
    ],
    ['is none where only the MAC address has gone that is remembered', machine({ a: undefined }), 'unseen', []],
    ['is none where the interfaces are the same', machine({ a: A }), 'unseen', []],
    ['needs a template', { ...after, spec: {} }, 'unseen', ['template-missing']],
  ])('%s', (_what, of, instance, expected) => {
    expect(reasons(planNetworkConfig(of, before, { instance }))).toEqual(expected);
  });
});
