import { type MacAddress, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { IPPOOL_NAME_LABEL, IPPOOL_NAMESPACE_LABEL } from '@vmdhcp/ippool-api';
import { type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import type { LastOwners } from '../assignment/assignment-plan.js';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import type { InterfaceClaim } from '../network-config/interface-claims.js';
import type { MachineKnowledge } from '../virtual-machine/wanted-interfaces.js';
import { ClusterView } from './cluster-view.js';
import type { PoolView } from './pool-views.js';

const NETWORK = 'default/net-1';
const [A, B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'].map((text) => parseMacAddress(text)) as [MacAddress, MacAddress];
const ADDRESS = parseIpv4Address('10.0.0.10') as NonNullable<InterfaceClaim['previous']>;

const RUNS = {
  uid: 'instance',
  needsMigration: false,
  spec: { networks: [{ name: 'nic', multus: { networkName: 'net-1' } }] },
  macAddresses: new Map<string, MacAddress>(),
};

function made(object: KubernetesObject, metadata: Partial<KubernetesObject['metadata']>): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}

function machine(name: string, macAddress: string = A): KubernetesObject {
  return virtualMachine(name, { interfaces: { nic: [macAddress, 'net-1'] } });
}

function config(name: string, metadata: Partial<KubernetesObject['metadata']> = {}): KubernetesObject {
  const networkConfigs = [{ networkName: NETWORK, macAddress: A }];
  return { metadata: { namespace: 'default', name, ...metadata }, spec: { vmName: name, networkConfigs } };
}

/** What is in a cluster, each change noted. */
function viewing(lastOwners?: LastOwners) {
  const sources = {
    virtualMachines: new Map<string, KubernetesObject>(),
    networks: new Map<string, KubernetesObject>(),
    ipPools: new Map<string, KubernetesObject>(),
    networkConfigs: new Map<string, KubernetesObject>(),
  };
  const view = new ClusterView({ ...sources, lastOwners: new Map(lastOwners && [['default/pool-1', lastOwners]]) });
  const put = (kind: keyof typeof sources, ...objects: readonly KubernetesObject[]) => {
    for (const object of objects) {
      sources[kind].set(keyOf(object), object);
      if (kind === 'virtualMachines') view.noteVirtualMachine(keyOf(object));
      if (kind === 'networkConfigs') view.noteNetworkConfig(keyOf(object));
      if (kind === 'ipPools') view.notePool(keyOf(object));
    }
  };
  return { sources, view, put };
}

describe('the pool that serves a network', () => {
  const [first, second] = ['2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z'];
  const labels = (namespace: string, name: string) => ({ [IPPOOL_NAMESPACE_LABEL]: namespace, [IPPOOL_NAME_LABEL]: name });

  it.each<[string, readonly [ofPool1: string, ofPool2: string], KubernetesObject | undefined, string]>([
    ['is the oldest', [second, first], network(), 'pool-2'],
    [
      'is the oldest, although the labels name another',
      [first, second],
      made(network(), { labels: labels('default', 'pool-2') }),
      'pool-1',
    ],
    [
      'is the labelled one of the same second',
      [first, first],
      made(network(), { labels: labels('default', 'pool-2') }),
      'pool-2',
    ],
    ['has the labelled namespace', [first, first], made(network(), { labels: labels('other', 'pool-2') }), 'pool-1'],
    ['has the labelled name', [first, first], made(network(), { labels: labels('default', 'pool-3') }), 'pool-1'],
    ['is the first by name without labels', [first, first], network(), 'pool-1'],
    ['is the first by name without a network', [first, first], undefined, 'pool-1'],
  ])('%s', (_, [ofPool1, ofPool2], net, expected) => {
    const { view, put } = viewing();
    if (net !== undefined) put('networks', net);
    put('ipPools', made(pool('pool-2'), { creationTimestamp: ofPool2 }), made(pool('pool-1'), { creationTimestamp: ofPool1 }));
    expect(view.servingPool(NETWORK)?.key).toBe(`default/${expected}`);
  });

  it('does not exist if there is no pool, or none that will stay', () => {
    const { sources, view, put } = viewing();
    expect(view.servingPool(NETWORK)).toBeUndefined();
    put('ipPools', made(pool(), { deletionTimestamp: first }));
    expect(view.servingPool(NETWORK)).toBeUndefined();
    put('ipPools', pool());
    expect(view.servingPool(NETWORK)?.key).toBe('default/pool-1');
    sources.ipPools.clear();
    expect(view.servingPool(NETWORK), 'gone, and not noted yet').toBeUndefined();
  });
});

describe('claims on a network', () => {
  it('come from existing configs, each read once', () => {
    const { sources, view, put } = viewing();
    const one = config('vm-a');
    put('networkConfigs', one, config('vm-b'));
    const before = view.claimsOn(NETWORK);
    expect([...before.keys()].toSorted()).toEqual(['default/vm-a', 'default/vm-b']);
    expect(before.get('default/vm-a')).toBe(view.claimsOf(one));
    expect(view.claimsOf(config('vm-a'))).not.toBe(view.claimsOf(one));
    sources.networkConfigs.delete('default/vm-a');
    view.noteNetworkConfig('default/vm-a');
    expect([...view.claimsOn(NETWORK).keys()]).toEqual(['default/vm-b']);
    expect(before.size, 'a version does not change').toBe(2);
  });
});

describe('the recorded address of an interface in a config', () => {
  const recorded: InterfaceClaim = { network: NETWORK, macAddress: A, previous: ADDRESS, holdsPrevious: true };

  it.each<[string, readonly KubernetesObject[], Partial<InterfaceClaim>, boolean]>([
    ['its virtual machine has the interface', [machine('vm-a')], {}, true],
    ['its virtual machine and a copy have the interface', [machine('vm-a'), machine('vm-b')], {}, true],
    ['another virtual machine has the interface', [machine('vm-b')], {}, false],
    ['another virtual machine has the interface, and the address is pinned', [machine('vm-b')], { wanted: ADDRESS }, false],
    ['no virtual machine has it', [], {}, true],
    ['another virtual machine has the MAC address that the interface had before', [machine('vm-b', B)], { replaces: [B] }, false],
    ['no virtual machine has or had its MAC addresses', [], { replaces: [B] }, true],
    ['it is of another network', [machine('vm-b')], { network: 'default/net-2' }, true],
    [
      'another virtual machine has the interface, and its own is leaving the network',
      [machine('vm-b')],
      { isLeaving: true },
      false,
    ],
  ])('counts unless another virtual machine has that interface: %s', (_, machines, more, counts) => {
    const { view, put } = viewing();
    put('virtualMachines', ...machines);
    const claim = { ...recorded, ...more };
    const of = { key: 'default/vm-a', createdAt: '', claims: [claim], unreadable: [] };
    const { network: on, macAddress, wanted, isLeaving } = claim;
    const kept = { ...(wanted !== undefined && { wanted }), ...(isLeaving && { isLeaving }) };
    const without = { network: on, macAddress, ...kept };
    expect(view.believed(of, new Set([NETWORK]))).toStrictEqual({ ...of, claims: [counts ? claim : without] });
  });
});

describe('a virtual machine whose config is missing, or does not claim its interface yet', () => {
  const AT = '2026-01-01T00:00:05Z';
  const recorded = { ...pool(), status: { ipv4: { allocated: { '10.0.0.10': A, '10.0.0.11': B } } } };
  const ownedBy = (owner: string): LastOwners => new Map([[A, { owner, address: ADDRESS }]]);

  const withEntry = (name: string, macAddress: string) => {
    const { spec, ...made } = config(name);
    return { ...made, spec: { ...(spec as object), networkConfigs: [{ networkName: NETWORK, macAddress }] } };
  };
  const paused = (name: string) => ({ ...config(name), spec: { vmName: name, paused: true, networkConfigs: [] } });

  function reserving(configs: readonly KubernetesObject[], lastOwners?: LastOwners) {
    const { sources, view, put } = viewing(lastOwners);
    put('networks', network());
    put('ipPools', recorded);
    put('virtualMachines', made(machine('vm-a'), { creationTimestamp: AT }), machine('vm-b'));
    put('networkConfigs', ...configs);
    const reserved = () => view.reserved(view.pool('default/pool-1') as PoolView);
    return { sources, view, reserved };
  }

  it.each<[string, readonly KubernetesObject[], LastOwners | undefined, string | undefined]>([
    ['is the first with the interface', [], undefined, 'default/vm-a'],
    ['is the one that had the address last', [], ownedBy('default/vm-b'), 'default/vm-b'],
    ['is the first, where the one that had the address last is gone', [], ownedBy('default/vm-c'), 'default/vm-a'],
    ['is not one that has a config', [config('vm-a')], ownedBy('default/vm-a'), 'default/vm-b'],
    ['is one whose config is being deleted', [config('vm-a', { deletionTimestamp: AT })], undefined, 'default/vm-a'],
    ['is one whose config claims another interface only', [withEntry('vm-a', B)], undefined, 'default/vm-a'],
    ['is not one whose config is paused', [paused('vm-a')], undefined, 'default/vm-b'],
    ['is none where all have theirs', [config('vm-a'), config('vm-b')], undefined, undefined],
  ])('%s', (_, configs, lastOwners, owner) => {
    expect(reserving(configs, lastOwners).reserved().get(A)?.owner).toBe(owner);
  });

  it('has its recorded addresses reserved, by the version that created it', () => {
    const { sources, view, reserved } = reserving([]);
    expect(reserved()).toEqual(new Map([[A, { owner: 'default/vm-a', createdAt: AT }]]));
    expect([view.reservingMachine(NETWORK, A), view.reservingMachine(NETWORK, B)]).toEqual(['default/vm-a', undefined]);
    sources.virtualMachines.clear();
    expect(reserved().get(A), 'gone, and not noted yet').toEqual({ owner: 'default/vm-a', createdAt: '' });
  });

  it.each<[string, LastOwners | undefined, readonly string[]]>([
    ['a guest keeps what is recorded elsewhere for its MAC address', undefined, ['default/net-2']],
    ['a guest keeps what it had elsewhere', ownedBy('default/vm-a'), ['default/net-2']],
    ['a guest keeps nothing that another machine had last', ownedBy('default/vm-b'), []],
  ])('%s', (_, lastOwners, kept) => {
    const { sources } = viewing();
    const { spec } = machine('vm-a') as { spec: { template: { spec: object } } };
    const instances = { of: () => ({ ...RUNS, spec: spec.template.spec }), isAbsent: () => false };
    const view = new ClusterView({ ...sources, instances, lastOwners: new Map(lastOwners && [['default/pool-2', lastOwners]]) });
    sources.ipPools.set('default/pool-2', { ...pool('pool-2', { network: 'default/net-2' }), status: recorded.status });
    sources.virtualMachines.set('default/vm-a', machine('vm-a'));
    view.notePool('default/pool-2');
    view.noteVirtualMachine('default/vm-a');
    const elsewhere = view.knowledgeOf(machine('vm-a')).recordedElsewhere?.() ?? [];
    expect(elsewhere.map(({ networkName }) => networkName)).toEqual(kept);
  });
});

describe('the state of a virtual machine', () => {
  it.each<[string, readonly KubernetesObject[], (() => boolean) | undefined, boolean]>([
    ['there is neither it nor an instance of it', [], () => true, true],
    ['there is an instance of it', [], () => false, false],
    ['it is there, and does not run', [machine('vm-a')], () => true, false],
    ['no instances are known', [], undefined, false],
  ])('is gone only if that is certain: %s', (_, machines, isAbsent, isGone) => {
    const { sources, put } = viewing();
    put('virtualMachines', ...machines);
    const view = new ClusterView({ ...sources, ...(isAbsent && { instances: { of: () => undefined, isAbsent } }) });
    expect(view.isMachineGone('default/vm-a')).toBe(isGone);
  });

  it('concerns its pools, even if no instances are known', () => {
    const { view, put } = viewing();
    const { instance, hasAddress } = view.knowledgeOf(machine('vm-a'));
    expect(instance).toBeUndefined();
    expect(hasAddress?.(NETWORK, A), 'no pool serves the network').toBe(false);
    put('ipPools', { ...pool(), status: { ipv4: { allocated: { '10.0.0.10': A } } } });
    expect([hasAddress?.(NETWORK, A), hasAddress?.(NETWORK, B)]).toEqual([true, false]);
  });

  it.each<[string, MachineKnowledge['instance'], string, boolean]>([
    ['since before then', { ...RUNS, runningSince: '2026-01-01T00:00:00Z' }, NETWORK, true],
    ['since after then', { ...RUNS, runningSince: '2026-01-01T00:00:02Z' }, NETWORK, false],
    ['and is still starting', RUNS, NETWORK, false],
    ['without this interface yet', { ...RUNS, spec: {}, runningSince: '2026-01-01T00:00:00Z' }, NETWORK, false],
    ['as far as it is known', 'unseen', NETWORK, false],
    ['where that cannot be known', 'unreadable', NETWORK, false],
    ['on another network', { ...RUNS, runningSince: '2026-01-01T00:00:00Z' }, 'default/net-2', false],
    ['and does not run', undefined, NETWORK, false],
  ])('a machine of the network runs %s', (_, instance, network, isRunning) => {
    const { sources } = viewing();
    const view = new ClusterView({ ...sources, instances: { of: () => instance, isAbsent: () => false } });
    sources.virtualMachines.set('default/vm-a', machine('vm-a'));
    sources.networkConfigs.set('default/vm-a', config('vm-a'));
    view.noteNetworkConfig('default/vm-a');
    const sinceMs = Date.parse('2026-01-01T00:00:01Z');
    expect(view.hasMachineRunningSince(network, sinceMs), 'without an address it answers nothing').toBe(false);
    sources.ipPools.set('default/pool', { ...pool(), status: { ipv4: { allocated: { '10.0.0.10': A } } } });
    view.notePool('default/pool');
    expect(view.hasMachineRunningSince(network, sinceMs)).toBe(isRunning);
  });
});
