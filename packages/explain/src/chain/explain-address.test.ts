import { REASONS } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readText } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ADDRESS,
  config,
  controllerLease,
  event,
  findingsOf,
  instance,
  lease,
  MAC,
  type MachineInterface,
  machine,
  NETWORK,
  network,
  OTHER_MAC,
  observe,
  type Parts,
  packets,
  pendingConfig,
  pool,
  template,
} from './chain-fixtures.js';
import type { Observed } from './chain-observation.js';
import { explainAddress } from './explain-address.js';
import type { ChainReason } from './reasons.js';

const explain = (parts?: Parts) => explainAddress(observe(parts));
const states = (parts?: Parts) =>
  explain(parts).interfaces.flatMap(({ links }) => links.map(({ link, state }) => `${link} ${state}`));
const OLD = '2026-01-01T00:00:00Z';
const FIVE: readonly MachineInterface[] = [1, 2, 3, 4, 5].map((number) => ({
  name: `nic-${number}`,
  macAddress: `02:00:00:00:00:0${number}`,
}));
const ENTRY = { networkName: NETWORK, macAddress: MAC };
const CREATED = { ...machine({}, [{ name: 'default', macAddress: OTHER_MAC }]), status: { created: true } };
const LINK_OFF = machine({}, [{ name: 'default', macAddress: MAC, binding: { bridge: {}, state: 'down' } }]);
const OVN_SUBNETS = { type: 'ovn-k8s-cni-overlay', topology: 'localnet', subnets: '10.1.0.0/24' };
const NAMED_LONG = [{ name: 'default', macAddress: MAC, network: `default/${'n'.repeat(70)}` }];

it('a VirtualMachineNetworkConfig that the controller has not looked at waits for its address', () => {
  const chain = explainAddress(observe({ config: config({ status: [] }), pool: pool({ allocated: {} }), instance: undefined }));
  expect(findingsOf(chain)).toContainEqual(
    expect.objectContaining({ reason: 'AddressPending', link: 'address', state: 'waiting' }),
  );
});

describe('a virtual machine that has its address', () => {
  it.each([
    ['in a pool without IPv6', {}, `${ADDRESS} is assigned to ${MAC}`],
    ['in a pool with IPv6', { allocatedIPv6Address: 'fd00::a' }, `${ADDRESS} and fd00::a are assigned to ${MAC}`],
    [
      'while the status has those from before',
      { allocatedIPAddress: '10.1.0.11', allocatedIPv6Address: 'fd00::b' },
      `${ADDRESS} is assigned to ${MAC}`,
    ],
  ])('has both addresses in its chain: %s', (_, shown, facts) => {
    const entry = { ...ENTRY, allocatedIPAddress: ADDRESS, state: 'Allocated', ...shown };
    const links = explain({ config: config({ status: [entry] }) }).interfaces.flatMap((one) => one.links);
    expect(links.find(({ link }) => link === 'address')?.facts).toBe(facts);
  });

  it('has every link, in its order', () => {
    const chain = explain();
    expect(chain).toMatchObject({ state: 'ok', missingRights: [], furtherEvents: [] });
    expect(chain.links.map(({ link }) => link)).toEqual(['virtual-machine', 'controller']);
    expect(states()).toEqual([
      'interface ok',
      'network ok',
      'network-config ok',
      'pool ok',
      'address ok',
      'agents ok',
      'leader ok',
      'report ok',
      'instance ok',
    ]);
    expect(chain.interfaces).toMatchObject([{ interface: 'default', address: ADDRESS, macAddress: MAC, state: 'ok' }]);
    expect(findingsOf(chain)).toEqual([]);
  });

  it('has its address also without a report of a guest agent', () => {
    expect(states({ instance: instance({}) }).at(-1)).toBe('instance unknown');
  });
});

/** Reasons that appear in no condition of an IPPool or a VirtualMachineNetworkConfig and in no report, with what causes them. */
const SITUATIONS = {
  VirtualMachineUnknown: { machine: undefined, config: undefined, instance: undefined },
  VirtualMachineStopped: { instance: undefined },
  NoInterfaceOnNetwork: { machine: machine({ 'network.harvesterhci.io/dhcp-opt-out': 'true' }) },
  TemplateMissing: { machine: { ...machine(), spec: {} }, instance: undefined },
  MacAddressAnnotationUnreadable: {
    machine: machine({ 'harvesterhci.io/mac-address': '{' }, [{ name: 'default' }]),
    instance: undefined,
  },
  MacAddressTwice: {
    machine: machine({}, [
      { name: 'default', macAddress: MAC },
      { name: 'twin', macAddress: MAC },
    ]),
    instance: undefined,
  },
  StaticAddressUnreadable: { machine: machine({ 'static-ip.harvesterhci.io/default': 'ten' }) },
  PinnedAddressesUnreadable: { machine: machine({ 'network.kubevirt.io/addresses': 'ten' }) },
  PinnedAddressesSurplus: { machine: machine({ 'network.kubevirt.io/addresses': `{"default":["${ADDRESS}","192.168.48.9"]}` }) },
  StaticAddressWithoutInterface: { machine: machine({ 'static-ip.harvesterhci.io/eth9': ADDRESS }) },
  OptOutWithoutInterface: { machine: machine({ 'network.harvesterhci.io/dhcp-opt-out': 'eth9' }) },
  NetworkNameTooLong: { machine: machine({}, NAMED_LONG), instance: undefined },
  TooManyInterfaces: { machine: machine({}, FIVE), instance: undefined },
  AwaitingMacAddress: { machine: machine({}, [{ name: 'default' }]), instance: undefined, config: undefined },
  BindingNotServed: {
    machine: machine({}, [{ name: 'default', macAddress: MAC, binding: { masquerade: {} } }]),
    instance: undefined,
    config: undefined,
  },
  NetworkNotServed: { network: network({}, OVN_SUBNETS), config: undefined, pool: pool({ allocated: {} }) },
  ServedTwice: { network: network({}, { plugins: [{ type: 'bridge', ipam: { type: 'host-local' } }] }) },
  MayBeServedTwice: { network: network({}, { type: 'kube-ovn' }) },
  VirtualMachineInstancesUnreadable: {
    events: [event('VirtualMachine', 'VirtualMachineInstancesUnreadable', 'no right')],
  },
  VirtualMachineInstanceUnseen: { machine: CREATED, instance: undefined, config: remembering() },
  NetworkConfigRefused: { config: undefined, events: [event('VirtualMachine', 'NetworkConfigRefused', 'too long')] },
  NetworkUnknown: { network: undefined },
  NetworkConfigMissing: { config: undefined },
  NetworkConfigPaused: { config: config({ spec: { paused: true } }) },
  AddressPending: { config: pendingConfig(), pool: pool({ allocated: {} }) },
  ControllerNotLeading: { controller: controllerLease(OLD), config: undefined },
  UnassignedAddressUsed: {
    lease: lease({ serving: true, observedUses: [{ address: ADDRESS, assignedTo: MAC, usedBy: OTHER_MAC }] }),
  },
  AddressConflict: { lease: lease({ serving: true, conflicts: [{ address: ADDRESS, macAddress: MAC, usedBy: OTHER_MAC }] }) },
  DuplicateAddressDetected: {
    lease: lease({ serving: true, declinedIpv6: [{ address: '2001:db8::a', macAddress: MAC }] }),
  },
  AddressChanged: {
    instance: instance({ ipAddress: '10.9.0.9' }),
    events: [event('IPPool', 'AddressChanged', 'the pool has another CIDR')],
  },
  LinkOff: { machine: LINK_OFF, traffic: packets() },
  NoPacketFromClient: { traffic: packets() },
  OfferNotAccepted: { traffic: packets('DISCOVER OFFER', 'DISCOVER OFFER', 'DISCOVER OFFER') },
  OtherServerSelected: { traffic: packets('DISCOVER OFFER', 'REQUEST !other-server-selected') },
  PacketNotAnswered: { traffic: packets('DISCOVER !unknown-client') },
  RequestRefused: { traffic: packets('REQUEST NAK') },
  ClientDeclinedAddress: { traffic: packets('REQUEST ACK', 'DECLINE') },
  AcknowledgedNotUsed: { traffic: packets('REQUEST ACK'), instance: instance({ infoSource: 'guest-agent' }) },
  InstanceHasNoAddress: { instance: instance({ infoSource: 'guest-agent' }) },
  AwaitingMigration: { instance: instance({ ipAddress: '10.9.0.9' }), config: leaving() },
  InstanceHasAnotherAddress: { instance: instance({ ipAddress: '10.9.0.9', ipAddresses: ['10.9.0.9', 'fe80::1'] }) },
} as const satisfies Partial<Readonly<Record<ChainReason, Parts>>>;

/** The config of a machine that is moved from another network. */
function leaving() {
  const object = config();
  const text = JSON.stringify({ [`default/former ${MAC}`]: { since: '2026-01-01T00:00:00Z', instance: 'i' } });
  const annotations = { ...object.metadata.annotations, 'network.harvesterhci.io/leaving-networks': text };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** The interface's config under its earlier name. */
function remembering() {
  const object = config();
  const annotations = { 'network.harvesterhci.io/interfaces': JSON.stringify({ default: ENTRY }) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

it.each([
  ['asked before', packets('DISCOVER OFFER', 'REQUEST ACK')],
  ['never asked', packets()],
])('a link that is off is the cause, and no guest is to be looked at that cannot answer: it %s', (_, traffic) => {
  const chain = explain({ machine: LINK_OFF, traffic, instance: instance({ infoSource: 'guest-agent' }) });
  expect(findingsOf(chain).map(({ reason, state }) => [reason, state])).toEqual([['LinkOff', 'broken']]);
  expect(findingsOf(chain)[0]?.message).toContain('to switch it on: kubectl patch vm -n default web');
});

it('a machine whose pool lets it do without IPv4 is not broken because it does', () => {
  const mayForgo = (object: KubernetesObject) => ({
    ...object,
    spec: { ...(object.spec as object), ipv6Config: { cidr: 'fd00::/64', ipv6OnlyWait: 300 } },
  });
  const parts = { traffic: packets('DISCOVER OFFER', 'DISCOVER OFFER'), instance: instance({ infoSource: 'guest-agent' }) };
  expect(explain(parts).state).toBe('broken');
  const chain = explain({ ...parts, pool: mayForgo(pool()) });
  expect(findingsOf(chain).map(({ reason, state }) => [reason, state])).toEqual([
    ['OfferNotAccepted', 'note'],
    ['InstanceHasNoAddress', 'note'],
  ]);
  expect(findingsOf(chain)[0]?.message).toMatch(/^normal if it does without IPv4 .*; else: the last 2 DISCOVERs/);
  const silent = explain({ ...parts, traffic: packets(), pool: mayForgo(pool()) });
  expect(findingsOf(silent).map(({ reason, state }) => [reason, state])).toContainEqual(['NoPacketFromClient', 'note']);
  const rebooted = explain({ ...parts, traffic: packets('REQUEST ACK'), pool: mayForgo(pool()) });
  expect(rebooted.state).not.toBe('broken');
  expect(explain({ ...parts, traffic: packets('REQUEST ACK') }).state).toBe('broken');
  // Nothing else is excused.
  expect(explain({ traffic: packets('REQUEST NAK', 'REQUEST NAK'), pool: mayForgo(pool()) }).state).not.toBe('ok');
});

describe('reasons that only the objects themselves show', () => {
  it.each(Object.entries(SITUATIONS))('%s, with the remedy of the table', (reason, parts) => {
    const one = findingsOf(explain(parts)).find((each) => each.reason === reason);
    expect(one, JSON.stringify(findingsOf(explain(parts)))).toBeDefined();
    expect(one?.remedy).toBe(REASONS[reason as ChainReason].remedy);
  });

  it('VirtualMachineMissing: a VirtualMachineNetworkConfig that outlives its virtual machine', () => {
    const chain = explain({ machine: undefined, instance: undefined });
    expect(findingsOf(chain).map(({ reason, state }) => [reason, state])).toEqual([['VirtualMachineMissing', 'note']]);
    expect(chain.interfaces).toMatchObject([{ interface: 'entry 1', address: ADDRESS }]);
  });

  it('a network that another DHCP server serves on purpose needs no pool and no address', () => {
    const external = network({ 'network.harvesterhci.io/external-dhcp': 'true' });
    const chain = explain({ network: external, pool: undefined, config: pendingConfig(), instance: undefined });
    expect(findingsOf(chain).map(({ reason }) => reason)).toEqual(['VirtualMachineStopped', 'ExternalDHCP']);
  });
});

/** Binding, configuration of the network, whether there is a VirtualMachineNetworkConfig: state of the interface, where it breaks, and reasons. */
describe('who else answers', () => {
  const BRIDGE = { type: 'bridge', bridge: 'br1' };
  const IPAM = { ...BRIDGE, ipam: { type: 'host-local' } };
  it.each<[string, object, object, boolean, readonly (string | undefined)[]]>([
    ['bridge', { bridge: {} }, BRIDGE, true, ['ok', undefined]],
    ['bridge, on a network with ipam', { bridge: {} }, IPAM, true, ['note', undefined, 'ServedTwice']],
    ['an unknown plugin, on a network with ipam', { binding: { name: 'l2' } }, IPAM, true, ['ok', undefined]],
    ['SR-IOV, on a network with ipam', { sriov: {} }, { ...IPAM, type: 'sriov' }, true, ['ok', undefined]],
    ['bridge, on kube-ovn', { bridge: {} }, { type: 'kube-ovn' }, true, ['note', undefined, 'MayBeServedTwice']],
    ['masquerade', { masquerade: {} }, BRIDGE, false, ['broken', 'interface', 'BindingNotServed']],
    ['passt', { passtBinding: {} }, IPAM, false, ['broken', 'interface', 'BindingNotServed']],
    ['bridge, on OVN-Kubernetes with subnets', { bridge: {} }, OVN_SUBNETS, false, ['broken', 'network', 'NetworkNotServed']],
    ['masquerade, which has its address', { masquerade: {} }, BRIDGE, true, ['note', undefined, 'BindingNotServed']],
    ['OVN-Kubernetes with subnets, which has its address', {}, OVN_SUBNETS, true, ['note', undefined, 'NetworkNotServed']],
  ])('%s', (_, binding, config_, hasConfig, expected) => {
    const one = { name: 'default', macAddress: MAC, binding: binding as Readonly<Record<string, unknown>> };
    const without = { config: undefined, pool: pool({ allocated: {} }) };
    const parts: Parts = { machine: machine({}, [one]), network: network({}, config_), ...(hasConfig ? {} : without) };
    const chain = explain({ ...parts, instance: { ...instance(), spec: template([one]) } });
    const reasons = chain.interfaces.flatMap(({ links }) =>
      links.flatMap(({ findings }) => findings.map(({ reason }) => reason)),
    );
    expect(chain.interfaces.map(({ network: name }) => name)).toEqual([NETWORK]);
    expect([chain.interfaces[0]?.state, chain.interfaces[0]?.brokenAt, ...reasons]).toEqual(expected);
  });

  it('a network without an IPPool misses none, if the agents could not reach the interface anyway', () => {
    const unserved = machine({}, [{ name: 'default', macAddress: MAC, binding: { masquerade: {} } }]);
    const chain = explain({ machine: unserved, instance: undefined, config: undefined, pool: undefined });
    expect(findingsOf(chain).map(({ reason }) => reason)).toEqual(['VirtualMachineStopped', 'BindingNotServed']);
  });
});

describe('one reason of a VirtualMachineNetworkConfig with several interfaces', () => {
  const both = [ENTRY, { networkName: NETWORK, macAddress: OTHER_MAC }];
  const twoInterfaces = machine({}, [
    { name: 'one', macAddress: MAC },
    { name: 'two', macAddress: OTHER_MAC },
  ]);
  const refused = (message: string, states_: readonly string[]) =>
    explain({
      machine: twoInterfaces,
      instance: undefined,
      pool: pool({ allocated: {} }),
      config: config({
        entries: both,
        status: both.map((entry, index) => ({ ...entry, state: states_[index] })),
        conditions: [{ type: 'Allocated', status: 'False', reason: 'AddressTaken', message }],
      }),
    }).interfaces.map(({ links }) => links.flatMap(({ findings }) => findings.map(({ reason }) => reason)));

  it('is shown at the interface whose MAC address the message names', () => {
    const message = `pool ${NETWORK} cannot assign 10.1.0.10 to ${OTHER_MAC}: another has it`;
    expect(refused(message, ['Pending', 'Pending'])).toEqual([['OtherInterfaceRefused'], ['AddressTaken']]);
  });

  it('is shown at both if the message names neither', () => {
    expect(refused('the pool is paused', ['Pending', 'Pending'])).toEqual([['AddressTaken'], ['AddressTaken']]);
  });
});

describe('the first broken link', () => {
  it('is the cause, not its consequences', () => {
    const invalid = { status: 'False', reason: 'PoolInvalid', message: 'exclude' };
    const conditions = ['CacheReady', 'Registered', 'AgentReady'].map((type) => ({ type, ...invalid }));
    const refusal = { type: 'Allocated', status: 'False', reason: 'PoolInvalid', message: 'look at the pool' };
    const chain = explain({ pool: pool({ conditions, allocated: {} }), config: pendingConfig(refusal), lease: undefined });
    expect(chain.interfaces).toMatchObject([{ brokenAt: 'pool', state: 'broken' }]);
    expect(findingsOf(chain).filter(({ reason }) => reason === 'PoolInvalid')).toHaveLength(1);
  });

  it('is the missing pool, and then no config is expected', () => {
    const [one] = explain({ config: undefined, pool: undefined, instance: undefined }).interfaces;
    expect(one?.brokenAt).toBe('pool');
    expect(one?.links.find(({ link }) => link === 'network-config')).toMatchObject({ state: 'absent', findings: [] });
  });

  it('is the one that waits, if what is broken comes after it', () => {
    const agentsDown = [{ type: 'AgentReady', status: 'False', reason: 'CrashLooping', message: 'crashes' }];
    const awaiting = { machine: machine({}, [{ name: 'default' }]), instance: undefined, config: undefined };
    const chain = explain({ ...awaiting, pool: pool({ allocated: {}, conditions: agentsDown }), lease: undefined });
    expect(chain.interfaces).toMatchObject([{ brokenAt: 'interface', state: 'broken' }]);
    expect(findingsOf(chain).map(({ reason }) => reason)).toEqual([
      'VirtualMachineStopped',
      'AwaitingMacAddress',
      'CrashLooping',
      'NotLeading',
    ]);
  });

  it('is the Lease of agents while a way back to Harvester’s controller keeps them from leadership, whatever its last leader reported', () => {
    const taken = {
      ...lease(),
      spec: {
        holderIdentity: 'vmdhcp-controller-migrate',
        leaseDurationSeconds: 604_800,
        renewTime: readText(lease().spec, 'renewTime'),
      },
    };
    const links = explain({ lease: taken }).interfaces.flatMap((one) => one.links);
    const leader = links.find(({ link }) => link === 'leader');
    expect([leader?.state, leader?.facts]).toEqual([
      'broken',
      'keeps the agents from leadership, until vmdhcp-controller migrate is run again',
    ]);
    expect(JSON.stringify(links)).not.toContain('clients are answered');
  });

  it('is the controller only if something waits for it', () => {
    expect(explain({ controller: controllerLease(OLD) }).links).toMatchObject([{}, { link: 'controller', state: 'note' }]);
    expect(explain({ controller: controllerLease(OLD), config: undefined }).links).toMatchObject([{}, { state: 'broken' }]);
  });

  it('is the expired Lease of a controller: it says who held it, and when it expired', () => {
    const [, link] = explain({ controller: controllerLease(OLD) }).links;
    expect(link?.facts).toBe('expired 45 seconds ago; controller-1 was the last to hold it');
    const conditions = [{ type: 'Registered', status: 'True', lastTransitionTime: '2026-01-01T00:00:16Z' }];
    const written = explain({ controller: controllerLease(OLD), config: undefined, pool: pool({ conditions }) });
    expect(written.links[1]).toMatchObject({
      state: 'unknown',
      facts: expect.stringMatching(/that elects no leader has written since/),
    });
    const released = { ...controllerLease(OLD), spec: { holderIdentity: '', renewTime: OLD } };
    expect(explain({ controller: released }).links[1]?.facts).toBe('has no holder');
  });

  it('does not exist if the leader serves the pool and the condition is older', () => {
    const conditions = [{ type: 'AgentReady', status: 'False', reason: 'Opening', message: 'opening' }];
    expect(explain({ pool: pool({ conditions }) }).interfaces[0]?.brokenAt).toBeUndefined();
  });
});

it.each<[string, Parts, readonly string[]]>([
  [
    'a VirtualMachineNetworkConfig and an address, before the MAC address is known',
    { machine: machine({}, [{ name: 'default' }]), instance: undefined, config: undefined, pool: pool({ allocated: {} }) },
    ['network-config', 'address'],
  ],
  [
    'a pool, where another DHCP server serves the network',
    { network: network({ 'network.harvesterhci.io/external-dhcp': 'true' }), pool: undefined, config: pendingConfig() },
    ['pool'],
  ],
  [
    'agents that the pool does not name yet',
    { pool: { ...pool(), status: { ...(pool().status as object), agentDeploymentRef: undefined } } },
    ['agents'],
  ],
])('a missing object is absent, not ok: %s', (_, parts, absent) => {
  expect(states(parts).filter((one) => one.endsWith(' absent'))).toEqual(absent.map((link) => `${link} absent`));
});

describe('the Lease that the explanation names', () => {
  const leaderOf = (deployment: string, observed: Observed) => {
    const agentDeploymentRef = { namespace: 'vm-dhcp-agents', name: deployment };
    const whole = observe({ pool: { ...pool(), status: { ...(pool().status as object), agentDeploymentRef } } });
    const key = `vm-dhcp-agents/${deployment}`;
    const pools = new Map([...whole.pools].map(([network, { pool: one }]) => [network, { pool: one, lease: key }]));
    const [way] = explainAddress({ ...whole, pools, leases: new Map([[key, observed]]) }).interfaces;
    return way?.links.find(({ link }) => link === 'leader')?.object;
  };
  const named = (name: string): Observed => {
    const object = lease();
    return { kind: 'found', object: { ...object, metadata: { ...object.metadata, name } } };
  };

  it('is the one that was read, whatever the name of the Deployment is', () => {
    expect(leaderOf('vmdhcp-agent', named('vm-dhcp-agents'))).toBe('Lease vm-dhcp-agents/vm-dhcp-agents');
    expect(leaderOf('vm-dhcp-agent-1', named('vm-dhcp-agent-1'))).toBe('Lease vm-dhcp-agents/vm-dhcp-agent-1');
  });

  it('is the one that the agents of the Deployment would have, if none exists', () => {
    expect(leaderOf('vmdhcp-agent', { kind: 'missing' })).toBe('Lease vm-dhcp-agents/vm-dhcp-agents');
    expect(leaderOf('vm-dhcp-agent-1', { kind: 'missing' })).toBe('Lease vm-dhcp-agents/vm-dhcp-agent-1');
  });
});

describe('an object that could not be read', () => {
  const refused = (resource: string): Observed => ({
    kind: 'refused',
    right: { verb: 'get', resource, group: 'kubevirt.io', namespace: 'default' },
  });

  it('is unknown, and the rest is shown', () => {
    const chain = explainAddress({
      ...observe(),
      virtualMachine: refused('virtualmachines'),
      instance: refused('virtualmachineinstances'),
    });
    expect(chain.links[0]).toMatchObject({ link: 'virtual-machine', state: 'unknown' });
    expect(chain.interfaces).toMatchObject([{ address: ADDRESS, state: 'ok' }]);
    expect(chain.missingRights.map(({ resource }) => resource)).toEqual(['virtualmachines', 'virtualmachineinstances']);
  });

  it('is unknown if it is an IPPool: the address comes from the VirtualMachineNetworkConfig', () => {
    const pools = new Map([[NETWORK, { pool: refused('ippools'), lease: undefined }]]);
    const chain = explainAddress({ ...observe(), pools });
    expect(chain.interfaces).toMatchObject([{ address: ADDRESS }]);
    expect(chain.missingRights).toHaveLength(1);
  });
});

it('asks for Events only if an object is missing or an address is another one', () => {
  expect(explain({ config: undefined }).furtherEvents).toEqual([{ kind: 'VirtualMachine', namespace: 'default', name: 'web' }]);
  expect(explain({ instance: instance({ ipAddress: '10.9.0.9' }) }).furtherEvents).toEqual([
    { kind: 'IPPool', namespace: 'default', name: 'pool' },
  ]);
  expect(explain().furtherEvents).toEqual([]);
});

it('never throws, whatever the objects contain', () => {
  const part = fc.object({
    key: fc.constantFrom('spec', 'status', 'networkConfigs', 'ipv4', 'allocated', 'template', 'conditions'),
  });
  const objects = fc.record({ spec: part, status: part });
  fc.assert(
    fc.property(objects, objects, objects, objects, (one, two, three, four) => {
      const metadata = { namespace: 'default', name: 'web' };
      const observed = observe({
        machine: { metadata, ...one },
        config: { metadata, ...two },
        pool: { metadata, ...three },
        instance: { metadata, ...four },
        lease: { metadata, ...one },
      });
      expect(explainAddress(observed).interfaces).toBeInstanceOf(Array);
    }),
  );
});
