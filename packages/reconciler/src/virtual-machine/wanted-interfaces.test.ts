import { type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { virtualMachine } from '../fixtures/object-fixtures.js';

import { planNetworkConfig } from './plan-network-config.js';
import { wantedInterfaces } from './wanted-interfaces.js';

const summary = (object: KubernetesObject) => {
  const { interfaces, problems } = wantedInterfaces(object);
  return {
    interfaces: interfaces?.map(({ name, networkName, macAddress, ipAddress }) => [
      name,
      networkName,
      macAddress,
      ipAddress ?? '',
    ]),
    problems: problems.map(({ reason }) => reason),
  };
};

const A = '02:00:00:00:00:0a';
const B = '02:00:00:00:00:0b';

describe('wantedInterfaces', () => {
  it.each<[string, Parameters<typeof virtualMachine>[1], unknown[][], string[]]>([
    ['no MAC address yet', { interfaces: { nic: [undefined, 'net'] } }, [], []],
    ['MAC address in the spec', { interfaces: { nic: [A, 'net'] } }, [['nic', 'default/net', A, '']], []],
    [
      'MAC address in the annotation',
      { annotations: { 'harvesterhci.io/mac-address': `{"nic":"${A}"}` }, interfaces: { nic: [undefined, 'other/net'] } },
      [['nic', 'other/net', A, '']],
      [],
    ],
    [
      'in both: the spec wins',
      { annotations: { 'harvesterhci.io/mac-address': `{"nic":"${B}"}` }, interfaces: { nic: [A, 'net'] } },
      [['nic', 'default/net', A, '']],
      [],
    ],
    [
      'an empty one in the annotation',
      { annotations: { 'harvesterhci.io/mac-address': '{"nic":""}' }, interfaces: { nic: [undefined, 'net'] } },
      [],
      [],
    ],
    ['another spelling', { interfaces: { nic: ['02-00-00-00-00-0A', 'net'] } }, [['nic', 'default/net', A, '']], []],
    [
      'order of names, whatever the order of the spec',
      { interfaces: { b: [B, 'net'], a: [A, 'net'] } },
      [
        ['a', 'default/net', A, ''],
        ['b', 'default/net', B, ''],
      ],
      [],
    ],
    [
      'a pinned address',
      { annotations: { 'static-ip.harvesterhci.io/nic': ' 10.0.0.7 ' }, interfaces: { nic: [A, 'net'] } },
      [['nic', 'default/net', A, '10.0.0.7']],
      [],
    ],
    [
      'a pinned address that is none',
      { annotations: { 'static-ip.harvesterhci.io/nic': 'fe80::1' }, interfaces: { nic: [A, 'net'] } },
      [['nic', 'default/net', A, '']],
      ['static-address-unreadable'],
    ],
    [
      'a pinned address without a name',
      { annotations: { 'static-ip.harvesterhci.io/': '10.0.0.7' }, interfaces: { nic: [A, 'net'] } },
      [['nic', 'default/net', A, '']],
      ['static-address-without-interface'],
    ],
    [
      'opted out by name',
      { annotations: { 'network.harvesterhci.io/dhcp-opt-out': 'b, c' }, interfaces: { a: [A, 'net'], b: [B, 'net'] } },
      [['a', 'default/net', A, '']],
      ['opt-out-without-interface'],
    ],
    [
      'not opted out',
      { annotations: { 'network.harvesterhci.io/dhcp-opt-out': 'false' }, interfaces: { a: [A, 'net'] } },
      [['a', 'default/net', A, '']],
      [],
    ],
    [
      'one MAC address twice on one network',
      { interfaces: { a: [A, 'net'], b: [A, 'net'], c: [A, 'net-2'] } },
      [
        ['a', 'default/net', A, ''],
        ['c', 'default/net-2', A, ''],
      ],
      ['mac-address-twice'],
    ],
  ])('%s', (_, text, interfaces, problems) => {
    expect(summary(virtualMachine('vm-a', text))).toEqual({ interfaces, problems });
  });

  it('a network that is the pod’s own does not count', () => {
    const machine = virtualMachine('vm-a', { interfaces: { nic: [A, 'net'] } });
    const spec = JSON.parse(
      JSON.stringify(machine.spec).replace('{"networkName":"net"}', '{}').replace('"multus"', '"pod"'),
    ) as unknown;
    expect(summary({ ...machine, spec })).toEqual({ interfaces: [], problems: [] });
  });

  it('reads any object without throwing, and so does the plan', () => {
    const annotations = fc.dictionary(
      fc.constantFrom('harvesterhci.io/mac-address', 'static-ip.harvesterhci.io/nic', 'network.harvesterhci.io/dhcp-opt-out'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), annotations, (spec, other, some) => {
        const machine: KubernetesObject = { metadata: { name: 'vm', uid: 'u', annotations: some }, spec: spec as unknown };
        const nested: KubernetesObject = {
          ...machine,
          spec: { template: { spec: { domain: { devices: { interfaces: spec } }, networks: other } } },
        };
        for (const object of [machine, nested]) {
          wantedInterfaces(object);
          planNetworkConfig(object, { metadata: { name: 'vm' }, spec: other as unknown, status: spec as unknown });
        }
      }),
    );
  });
});

describe('planNetworkConfig', () => {
  it('four interfaces fit: a fifth one does not take the place of one that has an address', () => {
    const some = Object.fromEntries(['b', 'c', 'd', 'e'].map((name) => [name, [A, `net-${name}`] as const]));
    const withUid = (interfaces: typeof some) => {
      const one = virtualMachine('vm-a', { interfaces });
      return { ...one, metadata: { ...one.metadata, uid: 'uid-1' } };
    };
    const [create] = planNetworkConfig(withUid(some), undefined).actions;
    if (create?.kind !== 'create') throw new Error('nothing is created');
    const { actions, problems } = planNetworkConfig(withUid({ a: [A, 'net-a'], ...some }), create.object);
    expect(actions).toEqual([]);
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('only 4 interfaces of a virtual machine get addresses, a not'),
    ]);
  });

  it.each(['unreadable', 'unseen'] as const)(
    'an instance may run (%s), and an earlier version made the VirtualMachineNetworkConfig: no entry makes way for a new interface',
    (instance) => {
      const machine = (names: readonly string[]) => {
        const interfaces = names.map((name) => [name, [`02:00:00:00:00:0${name}`, 'net'] as const] as const);
        const one = virtualMachine('vm-a', { interfaces: Object.fromEntries(interfaces) });
        return { ...one, metadata: { ...one.metadata, uid: 'uid-1' } };
      };
      const [create] = planNetworkConfig(machine(['a', 'b', 'c']), undefined).actions;
      if (create?.kind !== 'create') throw new Error('nothing is created');
      const { annotations: _, ...metadata } = create.object.metadata;
      const [update] = planNetworkConfig(machine(['b', 'd', 'e', 'f']), { ...create.object, metadata }, { instance }).actions;
      if (update?.kind !== 'update') throw new Error('nothing is updated');
      const entries = readList(update.patch, 'spec', 'networkConfigs').map((entry) => readText(entry, 'macAddress')?.at(-1));
      expect(new Set(entries)).toEqual(new Set(['a', 'b', 'c', 'd']));
      expect(entries).toHaveLength(4);
    },
  );

  it('an interface whose MAC address is gone for the moment keeps what it has', () => {
    const machine = (macAddress: string | undefined) => {
      const one = virtualMachine('vm-a', { interfaces: { nic: [macAddress, 'net'] } });
      return { ...one, metadata: { ...one.metadata, uid: 'uid-1' } };
    };
    const [create] = planNetworkConfig(machine(A), undefined).actions;
    if (create?.kind !== 'create') throw new Error('nothing is created');
    expect(planNetworkConfig(machine(undefined), create.object).actions).toEqual([]);
  });

  it('a plan after it was applied is empty', () => {
    const machine = { ...virtualMachine('vm-a', { annotations: { 'static-ip.harvesterhci.io/nic': '10.0.0.7' } }), status: {} };
    const vm = { ...machine, metadata: { ...machine.metadata, uid: 'uid-1' } };
    const [create] = planNetworkConfig(vm, undefined).actions;
    if (create?.kind !== 'create') throw new Error('nothing is created');
    expect(planNetworkConfig(vm, create.object).actions).toEqual([]);
  });

  it('what another client made is adopted and not removed', () => {
    const vm = { ...virtualMachine('vm-a'), metadata: { ...virtualMachine('vm-a').metadata, uid: 'uid-1' } };
    const handmade: KubernetesObject = {
      metadata: { namespace: 'default', name: 'vm-a', uid: 'uid-2' },
      spec: {
        vmName: 'vm-a',
        networkConfigs: [{ networkName: 'default/net-1', macAddress: '02:00:00:00:00:0A', ipAddress: '10.0.0.9' }],
      },
    };
    const [update, ...others] = planNetworkConfig(vm, handmade).actions;
    expect(others).toEqual([]);
    expect(update).toEqual({
      kind: 'update',
      patch: {
        metadata: {
          labels: { 'harvesterhci.io/vmName': 'vm-a' },
          annotations: {
            'network.harvesterhci.io/interfaces': '{"nic":{"networkName":"default/net-1","macAddress":"02:00:00:00:00:0a"}}',
          },
          ownerReferences: [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'vm-a', uid: 'uid-1' }],
        },
      },
    });
    const optedOut = { ...vm, metadata: { ...vm.metadata, annotations: { 'network.harvesterhci.io/dhcp-opt-out': 'true' } } };
    expect(planNetworkConfig(optedOut, handmade).actions).toEqual([]);
  });
});
