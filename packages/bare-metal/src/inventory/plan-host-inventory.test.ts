import { formatTime, readField } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { readClusterAgent } from '../host/cluster-agent-settings.js';
import {
  actionsAfter as after,
  agentObject,
  endpointObject,
  factsOf,
  lease,
  NOW_MS,
  planOf as plan,
  StoredHosts,
  shownActions as shown,
  storedHosts as stored,
} from './inventory-fixtures.js';
import type { InventoryFacts } from './inventory-plan.js';
import { planHostInventory } from './plan-host-inventory.js';

const switches = (dhcp: object) => ({ clusterAgent: readClusterAgent(agentObject(dhcp)) });

describe('a learned host', () => {
  it('gets an object with labels, then its status', () => {
    expect(planHostInventory(factsOf({ leases: [lease(10)] })).actions).toEqual([
      {
        kind: 'create',
        name: 'agent-10-0-0-10',
        object: {
          apiVersion: 'bmc.spidernet.io/v1beta1',
          kind: 'HostStatus',
          metadata: {
            name: 'agent-10-0-0-10',
            labels: {
              'bmc.spidernet.io/ipAddr': '10.0.0.10',
              'bmc.spidernet.io/mode': 'dhcp',
              'bmc.spidernet.io/dhcp-ip-active': 'true',
            },
          },
        },
        status: {
          healthy: false,
          healthReady: false,
          clusterAgent: 'agent',
          lastUpdateTime: '2026-01-01T00:00:00Z',
          basic: {
            type: 'dhcp',
            ipAddr: '10.0.0.10',
            https: true,
            port: 443,
            secretName: 'bmc',
            secretNamespace: 'default',
            mac: '02:00:00:00:00:0a',
            activeDhcpClient: true,
          },
          info: {},
        },
        events: [
          {
            regarding: { kind: 'HostStatus', name: 'agent-10-0-0-10', uid: undefined },
            event: { type: 'Normal', reason: 'HostDiscovered', message: '02:00:00:00:00:0a has a lease of 10.0.0.10' },
          },
        ],
      },
    ]);
  });

  const known = { leases: [lease(10)] };
  it.each<[what: string, facts: Partial<InventoryFacts>, actions: string[]]>([
    ['nothing changed', known, []],
    ['the same MAC address in another spelling', { leases: [{ ipAddress: '10.0.0.10', macAddress: '02-00-00-00-00-0A' }] }, []],
    ['another MAC address', { leases: [lease(10, 99)] }, ['patch-status agent-10-0-0-10: MacAddressChanged']],
    ['the lease ended', {}, ['patch agent-10-0-0-10', 'patch-status agent-10-0-0-10: LeaseEnded']],
    ['the lease ended, not bound', switches({ enableBindDhcpIP: false }), ['delete agent-10-0-0-10: LeaseEnded']],
    [
      'the lease ended, static addresses are not kept out',
      switches({ enableBindStaticIP: false }),
      ['patch agent-10-0-0-10', 'patch-status agent-10-0-0-10: LeaseEnded'],
    ],
    ['the lease ended, discovery is off', switches({ enableDhcpDiscovery: false }), []],
    [
      'the lease ended, no settings of DHCP at all',
      {
        clusterAgent: readClusterAgent({
          metadata: { name: 'agent' },
          spec: { endpoint: { secretName: 'bmc', secretNamespace: 'default' } },
        }),
      },
      ['patch agent-10-0-0-10', 'patch-status agent-10-0-0-10: LeaseEnded'],
    ],
    ['the leases are not known yet', { leases: undefined }, []],
    ['DHCP was switched off', { clusterAgent: { ...readClusterAgent(agentObject()), enableDhcpServer: false } }, []],
    ['another client too, discovery is off', { ...switches({ enableDhcpDiscovery: false }), leases: [lease(11)] }, []],
    ['another client too', { leases: [lease(10), lease(11)] }, ['create agent-10-0-0-11: HostDiscovered']],
    [
      'the port of the ClusterAgent changed',
      { ...known, clusterAgent: readClusterAgent(agentObject({}, { port: 8443 })) },
      ['patch-status agent-10-0-0-10: HostStatusCorrected'],
    ],
    [
      'a HostEndpoint names the address',
      { ...known, endpoints: [endpointObject('e', '10.0.0.10')] },
      ['patch agent-10-0-0-10', 'patch-status agent-10-0-0-10: HostEndpointAdopted'],
    ],
    ['it is another ClusterAgent', { clusterAgent: readClusterAgent(agentObject({}, {}, 'other')) }, []],
  ])('%s', (_, facts, actions) => expect(after(stored(known), facts)).toEqual(actions));

  it('has its flag and its label again when it returns', () => {
    const hosts = stored(known);
    hosts.settle(factsOf({}));
    expect(readField(hosts.get('agent-10-0-0-10'), 'status', 'basic', 'activeDhcpClient')).toBe(false);
    const { actions } = plan(hosts, known);
    expect(shown(actions)).toEqual(['patch agent-10-0-0-10', 'patch-status agent-10-0-0-10: LeaseReturned']);
    for (const action of actions) hosts.apply(action);
    expect(hosts.get('agent-10-0-0-10')).toMatchObject({
      metadata: { labels: { 'bmc.spidernet.io/dhcp-ip-active': 'true' } },
      status: { basic: { activeDhcpClient: true } },
    });
  });

  it.each([
    [
      'bound by hand stays, whatever the switch',
      '02:00:00:00:00:0a',
      false,
      ['patch agent-10-0-0-10', 'patch-status agent-10-0-0-10: LeaseEnded'],
    ],
    ['unbound by hand goes, whatever the switch', 'none', true, ['delete agent-10-0-0-10: LeaseEnded']],
    ['with an annotation that makes no sense follows the switch', 'perhaps', false, ['delete agent-10-0-0-10: LeaseEnded']],
  ])('%s', (_, bound, enableBindDhcpIP, actions) => {
    const hosts = stored(known);
    hosts.edit('agent-10-0-0-10', { metadata: { annotations: { 'bmc.spidernet.io/bound-to': bound } } });
    expect(after(hosts, switches({ enableBindDhcpIP }))).toEqual(actions);
  });

  it('is forgotten when its lease has ended and was never renewed, even if the switch binds addresses, unless a person bound it', () => {
    const facts = factsOf({ ...switches({ enableBindDhcpIP: true }), leases: [lease(10), lease(11)] });
    const hostStatuses = stored(facts).all.map((one) =>
      one.metadata.name === 'agent-10-0-0-11'
        ? { ...one, metadata: { ...one.metadata, annotations: { 'bmc.spidernet.io/bound-to': '02:00:00:00:00:0b' } } }
        : one,
    );
    const actionsOf = (mayBeMadeUp: InventoryFacts['mayBeMadeUp'] & {}) =>
      planHostInventory({ ...facts, hostStatuses, leases: [], mayBeMadeUp }).actions.map(({ kind, name }) => `${kind} ${name}`);
    expect(actionsOf(() => true)).toEqual(expect.arrayContaining(['delete agent-10-0-0-10']));
    expect(actionsOf(() => true)).not.toContain('delete agent-10-0-0-11');
    expect(actionsOf(() => false)).not.toContain('delete agent-10-0-0-10');
  });

  it('has an object before it has renewed its lease only while fewer than 500 such hosts have one', () => {
    const leases = Array.from({ length: 3_000 }, (_, each) => ({
      ipAddress: `10.0.${1 + Math.floor(each / 250)}.${each % 250}`,
      macAddress: `02:00:00:00:${(each >> 8).toString(16).padStart(2, '0')}:${(each & 255).toString(16).padStart(2, '0')}`,
      isNew: true,
    }));
    const facts = factsOf({ leases });
    expect(planHostInventory(facts).actions).toHaveLength(500);
    const hostStatuses = stored(facts).all;
    expect(hostStatuses).toHaveLength(500);
    expect(planHostInventory({ ...facts, hostStatuses }).actions).toEqual([]);
    const renewed = leases.map((one, each) => (each < 1_000 ? { ...one, isNew: false } : one));
    expect(planHostInventory({ ...facts, leases: renewed, hostStatuses }).actions).toHaveLength(1_000);
  });

  it('is deleted at the version that was seen: a person may bind it meanwhile', () => {
    const hosts = stored(known);
    const { actions } = plan(hosts, switches({ enableBindDhcpIP: false }));
    hosts.edit('agent-10-0-0-10', { metadata: { annotations: { 'bmc.spidernet.io/bound-to': '02:00:00:00:00:0a' } } });
    for (const action of actions) hosts.apply(action);
    expect(hosts.all).toHaveLength(1);
  });
});

describe('a host in a HostEndpoint', () => {
  const endpoints = [endpointObject('rack-1', '10.0.0.7', { port: 8443, https: false })];

  it('has an object that belongs to the HostEndpoint, with the Secret of the ClusterAgent', () => {
    const [object] = stored({ endpoints }).all;
    expect(object).toMatchObject({
      metadata: {
        name: 'agent-10-0-0-7',
        labels: { 'bmc.spidernet.io/ipAddr': '10.0.0.7', 'bmc.spidernet.io/mode': 'hostEndpoint' },
        ownerReferences: [
          { kind: 'HostEndpoint', name: 'rack-1', uid: 'uid-rack-1', controller: true, blockOwnerDeletion: true },
        ],
      },
      status: {
        clusterAgent: 'agent',
        basic: { type: 'hostEndpoint', mac: '', port: 8443, https: false, secretName: 'bmc', secretNamespace: 'default' },
      },
    });
    expect(readField(object, 'metadata', 'labels', 'bmc.spidernet.io/dhcp-ip-active')).toBeUndefined();
    expect(readField(object, 'status', 'basic', 'activeDhcpClient')).toBeUndefined();
  });

  it.each<[what: string, facts: Partial<InventoryFacts>, actions: string[]]>([
    ['nothing changed', { endpoints }, []],
    ['a client has a lease of the address', { endpoints, leases: [lease(7)] }, []],
    ['it is gone', {}, ['delete agent-10-0-0-7']],
    [
      'it is being deleted',
      {
        endpoints: [
          { ...endpointObject('rack-1', '10.0.0.7'), metadata: { name: 'rack-1', uid: 'uid-rack-1', deletionTimestamp: 'now' } },
        ],
      },
      ['delete agent-10-0-0-7'],
    ],
    [
      'it was created again',
      {
        endpoints: [
          { ...endpointObject('rack-1', '10.0.0.7', { port: 8443, https: false }), metadata: { name: 'rack-1', uid: 'uid-2' } },
        ],
      },
      ['patch agent-10-0-0-7'],
    ],
    [
      'it is gone, and a client has a lease of the address',
      { leases: [lease(7)] },
      ['patch agent-10-0-0-7', 'patch-status agent-10-0-0-7: HostDiscovered'],
    ],
    [
      'it has a Secret of its own',
      { endpoints: [endpointObject('rack-1', '10.0.0.7', { port: 8443, https: false, secretName: 'a', secretNamespace: 'b' })] },
      ['patch-status agent-10-0-0-7: HostStatusCorrected'],
    ],
  ])('%s', (_, facts, actions) => expect(after(stored({ endpoints }), facts)).toEqual(actions));

  it('keeps the learned MAC address when a HostEndpoint adopts the object', () => {
    const hosts = stored({ leases: [lease(7)] });
    hosts.settle(factsOf({ leases: [lease(7)], endpoints }));
    expect(hosts.all).toHaveLength(1);
    expect(hosts.all[0]).toMatchObject({
      metadata: { labels: { 'bmc.spidernet.io/mode': 'hostEndpoint' }, ownerReferences: [{ name: 'rack-1' }] },
      status: { basic: { type: 'hostEndpoint', mac: '02:00:00:00:00:07' } },
    });
  });

  it('keeps the object that the predecessor named like the HostEndpoint', () => {
    const [made] = stored({ endpoints }).all;
    const named = { ...made, metadata: { ...made?.metadata, name: 'rack-1' } };
    expect(after(new StoredHosts([named]), { endpoints })).toEqual([]);
    const both = new StoredHosts([named, ...stored({ endpoints }).all]);
    expect(after(both, { endpoints }), 'one of two is enough').toEqual(['delete rack-1']);
  });

  it.each<[what: string, endpoint: ReturnType<typeof endpointObject>, problem: string]>([
    [
      '999.999.999.999',
      endpointObject('x', '999.999.999.999'),
      'HostEndpointInvalid: spec.ipAddr: "999.999.999.999" is not an IPv4 address; write four numbers of 0 to 255, as in 192.168.0.10',
    ],
    [
      'everything at once',
      endpointObject('x', '', { port: 0, secretName: 'a' }),
      'HostEndpointInvalid: spec.ipAddr: is missing; write four numbers of 0 to 255, as in 192.168.0.10. spec.port: 0 is not a TCP port; write 1 to 65535. spec.secretNamespace: is missing, although secretName is set; write both, or none to use the Secret of the ClusterAgent',
    ],
    [
      'no ClusterAgent',
      endpointObject('x', '10.0.0.9', { clusterAgent: '' }),
      'ClusterAgentMissing: spec.clusterAgent is missing, and there are 2 ClusterAgents: create the ClusterAgent, or delete the HostEndpoint and create it again with spec.clusterAgent',
    ],
    [
      'an unknown ClusterAgent',
      endpointObject('x', '10.0.0.9', { clusterAgent: 'lost' }),
      'ClusterAgentMissing: the ClusterAgent "lost" does not exist: create the ClusterAgent, or delete the HostEndpoint and create it again with spec.clusterAgent',
    ],
    [
      'an address of an older one',
      endpointObject('x', '10.0.0.7'),
      'HostEndpointAddressTaken: the older HostEndpoint rack-1 has the address 10.0.0.7 too: delete one of the two',
    ],
  ])('has a problem with %s, and the others have their objects', (_, endpoint, problem) => {
    const { actions, problems } = planHostInventory(factsOf({ endpoints: [endpoint, ...endpoints] }));
    expect(shown(actions)).toEqual(['create agent-10-0-0-7: HostEndpointAdded']);
    expect(problems.map(({ regarding, event }) => [regarding.name, `${event.reason}: ${event.message}`])).toEqual([
      ['x', problem],
    ]);
  });

  it('with the IPv6 address of an older one has a problem, however that is written', () => {
    const twice = [endpointObject('rack-1', '2001:db8::7'), endpointObject('rack-1-again', '2001:DB8:0:0:0:0:0:7')];
    const { actions, problems } = planHostInventory(factsOf({ endpoints: twice }));
    expect(problems.map(({ regarding, event }) => [regarding.name, event.reason])).toEqual([
      ['rack-1-again', 'HostEndpointAddressTaken'],
    ]);
    expect(shown(actions)).toEqual(['create agent-2001-db8--7: HostEndpointAdded']);
  });

  it('belongs to the only ClusterAgent if it names none', () => {
    const lonely = [endpointObject('x', '10.0.0.9', { clusterAgent: undefined })];
    const { actions } = planHostInventory(factsOf({ endpoints: lonely, clusterAgents: ['agent'] }));
    expect(shown(actions)).toEqual(['create agent-10-0-0-9: HostEndpointAdded']);
  });

  it('has no label for an IPv6 address, which Kubernetes would refuse', () => {
    const [object] = stored({ endpoints: [endpointObject('x', '2001:DB8::1')] }).all;
    expect(object?.metadata).toMatchObject({ name: 'agent-2001-db8--1', labels: { 'bmc.spidernet.io/mode': 'hostEndpoint' } });
    expect(Object.keys(object?.metadata.labels ?? {})).not.toContain('bmc.spidernet.io/ipAddr');
  });

  it('has a problem if its address gives no valid name', () => {
    const { actions, problems } = planHostInventory(factsOf({ endpoints: [endpointObject('x', 'fe80::')] }));
    expect([actions, problems.map(({ event }) => event.reason)]).toEqual([[], ['HostEndpointInvalid']]);
  });
});

it('the plan waits for objects that are being deleted', () => {
  const hosts = stored({ leases: [lease(10)] });
  hosts.edit('agent-10-0-0-10', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
  expect(after(hosts, { leases: [lease(10, 11)] })).toEqual([]);
  expect(after(hosts, {})).toEqual([]);
});

it('unreadable leases are reported', () => {
  const odd = [
    { ipAddress: '10.0.0.300', macAddress: '02:00:00:00:00:01' },
    { ipAddress: '10.0.0.3', macAddress: 'x' },
  ];
  expect(planHostInventory(factsOf({ leases: odd }))).toEqual({ actions: [], problems: [], ignoredLeases: odd });
});

it('the status has the time when another MAC address replaced the stored one; a first one replaces none', () => {
  const hosts = stored({ leases: [lease(10)] });
  const basicOf = () => readField(hosts.all[0]?.status, 'basic');
  expect(basicOf()).not.toHaveProperty('macSince');
  hosts.settle(factsOf({ leases: [lease(10, 99)], nowMs: NOW_MS + 60_000 }));
  expect(basicOf()).toMatchObject({ mac: '02:00:00:00:00:63', macSince: formatTime(NOW_MS + 60_000) });
  expect(after(hosts, { leases: [lease(10, 99)], nowMs: NOW_MS + 120_000 })).toEqual([]);
});

it('1,000 hosts: one write for one change, none without a change', () => {
  const leases = Array.from({ length: 1_000 }, (_, index) => ({
    ipAddress: `10.1.${index >> 8}.${index & 255}`,
    macAddress: `02:00:00:00:${(index >> 8).toString(16)}:${(index & 255).toString(16)}`,
  }));
  const hosts = stored({ leases });
  expect(hosts.all).toHaveLength(1_000);
  expect(plan(hosts, { leases, nowMs: NOW_MS + 60_000 }).actions).toEqual([]);
  const changed = leases.with(500, { ...leases[500], ipAddress: leases[500]?.ipAddress ?? '', macAddress: '02:00:00:00:ff:ff' });
  expect(after(hosts, { leases: changed })).toEqual(['patch-status agent-10-1-1-244: MacAddressChanged']);
});
