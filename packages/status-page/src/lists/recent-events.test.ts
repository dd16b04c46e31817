import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { selectEvents, toRecentEvents } from './recent-events.js';

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

const ofPool = { namespace: 'default', kind: 'IPPool', name: 'net' };

describe('which Events are listed', () => {
  const cluster = { onlyNamespace: undefined, agentsNamespace: 'agents' };
  it.each([
    [{ of: 'pools', pool: 'default/net' }, cluster, ofPool],
    [{ of: 'pools', pool: '' }, cluster, { namespace: undefined, kind: 'IPPool', name: undefined }],
    [{ of: 'pools', pool: 'other/net' }, { ...cluster, onlyNamespace: 'default' }, undefined],
    [
      { of: 'pools', pool: '' },
      { ...cluster, onlyNamespace: 'default' },
      { ...ofPool, name: undefined },
    ],
    [{ of: 'machines', pool: '' }, cluster, { namespace: undefined, kind: 'VirtualMachineNetworkConfig', name: undefined }],
    [{ of: 'agents', pool: '' }, cluster, { namespace: 'agents', kind: undefined, name: undefined }],
    [{ of: 'agents', pool: '' }, { ...cluster, agentsNamespace: undefined }, undefined],
  ] as const)('%j with %j: %j', (query, namespaces, selection) => {
    expect(selectEvents(query, namespaces)).toEqual(selection);
  });
});

describe('Events on the page', () => {
  it('are the newest first, of both forms, and no more than 20', () => {
    const old = { type: 'Warning', reason: 'Old', lastTimestamp: '2026-01-01T00:00:00Z', count: 7 };
    const series = { reason: 'Series', series: { count: 4, lastObservedTime: '2026-01-03T00:00:00.000000Z' } };
    const once = { reason: 'Once', eventTime: '2026-01-02T00:00:00Z', lastTimestamp: null };
    const { rows } = toRecentEvents('pools', ofPool, [
      event('IPPool', 'net', old),
      event('IPPool', 'net', once),
      event('IPPool', 'net', series),
    ]);
    expect(rows.map(({ reason, count, isWarning }) => [reason, count, isWarning])).toEqual([
      ['Series', 4, false],
      ['Once', 1, false],
      ['Old', 7, true],
    ]);
    expect(
      toRecentEvents(
        'pools',
        ofPool,
        Array.from({ length: 50 }, (_, number) => event('IPPool', 'net', { message: String(number) })),
      ).rows,
    ).toHaveLength(20);
  });

  it('of several reporters with the same words are one row, with the newest time and all counts', () => {
    const at = (lastTimestamp: string, count: number, more = {}) =>
      event('IPPool', 'net', { reason: 'Same', message: 'the same', lastTimestamp, count, ...more });
    const { rows } = toRecentEvents('pools', ofPool, [
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

  it('about other objects are left out, whatever the API server gives; an Event that makes no sense stays without its times', () => {
    const others = [event('IPPool', 'other'), event('Pod', 'net'), event('VirtualMachine', 'net')];
    const { rows } = toRecentEvents('pools', ofPool, [
      ...others,
      event('IPPool', 'net', { count: 'x', reason: 7, lastTimestamp: 'never' }),
    ]);
    expect(rows).toEqual([
      { kind: 'IPPool', namespace: 'default', name: 'net', isWarning: false, reason: '', message: '', count: 1, lastAtMs: null },
    ]);
    const agents = { namespace: 'agents', kind: undefined, name: undefined };
    expect(toRecentEvents('agents', agents, others).rows.map(({ kind }) => kind)).toEqual(['Pod']);
  });
});
