import { describe, expect, it } from 'vitest';
import {
  actionsAfter as after,
  endpointObject,
  factsOf,
  lease,
  planOf as plan,
  StoredHosts,
  storedHosts as stored,
} from './inventory-fixtures.js';

describe('objects that differ from their sources', () => {
  const known = { leases: [lease(10)] };

  it('are completed if they are half-made, including those that have only a MAC address', () => {
    for (const status of [undefined, {}, { basic: { mac: '02:00:00:00:00:0a' } }, 'odd', { basic: 'odd', info: 3 }]) {
      const half = new StoredHosts([{ metadata: { name: 'agent-10-0-0-10' }, ...(status !== undefined && { status }) }]);
      expect(after(half, known)).toEqual(['patch agent-10-0-0-10', 'patch-status agent-10-0-0-10: HostStatusCorrected']);
      half.settle(factsOf(known));
      expect(half.get('agent-10-0-0-10')).toMatchObject({
        status: { clusterAgent: 'agent', healthy: false, healthReady: false, info: {}, basic: { ipAddr: '10.0.0.10' } },
      });
    }
  });

  it('are deleted if they are half-made and their clients are gone', () => {
    expect(after(new StoredHosts([{ metadata: { name: 'agent-10-0-0-10' } }]), {})).toEqual([
      'delete agent-10-0-0-10: LeaseEnded',
    ]);
  });

  it('are completed from `healthReady` if they follow the design', () => {
    const hosts = stored(known);
    hosts.edit('agent-10-0-0-10', { status: { healthReady: true, healthy: null } });
    hosts.settle(factsOf(known));
    expect(hosts.get('agent-10-0-0-10')?.status).toMatchObject({ healthy: true, healthReady: true });
  });

  it.each<[what: string, edit: Record<string, unknown>, actions: string[]]>([
    [
      'labels removed',
      { metadata: { labels: { 'bmc.spidernet.io/mode': null, 'bmc.spidernet.io/ipAddr': null } } },
      ['patch agent-10-0-0-10'],
    ],
    ['a forged address', { status: { basic: { ipAddr: '10.9.9.9' } } }, ['patch-status agent-10-0-0-10: HostStatusCorrected']],
    ['a forged ClusterAgent', { status: { clusterAgent: 'other' } }, ['patch-status agent-10-0-0-10: HostStatusCorrected']],
    ['a forged type', { status: { basic: { type: 'hostEndpoint' } } }, ['patch-status agent-10-0-0-10: HostStatusCorrected']],
    [
      'a forged MAC address',
      { status: { basic: { mac: '02:99:99:99:99:99' } } },
      ['patch-status agent-10-0-0-10: MacAddressChanged'],
    ],
    ['labels and annotations of other programs', { metadata: { labels: { team: 'a' }, annotations: { note: 'b' } } }, []],
    ['health, information and a log', { status: { healthy: true, info: { os: 'linux' }, log: { totalLogAccount: 1 } } }, []],
  ])('%s', (_, edit, actions) => {
    const hosts = stored(known);
    hosts.edit('agent-10-0-0-10', edit);
    expect(after(hosts, known)).toEqual(actions);
  });

  it('have an Event that names what was written', () => {
    const hosts = stored(known);
    hosts.edit('agent-10-0-0-10', { status: { basic: { ipAddr: '', port: 1 } } });
    const [action] = plan(hosts, known).actions;
    expect(action?.events[0]?.event.message).toBe('it differed from its sources: status.basic.ipAddr, status.basic.port written');
  });
});

describe('objects of others', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'd', controller: true };

  const ownedBy = { apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'HostEndpoint', name: 'agent-10-0-0-10', controller: true };

  it.each([
    ['of another ClusterAgent', { metadata: { name: 'other-10-0-0-10' }, status: { clusterAgent: 'other' } }],
    ['of a ClusterAgent whose name begins alike', { metadata: { name: 'agent-7-10-0-0-10' }, status: {} }],
    [
      'of another ClusterAgent, with a forged status',
      { metadata: { name: 'other-10-0-0-10' }, status: { clusterAgent: 'agent' } },
    ],
    ['of a name that is none of ours', { metadata: { name: 'odd' }, status: { clusterAgent: 'agent' } }],
    [
      'of our name, that a HostEndpoint of another ClusterAgent owned until it was deleted',
      {
        metadata: { name: 'agent-10-0-0-10', ownerReferences: [{ ...ownedBy, uid: 'gone' }] },
        status: { clusterAgent: 'other' },
      },
    ],
  ])('%s: left as they are', (_, object) => {
    expect(after(new StoredHosts([object]), {})).toEqual([]);
  });

  it('an object with the name of a host of ours is a problem, and stays', () => {
    const taken = new StoredHosts([{ metadata: { name: 'agent-10-0-0-10', ownerReferences: [owner] } }]);
    const { actions, problems } = plan(taken, { leases: [lease(10)] });
    expect(actions).toEqual([]);
    expect(problems).toEqual([
      {
        regarding: { kind: 'ClusterAgent', name: 'agent', uid: 'uid-agent' },
        event: {
          type: 'Warning',
          reason: 'HostStatusNameTaken',
          message: 'HostStatus agent-10-0-0-10 belongs to another owner: delete it, or rename what owns it',
        },
      },
    ]);
    const ofEndpoint = plan(taken, { endpoints: [endpointObject('e', '10.0.0.10')] });
    expect(ofEndpoint.problems.map(({ regarding }) => regarding.kind)).toEqual(['HostEndpoint']);
  });
});
