import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instance, virtualMachine } from '../fixtures/object-fixtures.js';

import { planNetworkConfig } from './plan-network-config.js';
import { readRunningInstance } from './running-instance.js';
import { type MachineKnowledge, wantedInterfaces } from './wanted-interfaces.js';

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
const C = '02:00:00:00:00:0c';

describe('wantedInterfaces', () => {
  it.each<[string, unknown]>([
    ['null', null],
    ['values that are not text', { 'static-ip.harvesterhci.io/nic': 5, 'network.harvesterhci.io/dhcp-opt-out': null }],
    ['a list', ['x']],
  ])('annotations that are %s, as files may have them, count as none', (_what, annotations) => {
    const object = virtualMachine('vm', { interfaces: { nic: [A, 'net'] } });
    const odd = { ...object, metadata: { ...object.metadata, annotations } } as unknown as KubernetesObject;
    expect(summary(odd)).toEqual({ interfaces: [['nic', 'default/net', A, '']], problems: [] });
  });

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
    ['an invalid MAC address', { interfaces: { nic: ['x', 'net'] } }, [], ['mac-address-unreadable']],
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
      'an invalid pinned address',
      { annotations: { 'static-ip.harvesterhci.io/nic': 'fe80::1' }, interfaces: { nic: [A, 'net'] } },
      [['nic', 'default/net', A, '']],
      ['static-address-unreadable'],
    ],
    [
      'the address that an imported machine had',
      { annotations: { 'network.kubevirt.io/addresses': '{"nic":["fd00::7","10.0.0.7"]}' }, interfaces: { nic: [A, 'net'] } },
      [['nic', 'default/net', A, '10.0.0.7']],
      [],
    ],
    [
      'the annotation for one interface counts before that of an import',
      {
        annotations: { 'network.kubevirt.io/addresses': '{"nic":["10.0.0.7"]}', 'static-ip.harvesterhci.io/nic': '10.0.0.8' },
        interfaces: { nic: [A, 'net'] },
      },
      [['nic', 'default/net', A, '10.0.0.8']],
      [],
    ],
    [
      'an invalid annotation for one interface does not hide that of an import',
      {
        annotations: { 'network.kubevirt.io/addresses': '{"nic":["10.0.0.7"]}', 'static-ip.harvesterhci.io/nic': 'ten' },
        interfaces: { nic: [A, 'net'] },
      },
      [['nic', 'default/net', A, '10.0.0.7']],
      ['static-address-unreadable'],
    ],
    [
      'only IPv6 addresses of an import: any IPv4 address',
      { annotations: { 'network.kubevirt.io/addresses': '{"nic":["fd00::7"]}' }, interfaces: { nic: [A, 'net'] } },
      [['nic', 'default/net', A, '']],
      [],
    ],
    [
      'several IPv4 addresses of an import: the first one',
      { annotations: { 'network.kubevirt.io/addresses': '{"nic":["10.0.0.7","10.0.0.8"]}' }, interfaces: { nic: [A, 'net'] } },
      [['nic', 'default/net', A, '10.0.0.7']],
      ['pinned-addresses-surplus'],
    ],
    [
      'an import without addresses for this interface',
      { annotations: { 'network.kubevirt.io/addresses': '{}' }, interfaces: { nic: [A, 'net'] } },
      [['nic', 'default/net', A, '']],
      [],
    ],
    [
      'an import names an interface that is not there',
      { annotations: { 'network.kubevirt.io/addresses': '{"eth0":["10.0.0.7"]}' }, interfaces: { nic: [A, 'net'] } },
      [['nic', 'default/net', A, '']],
      ['static-address-without-interface'],
    ],
    [
      'the address of an import with its prefix length',
      {
        annotations: { 'network.kubevirt.io/addresses': '{"nic":["fd00::7/64","10.0.0.7/24"]}' },
        interfaces: { nic: [A, 'net'] },
      },
      [['nic', 'default/net', A, '10.0.0.7']],
      [],
    ],
    [
      'a list, which is for the pod network',
      { annotations: { 'network.kubevirt.io/addresses': '["172.16.100.50/24"]' }, interfaces: { nic: [A, 'net'] } },
      [['nic', 'default/net', A, '']],
      [],
    ],
    ...[
      ...[
        '{"nic":"10.0.0.7"}',
        '{"nic":[7]}',
        '{"nic":["10.0.0.7","ten"]}',
        '{"nic":["10:0:0:7"]}',
        '{"nic":["02:00:5e:10:00:01"]}',
      ],
      ...[
        '{"nic":[":::::"]}',
        '{"nic":["1:2:3:4:5:6:7:8:9"]}',
        '{"nic":["1:2:3:4:5:6:7"]}',
        '{"nic":["1::2:3:4:5:6:7:8"]}',
        '{"nic":["g::"]}',
      ],
    ].map((text): [string, Parameters<typeof virtualMachine>[1], unknown[][], string[]] => [
      `an import whose address cannot be read, ${text}: this interface gets none, others do`,
      { annotations: { 'network.kubevirt.io/addresses': text }, interfaces: { nic: [A, 'net'], other: [B, 'net'] } },
      [['other', 'default/net', B, '']],
      ['pinned-addresses-unreadable'],
    ]),
    [
      'an import that is not JSON: only interfaces with their own annotation get an address',
      {
        annotations: { 'network.kubevirt.io/addresses': 'nic=10.0.0.7', 'static-ip.harvesterhci.io/other': '10.0.0.8' },
        interfaces: { nic: [A, 'net'], other: [B, 'net'] },
      },
      [['other', 'default/net', B, '10.0.0.8']],
      ['pinned-addresses-unreadable'],
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
  it('four interfaces fit: a fifth one does not replace one that has an address', () => {
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
    'if an instance may run (%s), and an earlier version made the VirtualMachineNetworkConfig, no entry is removed for a new interface',
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

  it('an interface whose MAC address is temporarily missing keeps its entry', () => {
    const machine = (macAddress: string | undefined) => {
      const one = virtualMachine('vm-a', { interfaces: { nic: [macAddress, 'net'] } });
      return { ...one, metadata: { ...one.metadata, uid: 'uid-1' } };
    };
    const [create] = planNetworkConfig(machine(A), undefined).actions;
    if (create?.kind !== 'create') throw new Error('nothing is created');
    expect(planNetworkConfig(machine(undefined), create.object).actions).toEqual([]);
  });

  it('after a plan is applied, the next one is empty', () => {
    const machine = { ...virtualMachine('vm-a', { annotations: { 'static-ip.harvesterhci.io/nic': '10.0.0.7' } }), status: {} };
    const vm = { ...machine, metadata: { ...machine.metadata, uid: 'uid-1' } };
    const [create] = planNetworkConfig(vm, undefined).actions;
    if (create?.kind !== 'create') throw new Error('nothing is created');
    expect(planNetworkConfig(vm, create.object).actions).toEqual([]);
  });

  it('an object that another client created is adopted and not removed', () => {
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

describe('the MAC address of an interface', () => {
  const [TEMPLATE, ANNOTATION, MEMORY, SPEC, STATUS] = [1, 2, 3, 4, 5].map((n) => `02:00:00:00:00:0${n}`) as [
    MacAddress,
    MacAddress,
    MacAddress,
    MacAddress,
    MacAddress,
  ];
  const machineOf = (template: string | undefined, annotation: string | undefined) =>
    virtualMachine('vm-a', {
      interfaces: { nic: [template, 'net'] },
      ...(annotation !== undefined && { annotations: { 'harvesterhci.io/mac-address': JSON.stringify({ nic: annotation }) } }),
    });
  const remembered = new Map([['nic', { networkName: 'default/net', macAddress: MEMORY, replaces: [] }]]);
  const running = (asked?: string, reported?: string) =>
    readRunningInstance(machineOf(undefined, undefined), instance('vm-a', { interfaces: { nic: ['net', asked, reported] } }));
  const all = machineOf(TEMPLATE, ANNOTATION);

  it.each<[what: string, object: KubernetesObject, knowledge: MachineKnowledge, expected: string | undefined]>([
    ['of the status of the instance first', all, { instance: running(SPEC, STATUS), remembered }, STATUS],
    ['then of its spec', all, { instance: running(SPEC), remembered }, SPEC],
    ['then of the annotation', all, { instance: running(), remembered }, ANNOTATION],
    ['then the remembered one', machineOf(TEMPLATE, undefined), { instance: running(), remembered }, MEMORY],
    ['then of the template', machineOf(TEMPLATE, undefined), { instance: running() }, TEMPLATE],
    ['of the template first if nothing runs', all, { remembered }, TEMPLATE],
    ['then of the annotation if nothing runs', machineOf(undefined, ANNOTATION), { remembered }, ANNOTATION],
    ['then the remembered one if nothing runs', machineOf(undefined, undefined), { remembered }, MEMORY],
    ['the remembered one first if an instance may run', all, { instance: 'unseen', remembered }, MEMORY],
    ['then of the template if an instance may run', all, { instance: 'unreadable' }, TEMPLATE],
    ['then of the annotation if an instance may run', machineOf(undefined, ANNOTATION), { instance: 'unseen' }, ANNOTATION],
  ])('is that %s', (_, object, knowledge, expected) => {
    const { interfaces, awaited } = wantedInterfaces(object, knowledge);
    expect(interfaces?.map(({ macAddress }) => macAddress)).toEqual([expected]);
    expect(awaited.size).toBe(0);
  });

  it('does not come from the memory of another network', () => {
    const other = new Map([['nic', { networkName: 'default/other', macAddress: MEMORY, replaces: [] }]]);
    const { interfaces, awaited } = wantedInterfaces(machineOf(undefined, undefined), { remembered: other });
    expect([interfaces, [...awaited]]).toEqual([[], [['nic', 'default/net']]]);
  });

  it('is remembered, like the interface, while an instance may run, even if the template no longer has it', () => {
    const { interfaces } = wantedInterfaces(virtualMachine('vm-a', { interfaces: {} }), { instance: 'unseen', remembered });
    expect(interfaces).toEqual([{ name: 'nic', networkName: 'default/net', macAddress: MEMORY }]);
    expect(wantedInterfaces(virtualMachine('vm-a', { interfaces: {} }), { remembered }).interfaces).toEqual([]);
  });

  it('is awaited, unless the interface is opted out', () => {
    const interfaces = { a: [undefined, 'net-a'], b: [undefined, 'net-b'], c: [C, 'net-c'] } as const;
    const of = (annotations: Record<string, string>) => [
      ...wantedInterfaces(virtualMachine('vm-a', { interfaces, annotations })).awaited,
    ];
    expect(of({})).toEqual([
      ['a', 'default/net-a'],
      ['b', 'default/net-b'],
    ]);
    expect(of({ 'network.harvesterhci.io/dhcp-opt-out': 'a' })).toEqual([['b', 'default/net-b']]);
    expect(of({ 'network.harvesterhci.io/dhcp-opt-out': 'true' })).toEqual([]);
  });

  it.each(['{', '7', '[]', 'null', '"x"'])('is not known where the annotation is %s, and the template has none', (text) => {
    const annotations = { 'harvesterhci.io/mac-address': text };
    const two = { a: [A, 'net'], b: [undefined, 'net'] } as const;
    expect(wantedInterfaces(virtualMachine('vm-a', { annotations, interfaces: two }))).toMatchObject({
      interfaces: undefined,
      awaited: new Map(),
      problems: [{ reason: 'mac-address-annotation-unreadable' }],
    });
    const one = { a: [A, 'net'] } as const;
    expect(summary(virtualMachine('vm-a', { annotations, interfaces: one }))).toEqual({
      interfaces: [['a', 'default/net', A, '']],
      problems: ['mac-address-annotation-unreadable'],
    });
  });

  it('is not read from an annotation that is empty or has no text for it', () => {
    for (const text of ['', '{"nic":7}', '{"other":"x"}'])
      expect(
        summary(
          virtualMachine('vm-a', {
            annotations: { 'harvesterhci.io/mac-address': text },
            interfaces: { nic: [undefined, 'net'] },
          }),
        ),
      ).toEqual({ interfaces: [], problems: [] });
  });
});

describe('what the owner of a virtual machine is told', () => {
  const long = 'n'.repeat(57);

  it.each<[what: string, text: Parameters<typeof virtualMachine>[1], message: string]>([
    [
      'an invalid MAC address',
      { interfaces: { nic: ['x', 'net'] } },
      'interface "nic": "x" is not a MAC address; write six hexadecimal octets, as in 02:00:5e:10:00:01',
    ],
    [
      'a MAC address twice',
      { interfaces: { b: [A, 'net'], a: [A, 'net'] } },
      `interfaces a and b have the same MAC address ${A} on default/net; change one of them`,
    ],
    [
      'a pinned address of an interface that does not exist',
      { annotations: { 'static-ip.harvesterhci.io/x': '10.0.0.7' }, interfaces: { b: [A, 'net'], a: [B, 'net'] } },
      'annotation static-ip.harvesterhci.io/x is of no use: "x" is not an interface on a Multus network; there are a, b',
    ],
    [
      'reports a pinned address without any interface',
      { annotations: { 'static-ip.harvesterhci.io/x': '10.0.0.7' }, interfaces: {} },
      'annotation static-ip.harvesterhci.io/x is of no use: "x" is not an interface on a Multus network; there are none',
    ],
    [
      'a pinned address that is any',
      { annotations: { 'static-ip.harvesterhci.io/a': '0.0.0.0' }, interfaces: { a: [A, 'net'] } },
      'annotation static-ip.harvesterhci.io/a: "0.0.0.0" is not an IPv4 address; the annotation is ignored until it is corrected',
    ],
    [
      'an interface that does not exist is opted out',
      { annotations: { 'network.harvesterhci.io/dhcp-opt-out': 'x, a' }, interfaces: { b: [A, 'net'], a: [B, 'net'] } },
      `annotation network.harvesterhci.io/dhcp-opt-out names "x", which is not an interface on a Multus network; write 'true' or names of a, b`,
    ],
    [
      'a network whose name is too long',
      { interfaces: { nic: [A, long] } },
      `interface "nic": "default/${long.slice(4)}..." is longer than 64 characters and gets no address; create the NetworkAttachmentDefinition with a shorter name`,
    ],
  ])('%s', (_, text, message) => {
    expect(wantedInterfaces(virtualMachine('vm-a', text)).problems.map((problem) => problem.message)).toEqual([message]);
  });

  it('reports nothing about a network with the longest possible name, or about annotations of others', () => {
    const interfaces = { nic: [A, long.slice(1)] } as const;
    const { problems, interfaces: wanted } = wantedInterfaces(
      virtualMachine('vm-a', { annotations: { 'example.org/static-ip': 'x' }, interfaces }),
    );
    expect([problems, wanted?.length]).toEqual([[], 1]);
  });

  it('is empty for the template if the virtual machine has none', () => {
    expect(wantedInterfaces({ metadata: { name: 'vm-a' }, spec: { template: {} } })).toMatchObject({
      interfaces: undefined,
      awaited: new Map(),
      problems: [
        {
          reason: 'template-missing',
          message: 'the virtual machine has no spec.template.spec, so its interfaces are unknown; add it',
        },
      ],
    });
  });
});
