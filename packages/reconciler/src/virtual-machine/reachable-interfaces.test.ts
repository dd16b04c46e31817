import { INTERFACES_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import { type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instance, network, virtualMachine } from '../fixtures/object-fixtures.js';
import { networkSpec, REACH_ROWS, type ReachRow } from '../network/reach-fixtures.js';
import { planNetworkConfig } from './plan-network-config.js';
import { reachableInterfaces } from './reachable-interfaces.js';
import { readRunningInstance } from './running-instance.js';
import type { MachineKnowledge } from './wanted-interfaces.js';

const MAC = '02:00:00:00:00:0a';
const OVN_SUBNETS = { type: 'ovn-k8s-cni-overlay', topology: 'localnet', subnets: '10.0.0.0/24' };

function machineWith(nic: ReachRow['binding'], { mac, ...text }: { mac?: string; annotations?: Record<string, string> } = {}) {
  const made = virtualMachine('vm-a', { interfaces: { nic: [mac, 'net-1'] }, bindings: { nic }, ...text });
  return { ...made, metadata: { ...made.metadata, uid: 'uid-1' } };
}

function on(
  config: ReachRow['config'],
  { annotations, ...more }: Partial<MachineKnowledge> & { annotations?: Record<string, string>; isServed?: boolean } = {},
): MachineKnowledge {
  const object = { ...network(), spec: networkSpec(config) };
  const definition = { ...object, metadata: { ...object.metadata, ...(annotations && { annotations }) } };
  return {
    ...more,
    networks: { definition: () => definition, isServed: () => more.isServed ?? true },
  };
}

const reasons = (plan: ReturnType<typeof planNetworkConfig>) => plan.problems.map(({ reason }) => reason);
const BRIDGED = on({ type: 'bridge', bridge: 'br1' });

describe('an interface', () => {
  it.each(REACH_ROWS)('is $expected: $what', ({ binding, config, expected }) => {
    const { interfaces, reach } = reachableInterfaces(machineWith(binding, { mac: MAC }), {
      known: on(config),
      observed: undefined,
    });
    expect(reach.map(({ reason }) => reason)).toEqual(expected === 'served' ? [] : [expected]);
    expect(interfaces).toHaveLength(expected.endsWith('not-served') ? 0 : 1);
  });
});

it('the config of a machine is read once, however many interfaces no DHCP reaches', () => {
  const readings = (count: number): number => {
    const nics = Object.fromEntries(Array.from({ length: count }, (_, index) => [`nic-${index}`, [undefined, 'net-1'] as const]));
    const bindings = Object.fromEntries(Object.keys(nics).map((name) => [name, { masquerade: {} }]));
    let readTimes = 0;
    const observed = {
      ...{ apiVersion: 'network.harvesterhci.io/v1alpha1', kind: 'VirtualMachineNetworkConfig' },
      metadata: {
        ...{ namespace: 'default', name: 'vm-a' },
        get annotations() {
          readTimes++;
          return { [INTERFACES_ANNOTATION]: '{}' };
        },
      },
      spec: { vmName: 'vm-a', networkConfigs: [] },
    };
    const machine = virtualMachine('vm-a', { interfaces: nics, bindings });
    expect(reachableInterfaces(machine, { known: BRIDGED, observed }).reach).toHaveLength(count);
    return readTimes;
  };
  expect(readings(50)).toBe(readings(1));
});

describe('an interface that no DHCP reaches', () => {
  it('gets no VirtualMachineNetworkConfig, and its owner is told why and what to do', () => {
    const plan = planNetworkConfig(machineWith({ masquerade: {} }, { mac: MAC }), undefined, BRIDGED);
    expect(plan.actions).toEqual([]);
    expect(plan.problems.map(({ message }) => message)).toEqual([
      'interface "nic": the binding masquerade keeps DHCP requests in the pod, where another server answers them, so it gets no address; use the binding bridge on this network, or opt the interface out with annotation network.harvesterhci.io/dhcp-opt-out',
    ]);
  });

  it('does not wait for its MAC address', () => {
    const plan = planNetworkConfig(machineWith({ masquerade: {} }), undefined, BRIDGED);
    expect([plan.awaits, reasons(plan)]).toEqual([undefined, ['binding-not-served']]);
    expect(planNetworkConfig(machineWith({}), undefined, BRIDGED).awaits).toMatch(/^no IP address yet for nic/);
  });

  it('is not mentioned without an IPPool for its network, where another DHCP server is declared, or if it is opted out', () => {
    const masquerade = machineWith({ masquerade: {} }, { mac: MAC });
    expect(planNetworkConfig(masquerade, undefined, on(undefined, { isServed: false }))).toMatchObject({
      actions: [],
      problems: [],
    });
    const external = on(OVN_SUBNETS, { annotations: { 'network.harvesterhci.io/external-dhcp': 'true' } });
    expect(reasons(planNetworkConfig(machineWith({}, { mac: MAC }), undefined, external))).toEqual([]);
    const optedOut = machineWith(
      { masquerade: {} },
      { mac: MAC, annotations: { 'network.harvesterhci.io/dhcp-opt-out': 'nic' } },
    );
    expect(planNetworkConfig(optedOut, undefined, BRIDGED)).toMatchObject({ actions: [], problems: [] });
  });

  it('is named also if its wanted address cannot be read', () => {
    const annotations = { 'network.kubevirt.io/addresses': '{' };
    const plan = planNetworkConfig(machineWith({ masquerade: {} }, { mac: MAC, annotations }), undefined, BRIDGED);
    expect([plan.actions, reasons(plan)]).toEqual([[], ['pinned-addresses-unreadable', 'binding-not-served']]);
  });

  it('is not a change that waits for an instance which is not seen', () => {
    const plan = planNetworkConfig(machineWith({ masquerade: {} }, { mac: MAC }), undefined, { ...BRIDGED, instance: 'unseen' });
    expect(reasons(plan)).toEqual(['binding-not-served']);
  });

  it('does not take the place of one that is reached', () => {
    const interfaces = { nic: [MAC, 'net-1'], other: ['02:00:00:00:00:0b', 'net-2'] } as const;
    const machine = virtualMachine('vm-a', { interfaces, bindings: { nic: { passt: {} } } });
    const [create, ...others] = planNetworkConfig(machine, undefined, BRIDGED).actions;
    expect(others).toEqual([]);
    expect(create).toMatchObject({ object: { spec: { networkConfigs: [{ networkName: 'default/net-2' }] } } });
  });

  it('is served once its running instance has another binding, whatever the template has', () => {
    const bridged = instance('vm-a', { interfaces: { nic: ['net-1', MAC] } });
    const running = readRunningInstance(machineWith({}), bridged);
    const plan = planNetworkConfig(machineWith({ masquerade: {} }, { mac: MAC }), undefined, { ...BRIDGED, instance: running });
    expect(plan.actions).toMatchObject([{ kind: 'create' }]);
    const inPodSpec = JSON.parse(JSON.stringify(bridged.spec).replace('"bridge":{}', '"masquerade":{}')) as unknown;
    const inPod = readRunningInstance(machineWith({}), { ...bridged, spec: inPodSpec });
    expect(planNetworkConfig(machineWith({}, { mac: MAC }), undefined, { ...BRIDGED, instance: inPod }).actions).toEqual([]);
  });
});

describe('an interface that has an address keeps it, though no DHCP reaches it', () => {
  const created = (() => {
    const [create] = planNetworkConfig(machineWith({}, { mac: MAC }), undefined, BRIDGED).actions;
    if (create?.kind !== 'create') throw new Error('nothing is created');
    return create.object;
  })();
  const masquerade = machineWith({ masquerade: {} }, { mac: MAC });
  const { annotations: _, ...withoutMemory } = created.metadata;

  it.each<[string, KubernetesObject, KubernetesObject | undefined, MachineKnowledge]>([
    ['its entry', masquerade, created, BRIDGED],
    ['its entry, of an earlier version that remembered no names', masquerade, { ...created, metadata: withoutMemory }, BRIDGED],
    ['its entry, on a network of OVN with subnets', machineWith({}, { mac: MAC }), created, on(OVN_SUBNETS)],
    ['its entry, while its MAC address is not known', machineWith({ masquerade: {} }), created, BRIDGED],
    [
      'its entry, while nothing says whose it is',
      machineWith({ masquerade: {} }),
      { ...created, metadata: withoutMemory },
      BRIDGED,
    ],
  ])('%s', (_title, machine, observed, known) => {
    const plan = planNetworkConfig(machine, observed, known);
    const removed = plan.actions.filter(({ kind }) => kind !== 'update');
    const patched = plan.actions.flatMap((one) => (one.kind === 'update' ? Object.keys(one.patch) : []));
    expect([removed, patched.includes('spec')]).toEqual([[], false]);
    expect(plan.problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('and it keeps the address that it has'),
    ]);
  });

  it('an address that only the pool records, as its VirtualMachineNetworkConfig was deleted by hand', () => {
    const known = { ...BRIDGED, hasAddress: (name: string, mac: string) => name === 'default/net-1' && mac === MAC };
    expect(planNetworkConfig(masquerade, undefined, known).actions).toMatchObject([{ kind: 'create' }]);
  });

  it('the entry of the network that a running machine leaves for one without DHCP', () => {
    const interfaces = { nic: [MAC, 'net-2'] } as const;
    const moved = virtualMachine('vm-a', { interfaces });
    const machine = { ...moved, metadata: { ...moved.metadata, uid: 'uid-1' } };
    const running = readRunningInstance(machine, instance('vm-a', { interfaces: { nic: ['net-2', MAC] } }));
    const [update] = planNetworkConfig(machine, created, { ...on(OVN_SUBNETS), instance: running }).actions;
    const networks = update?.kind === 'update' ? readList(update.patch, 'spec', 'networkConfigs') : [];
    expect(networks.map((one) => readText(one, 'networkName'))).toEqual(['default/net-1', 'default/net-2']);
  });

  it('an entry whose MAC address KubeVirt has chosen anew', () => {
    const other = machineWith({ masquerade: {} }, { mac: '02:00:00:00:00:0f' });
    const [update] = planNetworkConfig(other, created, BRIDGED).actions;
    expect(update).toMatchObject({ kind: 'update', patch: { spec: { networkConfigs: [{ macAddress: '02:00:00:00:00:0f' }] } } });
  });
});

it('law: whatever bindings and networks become, no entry of a VirtualMachineNetworkConfig is freed because of them', () => {
  const rows = fc.array(fc.constantFrom(...REACH_ROWS), { minLength: 1, maxLength: 4 });
  const seen = { kept: 0 };
  fc.assert(
    fc.property(rows, (some) => {
      const names = some.map((_, index) => [`nic${index}`, [`02:00:00:00:00:0${index}`, `net-${index}`] as const] as const);
      const made = virtualMachine('vm-a', { interfaces: Object.fromEntries(names) });
      const machine = { ...made, metadata: { ...made.metadata, uid: 'uid-1' } };
      const [create] = planNetworkConfig(machine, undefined).actions;
      if (create?.kind !== 'create') throw new Error('nothing is created');
      const definition = (key: string) => ({ ...network(), spec: networkSpec(some[Number(key.at(-1))]?.config) });
      const bindings = Object.fromEntries(some.map(({ binding }, index) => [`nic${index}`, binding]));
      const changed = { ...machine, spec: virtualMachine('vm-a', { interfaces: Object.fromEntries(names), bindings }).spec };
      const plan = planNetworkConfig(changed, create.object, { networks: { definition, isServed: () => true } });
      expect(plan.actions).toEqual([]);
      seen.kept += plan.problems.length;
    }),
  );
  expect(seen.kept).toBeGreaterThan(50);
});
