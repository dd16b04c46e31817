import { INTERFACES_ANNOTATION } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { virtualMachine } from '../fixtures/object-fixtures.js';
import { planNetworkConfig } from './plan-network-config.js';
import type { MachineKnowledge } from './wanted-interfaces.js';

const mac = (n: number) => `02:00:00:00:00:0${n}`;
const entry = (n: number, network = 'net', more: object = {}) => ({
  networkName: `default/${network}`,
  macAddress: mac(n),
  ...more,
});

/** Interface name to the number of its MAC address, undefined: none yet, and its network. */
function machine(interfaces: Readonly<Record<string, readonly [n: number | undefined, network: string]>>): KubernetesObject {
  const entries = Object.entries(interfaces).map(([name, [n, network]]) => [name, [n && mac(n), network]] as const);
  const one = virtualMachine('vm-a', { interfaces: Object.fromEntries(entries) as Record<string, [string | undefined, string]> });
  return { ...one, metadata: { ...one.metadata, uid: 'uid-1' } };
}

interface Parts {
  readonly spec: readonly unknown[];
  readonly status?: readonly object[];
  readonly remembered?: object;
}

/** A VirtualMachineNetworkConfig of that virtual machine. */
function config({ spec, status = [], remembered }: Parts): KubernetesObject {
  return {
    metadata: {
      namespace: 'default',
      name: 'vm-a',
      uid: 'c',
      labels: { 'harvesterhci.io/vmName': 'vm-a' },
      ...(remembered !== undefined && { annotations: { [INTERFACES_ANNOTATION]: JSON.stringify(remembered) } }),
      ownerReferences: [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'vm-a', uid: 'uid-1' }],
    },
    spec: { vmName: 'vm-a', networkConfigs: spec },
    status: { networkConfigs: status },
  };
}

/** The MAC addresses of the entries that the plan writes, by their last digit; undefined: it writes none. */
function planned(of: KubernetesObject, observed: KubernetesObject, knowledge?: MachineKnowledge): string | undefined {
  const [action] = planNetworkConfig(of, observed, knowledge).actions;
  if (action?.kind !== 'update') return action?.kind;
  const entries = readList(action.patch, 'spec', 'networkConfigs');
  return entries.map((one) => readText(one, 'macAddress')?.at(-1)).join(' ');
}

describe('the MAC addresses that an interface had before', () => {
  const remembered = { a: { ...entry(1), replaces: [mac(2)] } };

  it.each<[what: string, status: readonly object[], replaces: readonly string[]]>([
    ['are kept while its address is not recorded', [], [mac(2), mac(1)]],
    ['are kept while its address is pending', [entry(1, 'net', { state: 'Pending' })], [mac(2), mac(1)]],
    ['are kept while the address of another one is recorded', [entry(3, 'net', { state: 'Allocated' })], [mac(2), mac(1)]],
    ['are kept while an address of another network is recorded', [entry(1, 'x', { state: 'Allocated' })], [mac(2), mac(1)]],
    ['are forgotten when its address is recorded', [entry(1, 'net', { state: 'Allocated' })], [mac(1)]],
  ])('%s', (_what, status, replaces) => {
    const [action] = planNetworkConfig(machine({ a: [4, 'net'] }), config({ spec: [entry(1)], status, remembered })).actions;
    const patch = action?.kind === 'update' ? action.patch : undefined;
    const written = readText(patch, 'metadata', 'annotations', INTERFACES_ANNOTATION) ?? '{}';
    expect(JSON.parse(written)).toEqual({ a: { ...entry(4), replaces } });
  });
});

describe('entries without a known interface', () => {
  const waiting = machine({ a: [1, 'net'], b: [undefined, 'net'] });

  it('stay while an interface of their network has no MAC address yet', () => {
    expect(planned(waiting, config({ spec: [entry(1), entry(2), entry(3, 'other')] }))).toBe('2 1');
    expect(planned(machine({ a: [1, 'net'] }), config({ spec: [entry(1), entry(2)] })), 'where nothing is awaited').toBe('1');
  });

  it('are removed if they belong to another interface, under an earlier MAC address of it', () => {
    const remembered = { a: { ...entry(1), replaces: [mac(3)] } };
    expect(planned(waiting, config({ spec: [entry(1), entry(2), entry(3)], remembered }))).toBe('2 1');
    expect(planned(waiting, config({ spec: [entry(2), entry(5)], remembered: { c: entry(5) } }))).toBe('2 1');
  });

  it('stay if they belonged to an interface that has no MAC address on its new network', () => {
    const moved = machine({ b: [undefined, 'net'], c: [undefined, 'old'] });
    expect(planned(moved, config({ spec: [entry(2, 'old')], remembered: { b: entry(2, 'old') } }))).toBeUndefined();
  });

  it('stay, and their VirtualMachineNetworkConfig, while no interface has a MAC address', () => {
    expect(planNetworkConfig(machine({ a: [undefined, 'net'] }), config({ spec: [entry(1)] })).actions).toEqual([]);
  });

  it('stay, however many there are: a version with more places may have written them', () => {
    const spec = [1, 2, 3, 4, 5].map((n) => entry(n));
    expect(planNetworkConfig(machine({ a: [undefined, 'net'] }), config({ spec })).actions).toEqual([]);
  });

  it('leave room for four in all: a new interface gets none, without a problem of the virtual machine', () => {
    const of = machine({ a: [1, 'net'], b: [2, 'net'], c: [3, 'net'], d: [4, 'net'] });
    const observed = config({ spec: [entry(9), entry(2), entry(3), entry(4)] });
    expect(planned(of, observed, { instance: 'unseen' })).toBe('');
    const { problems } = planNetworkConfig(of, observed, { instance: 'unseen' });
    expect(problems.map(({ reason }) => reason)).toEqual(['virtual-machine-instance-unseen']);
  });
});

describe('parsed entries', () => {
  it('exclude invalid ones, which do not cause a write', () => {
    const remembered = { a: entry(1) };
    const { networkName, macAddress } = entry(2);
    const spec = [7, null, {}, { networkName }, { macAddress }, entry(1, 'net', { ipAddress: '' })];
    expect(planNetworkConfig(machine({ a: [1, 'net'] }), config({ spec, remembered })).actions).toEqual([]);
  });

  it('a patch has only what differs, and no field without a value', () => {
    const remembered = { a: entry(1) };
    expect(planNetworkConfig(machine({ a: [1, 'net'] }), config({ spec: [], remembered })).actions).toStrictEqual([
      { kind: 'update', patch: { spec: { networkConfigs: [entry(1)] } } },
    ]);
  });
});

describe('the one of five interfaces that has an address under an earlier MAC address', () => {
  it('gets a place before those without an address', () => {
    const of = machine({ a: [1, 'net'], b: [2, 'net'], c: [3, 'net'], d: [4, 'net'], e: [5, 'net'] });
    const hasAddress = (networkName: string, macAddress: string) => networkName === 'default/net' && macAddress === mac(9);
    const observed = config({ spec: [], remembered: { e: { ...entry(5), replaces: [mac(9)] } } });
    expect(planned(of, observed)).toBe('1 2 3 4');
    expect(planned(of, observed, { hasAddress })).toBe('1 2 3 5');
  });
});
