import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { INTERFACES_ANNOTATION, NETWORK_CONFIG_FINALIZER } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { planNetworkConfig } from './plan-network-config.js';
import { formatRememberedInterfaces, readRememberedInterfaces, rememberInterface } from './remembered-interfaces.js';

const mac = (n: number) => `02:00:00:00:00:0${n}`;
const STATIC = 'static-ip.harvesterhci.io/';

interface Machine {
  /** Interface name to MAC address; empty: none yet. */
  readonly interfaces?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly metadata?: object;
}

function machine({ interfaces = {}, annotations = {}, metadata = {} }: Machine): KubernetesObject {
  const names = Object.keys(interfaces);
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace: 'red', name: 'vm', uid: 'u', annotations, ...metadata },
    spec: {
      template: {
        spec: {
          domain: {
            devices: { interfaces: names.map((name) => ({ name, ...(interfaces[name] && { macAddress: interfaces[name] }) })) },
          },
          networks: names.map((name) => ({ name, multus: { networkName: `red/net-${name}` } })),
        },
      },
    },
  };
}

/** The config after the plan was carried out, as far as these tests go. */
function carriedOut(of: KubernetesObject, observed?: KubernetesObject): KubernetesObject {
  const [action] = planNetworkConfig(of, observed).actions;
  if (action?.kind === 'create') return { ...action.object, metadata: { ...action.object.metadata, uid: 'c' } };
  if (action?.kind !== 'update' || observed === undefined) throw new Error(`unexpected ${JSON.stringify(action)}`);
  const { metadata = {}, spec = {} } = action.patch as { metadata?: object; spec?: object };
  return {
    ...observed,
    metadata: {
      ...observed.metadata,
      ...metadata,
      annotations: { ...observed.metadata.annotations, ...(metadata as { annotations?: object }).annotations } as Record<
        string,
        string
      >,
    },
    spec: { ...(observed.spec as object), ...spec },
  };
}

const ONE = machine({ interfaces: { a: mac(1) } });
const withSpec = (object: KubernetesObject, networkConfigs: readonly object[]): KubernetesObject => ({
  ...object,
  spec: { ...(object.spec as object), networkConfigs },
});

describe('the VirtualMachineNetworkConfig of a virtual machine', () => {
  it('is created with its owner, finalizer, label and memory', () => {
    const { actions, waits, problems } = planNetworkConfig(
      machine({ interfaces: { a: mac(1) }, annotations: { [`${STATIC}a`]: '10.0.0.9' } }),
      undefined,
    );
    expect([waits, problems]).toEqual([false, []]);
    expect(actions).toEqual([
      {
        kind: 'create',
        object: {
          apiVersion: 'network.harvesterhci.io/v1alpha1',
          kind: 'VirtualMachineNetworkConfig',
          metadata: {
            namespace: 'red',
            name: 'vm',
            labels: { 'harvesterhci.io/vmName': 'vm' },
            annotations: {
              [`${STATIC}a`]: '10.0.0.9',
              [INTERFACES_ANNOTATION]: JSON.stringify({ a: { networkName: 'red/net-a', macAddress: mac(1) } }),
            },
            finalizers: [NETWORK_CONFIG_FINALIZER],
            ownerReferences: [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'vm', uid: 'u' }],
          },
          spec: { vmName: 'vm', networkConfigs: [{ networkName: 'red/net-a', macAddress: mac(1), ipAddress: '10.0.0.9' }] },
        },
      },
    ]);
  });

  it('has no namespace if the virtual machine has none', () => {
    const { metadata } = carriedOut({ ...ONE, metadata: { name: 'vm', uid: 'u' } });
    expect(metadata).not.toHaveProperty('namespace');
  });

  it('after a plan is applied, the next one is empty', () => {
    expect(planNetworkConfig(ONE, carriedOut(ONE)).actions).toEqual([]);
    const more = machine({ interfaces: { a: mac(1), b: mac(2) } });
    expect(planNetworkConfig(more, carriedOut(more, carriedOut(ONE))).actions).toEqual([]);
  });

  it('nothing is done for a virtual machine that is being deleted, has no interfaces, or whose interfaces are not known', () => {
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    const nothing = { actions: [], problems: [], waits: false };
    expect(planNetworkConfig(machine({ interfaces: { a: mac(1) }, metadata }), undefined)).toEqual(nothing);
    expect(planNetworkConfig(machine({}), undefined)).toEqual(nothing);
    expect(planNetworkConfig({ ...ONE, spec: {} }, carriedOut(ONE)).actions).toEqual([]);
  });

  it('has no label if the name is too long for one', () => {
    const long = machine({ interfaces: { a: mac(1) }, metadata: { name: 'v'.repeat(64) } });
    expect(carriedOut(long).metadata.labels).toEqual({});
    expect(carriedOut(machine({ interfaces: { a: mac(1) }, metadata: { name: 'v'.repeat(63) } })).metadata.labels).toEqual({
      'harvesterhci.io/vmName': 'v'.repeat(63),
    });
    expect(planNetworkConfig(long, carriedOut(long)).actions).toEqual([]);
  });

  it('is deleted when no interface is left that needs an address, if the virtual machine owns it', () => {
    const there = carriedOut(ONE);
    expect(planNetworkConfig(machine({}), there).actions).toEqual([{ kind: 'delete', uid: 'c' }]);
    const ofOther = {
      ...there,
      metadata: { ...there.metadata, ownerReferences: [{ apiVersion: 'v1', kind: 'VirtualMachine', name: 'vm', uid: 'x' }] },
    };
    expect(planNetworkConfig(machine({}), ofOther).actions).toEqual([]);
    const { uid: _, ...metadata } = there.metadata;
    expect(planNetworkConfig(machine({}), { ...there, metadata }).actions).toEqual([]);
  });

  it('waits until its deletion is complete, if the virtual machine has interfaces', () => {
    const there = carriedOut(ONE);
    const going = { ...there, metadata: { ...there.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(planNetworkConfig(ONE, going)).toMatchObject({ actions: [], waits: true });
    expect(planNetworkConfig(machine({}), going)).toMatchObject({ actions: [], waits: false });
  });
});

describe('an update', () => {
  const update = (of: KubernetesObject, observed: KubernetesObject) => {
    const [action] = planNetworkConfig(of, observed).actions;
    return action?.kind === 'update' ? action.patch : undefined;
  };

  it('ignores another spelling of a MAC address and another order', () => {
    const two = machine({ interfaces: { a: mac(1), b: mac(2) } });
    const there = carriedOut(two);
    const entries = [
      { networkName: 'red/net-b', macAddress: mac(2).toUpperCase() },
      { networkName: 'red/net-a', macAddress: mac(1) },
    ];
    expect(update(two, withSpec(there, entries))).toBeUndefined();
  });

  it('corrects labels and owners, and keeps those of others', () => {
    const there = carriedOut(ONE);
    const other = { apiVersion: 'v1', kind: 'Other', name: 'x', uid: 'x' };
    const former = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'vm', uid: 'former' };
    const changed = { ...there, metadata: { ...there.metadata, labels: { mine: 'x' }, ownerReferences: [other, former] } };
    expect(update(ONE, changed)).toEqual({
      metadata: {
        labels: { 'harvesterhci.io/vmName': 'vm' },
        ownerReferences: [other, { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'vm', uid: 'u' }],
      },
    });
    const [homonym, sibling] = [
      { ...other, name: 'vm' },
      { ...former, name: 'vm-2' },
    ];
    const [own] = there.metadata.ownerReferences ?? [];
    const twice = {
      ...there,
      metadata: { ...there.metadata, ownerReferences: [homonym, sibling, former, own] } as typeof there.metadata,
    };
    expect(update(ONE, twice), 'the former owner goes').toEqual({ metadata: { ownerReferences: [homonym, sibling, own] } });
    const owned = {
      ...there,
      metadata: { ...there.metadata, ownerReferences: [other, ...(there.metadata.ownerReferences ?? [])] },
    };
    expect(update(ONE, owned)).toBeUndefined();
  });

  it('copies, changes and removes an annotation for a static address together with the address', () => {
    const pinned = (address: string) => machine({ interfaces: { a: mac(1) }, annotations: { [`${STATIC}a`]: address } });
    const there = carriedOut(pinned('10.0.0.9'));
    expect(update(pinned('10.0.0.8'), there)).toEqual({
      metadata: { annotations: { [`${STATIC}a`]: '10.0.0.8' } },
      spec: { networkConfigs: [{ networkName: 'red/net-a', macAddress: mac(1), ipAddress: '10.0.0.8' }] },
    });
    expect(update(ONE, there)).toEqual({
      metadata: { annotations: { [`${STATIC}a`]: null } },
      spec: { networkConfigs: [{ networkName: 'red/net-a', macAddress: mac(1) }] },
    });
  });

  it('an entry stays as it is while the address that the interface had before its import cannot be read', () => {
    const imported = (addresses: string) =>
      machine({ interfaces: { a: mac(1), b: mac(2) }, annotations: { 'network.kubevirt.io/addresses': addresses } });
    const there = carriedOut(imported('{"a":["10.0.0.9"],"b":["10.0.0.8"]}'));
    expect(there.spec).toMatchObject({ networkConfigs: [{ ipAddress: '10.0.0.9' }, { ipAddress: '10.0.0.8' }] });
    for (const unreadable of ['{"a":["10.0.0.x"],"b":["10.0.0.8"]}', '{'])
      expect(update(imported(unreadable), there)?.['spec']).toBeUndefined();
    expect(planNetworkConfig(imported('{'), undefined).actions, 'a new machine gets no other address').toEqual([]);
    expect(update(imported('{'), there), 'nor is the mark of the pin removed').toBeUndefined();
  });

  it('keeps an address that a person wrote into the spec, until an annotation wants another', () => {
    const byHand = withSpec(carriedOut(ONE), [{ networkName: 'red/net-a', macAddress: mac(1), ipAddress: '10.0.0.7' }]);
    expect(update(ONE, byHand)).toBeUndefined();
    expect(update(machine({ interfaces: { a: mac(1) }, annotations: { [`${STATIC}a`]: '10.0.0.9' } }), byHand)).toMatchObject({
      spec: { networkConfigs: [{ ipAddress: '10.0.0.9' }] },
    });
  });

  it.each<[what: string, annotations: Record<string, string>, stays: boolean]>([
    ['stays beside the annotation of another address', { [`${STATIC}b`]: '10.0.0.8' }, true],
    ['stays beside another annotation of the same text', { note: '10.0.0.7' }, true],
    ['goes with the annotation that it came from', { [`${STATIC}a`]: '10.0.0.7' }, false],
  ])('an address in the spec %s', (_what, annotations, stays) => {
    const there = withSpec(carriedOut(ONE), [{ networkName: 'red/net-a', macAddress: mac(1), ipAddress: '10.0.0.7' }]);
    const annotated = {
      ...there,
      metadata: { ...there.metadata, annotations: { ...there.metadata.annotations, ...annotations } },
    };
    expect(update(ONE, annotated)?.['spec'] === undefined).toBe(stays);
  });

  it('moves an address that a person wrote along with a changed MAC address', () => {
    const byHand = withSpec(carriedOut(ONE), [{ networkName: 'red/net-a', macAddress: mac(1), ipAddress: '10.0.0.7' }]);
    expect(update(machine({ interfaces: { a: mac(3) } }), byHand)).toMatchObject({
      spec: { networkConfigs: [{ networkName: 'red/net-a', macAddress: mac(3), ipAddress: '10.0.0.7' }] },
    });
  });
});

describe('more interfaces than a VirtualMachineNetworkConfig has place for', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const five = machine({ interfaces: Object.fromEntries(names.map((name, index) => [name, mac(index + 1)])) });
  const networksIn = (object: KubernetesObject) =>
    (object.spec as { networkConfigs: { networkName: string }[] }).networkConfigs.map(({ networkName }) => networkName.slice(-1));

  it('the first four get a place, and the message names the others', () => {
    expect(networksIn(carriedOut(five))).toEqual(['a', 'b', 'c', 'd']);
    expect(planNetworkConfig(five, undefined).problems).toEqual([
      {
        reason: 'too-many-interfaces',
        message:
          'only 4 interfaces of a virtual machine get addresses, e not; opt interfaces out with annotation network.harvesterhci.io/dhcp-opt-out',
      },
    ]);
    expect(
      planNetworkConfig(
        machine({ interfaces: Object.fromEntries(names.slice(0, 4).map((name, index) => [name, mac(index + 1)])) }),
        undefined,
      ).problems,
    ).toEqual([]);
  });

  it('those with an entry come first, then those with an address', () => {
    const last = machine({ interfaces: { e: mac(5) } });
    const plan = planNetworkConfig(five, carriedOut(last));
    expect(plan.actions).toMatchObject([
      {
        kind: 'update',
        patch: { spec: { networkConfigs: ['a', 'b', 'c', 'e'].map((name) => ({ networkName: `red/net-${name}` })) } },
      },
    ]);
    const hasAddress = (networkName: string) => networkName === 'red/net-d';
    const recorded = planNetworkConfig(five, carriedOut(last), { hasAddress });
    expect(recorded.actions).toMatchObject([
      {
        kind: 'update',
        patch: { spec: { networkConfigs: ['a', 'b', 'd', 'e'].map((name) => ({ networkName: `red/net-${name}` })) } },
      },
    ]);
  });
});

describe('an interface that is remembered', () => {
  const before = { networkName: 'n', macAddress: mac(1), replaces: [mac(2)] };
  const [recorded, unrecorded] = [() => true, () => false];

  it.each<readonly [string, Parameters<typeof rememberInterface>, readonly string[]]>([
    ['for the first time', [{ networkName: 'n', macAddress: mac(1) }, undefined, unrecorded], []],
    ['with the same MAC address', [{ networkName: 'n', macAddress: mac(1) }, before, unrecorded], [mac(2)]],
    [
      'with the same MAC address, after its address was recorded',
      [{ networkName: 'n', macAddress: mac(1) }, before, recorded],
      [],
    ],
    ['with another MAC address', [{ networkName: 'n', macAddress: mac(3) }, before, unrecorded], [mac(2), mac(1)]],
    [
      'with another MAC address, after its address was recorded',
      [{ networkName: 'n', macAddress: mac(3) }, before, recorded],
      [mac(1)],
    ],
    ['with a MAC address that it had before', [{ networkName: 'n', macAddress: mac(2) }, before, unrecorded], [mac(1)]],
    ['on another network', [{ networkName: 'm', macAddress: mac(3) }, before, unrecorded], []],
  ])('%s', (_, args, replaces) => {
    expect(rememberInterface(...args).replaces).toEqual(replaces);
  });

  it('keeps its last eight MAC addresses', () => {
    const many = Array.from({ length: 9 }, (_, index) => `02:00:00:00:01:0${index}`);
    const after = rememberInterface({ networkName: 'n', macAddress: mac(3) }, { ...before, replaces: many }, unrecorded);
    expect(after.replaces).toEqual([...many, mac(1)].slice(-8));
    const text = JSON.stringify({ a: { networkName: 'n', macAddress: mac(1), replaces: many } });
    expect(
      readRememberedInterfaces({ metadata: { name: 'x', annotations: { [INTERFACES_ANNOTATION]: text } } }).get('a')?.replaces,
    ).toEqual(many.slice(-8));
  });

  it('is read back as it was written, and the order of interfaces does not matter', () => {
    const interfaces = new Map([
      ['b', { networkName: 'n', macAddress: mac(1) as MacAddress, replaces: [mac(2), mac(3)] as MacAddress[] }],
      ['a', { networkName: 'm', macAddress: mac(4) as MacAddress, replaces: [] }],
    ]);
    const text = formatRememberedInterfaces(interfaces);
    expect(formatRememberedInterfaces(new Map([...interfaces].toReversed()))).toBe(text);
    expect(text).toBe(JSON.stringify({ a: { networkName: 'm', macAddress: mac(4) }, b: interfaces.get('b') }));
    expect(readRememberedInterfaces({ metadata: { name: 'x', annotations: { [INTERFACES_ANNOTATION]: text } } })).toEqual(
      interfaces,
    );
  });

  it('is read without invalid MAC addresses', () => {
    const text = JSON.stringify({ a: { networkName: 'n', macAddress: mac(1), replaces: [7, 'x', null, mac(2)] } });
    const read = readRememberedInterfaces({ metadata: { name: 'x', annotations: { [INTERFACES_ANNOTATION]: text } } });
    expect(read.get('a')?.replaces).toEqual([mac(2)]);
  });

  it.each([
    '',
    '{',
    '[]',
    '7',
    '{"a":7}',
    '{"a":{"networkName":"n","macAddress":"x"}}',
    '{"a":{"macAddress":"02:00:00:00:00:01"}}',
  ])('is empty if read from %j', (text) => {
    expect(readRememberedInterfaces({ metadata: { name: 'x', annotations: { [INTERFACES_ANNOTATION]: text } } }).size).toBe(0);
  });
});
