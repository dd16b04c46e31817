import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readClusterAgent } from '../host/cluster-agent-settings.js';
import { agentObject, endpointObject, factsOf, lease, NOW_MS, StoredHosts } from '../inventory/inventory-fixtures.js';
import type { HostLease, InventoryFacts } from '../inventory/inventory-plan.js';
import { boundAddresses } from './bound-addresses.js';

const switches = (dhcp: object) => ({ clusterAgent: readClusterAgent(agentObject(dhcp)) });
const LEASES = [lease(10), lease(11)];

/** The hosts of these leases, with an annotation on the first one. */
function hosts(bound?: string, leases: readonly HostLease[] = LEASES): StoredHosts {
  const stored = new StoredHosts();
  stored.settle(factsOf({ leases }));
  if (bound !== undefined) stored.edit('agent-10-0-0-10', { metadata: { annotations: { 'bmc.spidernet.io/bound-to': bound } } });
  return stored;
}

/** `10.0.0.10 0a`: the last octet of each client. */
function shown(stored: StoredHosts, facts: Partial<InventoryFacts> = {}): string[] {
  const { bindings } = boundAddresses(factsOf({ leases: LEASES, ...facts, hostStatuses: stored.all }));
  return bindings.map(
    ({ ipAddress, macAddress, isByAnnotation }) =>
      `${ipAddress} ${macAddress.slice(-2)}${isByAnnotation ? ' by annotation' : ''}`,
  );
}

const problemsOf = (stored: StoredHosts, facts: Partial<InventoryFacts> = {}) =>
  boundAddresses(factsOf({ leases: LEASES, ...facts, hostStatuses: stored.all })).problems.map(
    ({ event }) => `${event.reason}: ${event.message}`,
  );

describe('which addresses are bound', () => {
  it.each<[what: string, bound: string | undefined, facts: Partial<InventoryFacts>, expected: string[]]>([
    ['every learned one', undefined, {}, ['10.0.0.10 0a', '10.0.0.11 0b']],
    ['none, by the switch', undefined, switches({ enableBindDhcpIP: false }), []],
    [
      'every learned one, whatever the other switch',
      undefined,
      switches({ enableBindStaticIP: false }),
      ['10.0.0.10 0a', '10.0.0.11 0b'],
    ],
    ['one by hand', '02-00-00-00-00-0A', switches({ enableBindDhcpIP: false }), ['10.0.0.10 0a by annotation']],
    ['one by hand, for another client', '02:00:00:00:00:99', {}, ['10.0.0.10 99 by annotation', '10.0.0.11 0b']],
    ['all but one', 'none', {}, ['10.0.0.11 0b']],
    ['as the switch has it, where the annotation makes no sense', 'perhaps', {}, ['10.0.0.10 0a', '10.0.0.11 0b']],
    ['not the address of a HostEndpoint', undefined, { endpoints: [endpointObject('e', '10.0.0.10')] }, ['10.0.0.11 0b']],
    ['not addresses outside of the subnet', undefined, switches({ subnet: '10.0.9.0/24' }), []],
    ['not those of another ClusterAgent', undefined, { clusterAgent: readClusterAgent(agentObject({}, {}, 'other')) }, []],
  ])('%s', (_, bound, facts, expected) => expect(shown(hosts(bound), facts)).toEqual(expected));

  it('the binding stays while the client has no lease, and if the status is edited', () => {
    const stored = hosts();
    stored.settle(factsOf({ leases: [] }));
    stored.edit('agent-10-0-0-10', { status: { basic: { ipAddr: '10.0.0.77' } } });
    expect(shown(stored, { leases: [] })).toEqual(['10.0.0.10 0a', '10.0.0.11 0b']);
  });

  it('a binding says whether its client is present, and when its object last changed', () => {
    const stored = hosts();
    stored.settle(factsOf({ leases: [lease(11)], nowMs: NOW_MS + 5_000 }));
    stored.edit('agent-10-0-0-11', { status: { lastUpdateTime: 'odd' } });
    const { bindings } = boundAddresses(factsOf({ hostStatuses: stored.all }));
    expect(bindings.map(({ isActive, changedAtMs }) => [isActive, changedAtMs])).toEqual([
      [false, NOW_MS + 5_000],
      [true, 0],
    ]);
  });

  it('zeros, which the predecessor wrote for unknown values, bind nothing', () => {
    const stored = hosts();
    stored.edit('agent-10-0-0-10', { status: { basic: { mac: '00:00:00:00:00:00' } } });
    expect(shown(stored)).toEqual(['10.0.0.11 0b']);
  });

  it('a client has one bound address: that of its annotation, otherwise the one in use', () => {
    const moved = hosts(undefined, [lease(10), lease(11)]);
    moved.settle(factsOf({ leases: [lease(11), lease(12, 10)] }));
    expect(shown(moved)).toEqual(['10.0.0.11 0b', '10.0.0.12 0a']);
    moved.edit('agent-10-0-0-10', { metadata: { annotations: { 'bmc.spidernet.io/bound-to': '02:00:00:00:00:0a' } } });
    expect(shown(moved)).toEqual(['10.0.0.10 0a by annotation', '10.0.0.11 0b']);
    expect(problemsOf(moved, { leases: [] }), 'a binding by the switch needs no Event').toEqual([]);
  });
});

describe('addresses that no client gets', () => {
  const endpoints = [
    endpointObject('a', '10.0.0.50'),
    endpointObject('b', '10.0.0.12'),
    endpointObject('c', '10.0.0.5'),
    endpointObject('d', '2001:db8::1'),
  ];
  const keptOut = (facts: Partial<InventoryFacts>) => boundAddresses(factsOf({ endpoints, ...facts })).keptOut;

  it('include those of HostEndpoints in the range', () => expect(keptOut({})).toEqual(['10.0.0.12', '10.0.0.50']));
  it('are independent of the switch of learned addresses', () =>
    expect(keptOut(switches({ enableBindDhcpIP: false }))).toEqual(['10.0.0.12', '10.0.0.50']));
  it('are empty without the switch', () => expect(keptOut(switches({ enableBindStaticIP: false }))).toEqual([]));
  it('exclude HostEndpoints of another ClusterAgent', () =>
    expect(keptOut({ endpoints: [endpointObject('a', '10.0.0.50', { clusterAgent: 'other' })] })).toEqual([]));
});

describe('annotations without effect are reported', () => {
  it.each<[bound: string, problem: string]>([
    ['perhaps', 'BindingUnreadable: "perhaps" is neither a MAC address nor none: correct the annotation, or remove it'],
    [
      'ff:ff:ff:ff:ff:ff',
      'BindingUnreadable: no client has the MAC address ff:ff:ff:ff:ff:ff: correct the annotation, or remove it',
    ],
    [
      '02:00:00:00:00:99',
      'BoundAddressInUse: 02:00:00:00:00:0a has the lease of 10.0.0.10, which is bound to 02:00:00:00:00:99: that client gets the address when it requests it and the other host does not answer',
    ],
  ])('%s', (bound, problem) => expect(problemsOf(hosts(bound))).toEqual([problem]));

  it('two for one client', () => {
    const stored = hosts('02:00:00:00:00:0a');
    stored.edit('agent-10-0-0-11', { metadata: { annotations: { 'bmc.spidernet.io/bound-to': '02:00:00:00:00:0a' } } });
    expect(problemsOf(stored, { leases: [] })).toEqual([
      'BoundElsewhere: 02:00:00:00:00:0a is bound to 10.0.0.10 by HostStatus agent-10-0-0-10: set the annotation of one of them to none',
    ]);
  });
});

it('law: no address and no client is bound twice, no address is both kept out and bound, and the order of objects does not matter', () => {
  const annotation = fc.option(fc.constantFrom('none', 'odd', '02:00:00:00:00:01', '02:00:00:00:00:02'), { nil: undefined });
  const host = fc.record({ last: fc.integer({ min: 10, max: 14 }), client: fc.integer({ min: 1, max: 3 }), annotation });
  const all = fc.uniqueArray(host, { selector: ({ last }) => last });
  const endpoints = fc.subarray([
    endpointObject('a', '10.0.0.10'),
    endpointObject('b', '10.0.0.13'),
    endpointObject('c', '10.0.0.99'),
  ]);
  fc.assert(
    fc.property(all, endpoints, fc.boolean(), fc.boolean(), (some, named, enableBindDhcpIP, enableBindStaticIP) => {
      const stored = new StoredHosts();
      stored.settle(factsOf({ leases: some.map(({ last, client }) => lease(last, client)) }));
      for (const one of some)
        if (one.annotation !== undefined)
          stored.edit(`agent-10-0-0-${one.last}`, { metadata: { annotations: { 'bmc.spidernet.io/bound-to': one.annotation } } });
      const facts = factsOf({
        ...switches({ enableBindDhcpIP, enableBindStaticIP }),
        endpoints: named,
        hostStatuses: stored.all,
      });
      const { bindings, keptOut } = boundAddresses(facts);
      const addresses = bindings.map(({ ipAddress }) => ipAddress);
      expect(new Set([...addresses, ...keptOut]).size).toBe(addresses.length + keptOut.length);
      expect(new Set(bindings.map(({ macAddress }) => macAddress)).size).toBe(bindings.length);
      if (!enableBindDhcpIP) expect(bindings.every(({ isByAnnotation }) => isByAnnotation)).toBe(true);
      const reversed = { ...facts, hostStatuses: stored.all.toReversed(), endpoints: named.toReversed() };
      expect(boundAddresses(reversed).bindings).toEqual(bindings);
    }),
  );
});

describe('leases that a person ends', () => {
  const annotated = (value: string) => {
    const stored = hosts();
    stored.edit('agent-10-0-0-11', { metadata: { annotations: { 'bmc.spidernet.io/release-lease': value } } });
    return stored;
  };

  it('were granted before the time of the annotation', () => {
    expect(boundAddresses(factsOf({ leases: LEASES, hostStatuses: annotated('2026-01-31T12:00:00Z').all })).releases).toEqual([
      { ipAddress: '10.0.0.11', hostStatus: 'agent-10-0-0-11', beforeMs: Date.UTC(2026, 0, 31, 12, 0, 0, 999) },
    ]);
    expect(boundAddresses(factsOf({ leases: LEASES, hostStatuses: hosts().all })).releases).toEqual([]);
  });

  it('an invalid time in an annotation ends no lease, and is reported', () => {
    const stored = annotated('now');
    expect(boundAddresses(factsOf({ leases: LEASES, hostStatuses: stored.all })).releases).toEqual([]);
    expect(problemsOf(stored)).toEqual([
      'BindingUnreadable: bmc.spidernet.io/release-lease is "now", which is not a time: run vmdhcp-agent release, or remove the annotation',
    ]);
  });
});
