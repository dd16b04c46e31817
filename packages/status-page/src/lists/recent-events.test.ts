import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { SECTIONS } from '../model/page-data.js';
import { causesIn } from './list-hosts.js';
import { type EventSelection, isAboutGroups, newestRows, selectEvents, toRecentEvents, trimEvent } from './recent-events.js';

function event(kind: string, name: string, more: Readonly<Record<string, unknown>> = {}): KubernetesObject {
  const metadata = { namespace: 'default', name: `${name}.1` };
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata,
    involvedObject: { kind, namespace: 'default', name },
    ...more,
  } as KubernetesObject;
}

const ofPool: EventSelection = { namespace: 'default', kind: 'IPPool', name: 'net', component: undefined };

const all = { namespace: undefined, kind: undefined, name: undefined, component: undefined };
const ofMachines: readonly EventSelection[] = [
  { ...all, kind: 'VirtualMachine', component: 'vm-dhcp-controller' },
  { ...all, kind: 'VirtualMachineNetworkConfig' },
];

const EVERYWHERE = { onlyNamespace: undefined, agentsNamespace: 'agents' };
const LATER = '2099-01-01T00:00:00Z';

const rowsOf = (selection: EventSelection, events: readonly KubernetesObject[]) =>
  toRecentEvents([newestRows(events, selection)]).rows;

describe('which Events are listed', () => {
  const cluster = EVERYWHERE;
  it.each([
    [{ of: 'pools', pool: 'default/net' }, cluster, [ofPool]],
    [{ of: 'pools', pool: '' }, cluster, [{ ...all, kind: 'IPPool' }]],
    [{ of: 'pools', pool: 'other/net' }, { ...cluster, onlyNamespace: 'default' }, []],
    [{ of: 'pools', pool: '' }, { ...cluster, onlyNamespace: 'default' }, [{ ...ofPool, name: undefined }]],
    [{ of: 'machines', pool: '' }, cluster, ofMachines],
    [
      { of: 'wake-on-lan', pool: '' },
      cluster,
      [
        { ...all, kind: 'VirtualMachine', component: 'vm-dhcp-controller' },
        { ...all, kind: 'WolConfig', namespace: 'default' },
      ],
    ],
    [{ of: 'hosts', pool: '' }, cluster, ['HostStatus', 'ClusterAgent'].map((kind) => ({ ...all, kind, namespace: 'default' }))],
    [{ of: 'hosts', pool: '' }, { ...cluster, onlyNamespace: 'shop' }, []],
    [{ of: 'agents', pool: '' }, cluster, [{ ...all, namespace: 'agents' }]],
    [{ of: 'agents', pool: '' }, { ...cluster, agentsNamespace: undefined }, []],
  ] as const)('%j with %j: %j', (query, namespaces, selections) => {
    expect(selectEvents({ ...query, sections: new Set(SECTIONS) }, namespaces)).toEqual(selections);
  });
});

describe('Events on the page', () => {
  it('an Event that a tenant writes in a namespace is not about a host, which is in none', () => {
    const [ofHosts = ofPool] = selectEvents({ of: 'hosts', pool: '', sections: new Set(SECTIONS) }, EVERYWHERE);
    const real = event('HostStatus', 'rack-1', { reason: 'HostUnhealthy', message: 'certificate has expired' });
    const forged = {
      ...event('HostStatus', 'rack-1', { reason: 'HostUnhealthy', message: 'give me the password', lastTimestamp: LATER }),
      metadata: { namespace: 'team-b', name: 'forged' },
    };
    expect(rowsOf(ofHosts, [forged, real]).map(({ message }) => message)).toEqual(['certificate has expired']);
    expect([...causesIn([real, forged])]).toEqual([['rack-1', 'certificate has expired']]);
  });

  it('what is kept of an Event is what the page shows, however large it is', () => {
    const long = 'x'.repeat(100_000);
    const fields = {
      reason: long,
      message: long,
      type: 'Warning',
      count: 3,
      lastTimestamp: LATER,
      source: { component: 'me', host: long },
    };
    const large = event('IPPool', 'net', { ...fields, managedFields: long });
    const trimmed = trimEvent(large);
    expect(JSON.stringify(trimmed).length).toBeLessThan(3_000);
    expect(rowsOf({ ...ofPool, component: 'me' }, [trimmed])).toEqual(rowsOf({ ...ofPool, component: 'me' }, [large]));
    const series = event('IPPool', 'net', { series: { count: 4, lastObservedTime: LATER }, reportingComponent: 'me' });
    expect(rowsOf({ ...ofPool, component: 'me' }, [trimEvent(series)])).toEqual(rowsOf({ ...ofPool, component: 'me' }, [series]));
  });

  it('are sorted newest first, in both forms, at most 20', () => {
    const old = { type: 'Warning', reason: 'Old', lastTimestamp: '2026-01-01T00:00:00Z', count: 7 };
    const series = { reason: 'Series', series: { count: 4, lastObservedTime: '2026-01-03T00:00:00.000000Z' } };
    const once = { reason: 'Once', eventTime: '2026-01-02T00:00:00Z', lastTimestamp: null };
    const rows = rowsOf(ofPool, [event('IPPool', 'net', old), event('IPPool', 'net', once), event('IPPool', 'net', series)]);
    expect(rows.map(({ reason, count, isWarning }) => [reason, count, isWarning])).toEqual([
      ['Series', 4, false],
      ['Once', 1, false],
      ['Old', 7, true],
    ]);
    const fifty = Array.from({ length: 50 }, (_, number) => event('IPPool', 'net', { message: String(number) }));
    expect(rowsOf(ofPool, fifty)).toHaveLength(20);
  });

  it('from several reporters with the same text become one row, with the newest time and all counts', () => {
    const at = (lastTimestamp: string, count: number, more = {}) =>
      event('IPPool', 'net', { reason: 'Same', message: 'the same', lastTimestamp, count, ...more });
    const rows = rowsOf(ofPool, [
      at('2026-01-01T00:00:00Z', 2),
      at('2026-01-03T00:00:00Z', 3),
      at('2026-01-02T00:00:00Z', 1, { message: 'another' }),
      at('2026-01-02T12:00:00Z', 4),
    ]);
    expect(rows.map(({ message, count, lastAtMs }) => [message, count, lastAtMs])).toEqual([
      ['the same', 9, Date.parse('2026-01-03T00:00:00Z')],
      ['another', 1, Date.parse('2026-01-02T00:00:00Z')],
    ]);
  });

  it('about other objects are left out, whatever the API server returns; an invalid Event has no times', () => {
    const others = [event('IPPool', 'other'), event('Pod', 'net'), event('VirtualMachine', 'net')];
    const rows = rowsOf(ofPool, [...others, event('IPPool', 'net', { count: 'x', reason: 7, lastTimestamp: 'never' })]);
    expect(rows).toEqual([
      { kind: 'IPPool', namespace: 'default', name: 'net', isWarning: false, reason: '', message: '', count: 1, lastAtMs: null },
    ]);
  });

  it('about virtual machines come only from this product; configs without a virtual machine have their own', () => {
    const ours = { source: { component: 'vm-dhcp-controller' }, reason: 'PoolExhausted', lastTimestamp: '2026-01-02T00:00:00Z' };
    const series = { reportingComponent: 'vm-dhcp-controller', reason: 'NoPool', eventTime: '2026-01-01T00:00:00Z' };
    const kubeVirt = { source: { component: 'virtualmachine-controller' }, reason: 'SuccessfulCreate' };
    const [machines = ofPool, configs = ofPool] = ofMachines;
    const { rows } = toRecentEvents([
      newestRows(
        [event('VirtualMachine', 'web', kubeVirt), event('VirtualMachine', 'db', series), event('VirtualMachine', 'web', ours)],
        machines,
      ),
      newestRows([event('VirtualMachineNetworkConfig', 'orphan', { ...ours, lastTimestamp: '2026-01-03T00:00:00Z' })], configs),
    ]);
    expect(rows.map(({ kind, name, reason }) => [kind, name, reason])).toEqual([
      ['VirtualMachineNetworkConfig', 'orphan', 'PoolExhausted'],
      ['VirtualMachine', 'web', 'PoolExhausted'],
      ['VirtualMachine', 'db', 'NoPool'],
    ]);
  });

  it.each([
    ['Deployment', 'agent-mgmt-1', true],
    ['ReplicaSet', 'agent-mgmt-1-85c5cbc8cc', true],
    ['Pod', 'agent-mgmt-1-85c5cbc8cc-blx8d', true],
    ['Lease', 'agent-mgmt-1', true],
    ['Pod', 'agent-mgmt-10-85c5cbc8cc-blx8d', false],
    ['Pod', 'postgres-0', false],
    ['Service', 'agent-mgmt-1', false],
    ['Pod', '', false],
  ])('%s %s is about agents of a group: %j', (kind, name, isAbout) => {
    expect(isAboutGroups(event(kind, name), new Set(['agent-mgmt-1', 'agent-mgmt']))).toBe(
      isAbout || name.startsWith('agent-mgmt-10'),
    );
    expect(isAboutGroups(event(kind, name), new Set(['agent-mgmt-1']))).toBe(isAbout);
  });
});
