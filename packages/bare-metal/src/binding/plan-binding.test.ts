import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { type HostSubject, parseHostSubject } from './host-subject.js';
import { type BindingRequest, hasLeaseEnded, planBinding, planRelease } from './plan-binding.js';

const mac = (number: number) => `02:00:00:00:00:0${number}`;

interface Host {
  readonly agent?: string;
  readonly last: number;
  readonly client?: number;
  readonly active?: boolean;
  readonly boundTo?: string;
  readonly type?: string;
}

function host({ agent = 'rack', last, client, active = false, boundTo, type = 'dhcp' }: Host): KubernetesObject {
  return {
    apiVersion: 'bmc.spidernet.io/v1beta1',
    kind: 'HostStatus',
    metadata: {
      name: `${agent}-10-0-0-${last}`,
      ...(boundTo !== undefined && { annotations: { 'bmc.spidernet.io/bound-to': boundTo } }),
    },
    status: { basic: { type, ...(client !== undefined && { mac: mac(client) }), activeDhcpClient: active } },
  };
}

function plan(subject: string, hosts: readonly Host[], fields: Partial<BindingRequest> = {}) {
  const parsed = parseHostSubject(subject);
  if (parsed === undefined) throw new Error(subject);
  const planned = planBinding(
    { change: 'bind', subject: parsed, clusterAgent: undefined, client: undefined, ...fields },
    hosts.map(host),
  );
  return planned.ok
    ? `${planned.hostStatus} ${planned.boundTo}${planned.patch === undefined ? ' already' : ''}`
    : planned.message;
}

describe('binding a host', () => {
  it.each<[what: string, subject: string, hosts: readonly Host[], fields: Partial<BindingRequest>, expected: string]>([
    ['an address to its client', '10.0.0.5', [{ last: 5, client: 1 }], {}, `rack-10-0-0-5 ${mac(1)}`],
    ['a client to its address', mac(1), [{ last: 5, client: 1 }], {}, `rack-10-0-0-5 ${mac(1)}`],
    [
      'a client to the address that it has now',
      mac(1),
      [
        { last: 5, client: 1 },
        { last: 6, client: 1, active: true },
      ],
      {},
      `rack-10-0-0-6 ${mac(1)}`,
    ],
    ['an address to another client', '10.0.0.5', [{ last: 5, client: 1 }], { client: mac(2) }, `rack-10-0-0-5 ${mac(2)}`],
    ['what is so already', '10.0.0.5', [{ last: 5, client: 1, boundTo: mac(1) }], {}, `rack-10-0-0-5 ${mac(1)} already`],
    ['to none', '10.0.0.5', [{ last: 5, client: 1 }], { change: 'unbind' }, 'rack-10-0-0-5 none'],
    [
      'to none: the address that is bound to the client',
      mac(1),
      [
        { last: 5, boundTo: mac(1) },
        { last: 6, client: 1 },
      ],
      { change: 'unbind' },
      'rack-10-0-0-5 none',
    ],
    ['as the switch has it', '10.0.0.5', [{ last: 5, boundTo: 'none' }], { change: 'by-switch' }, 'rack-10-0-0-5 undefined'],
    [
      'of one ClusterAgent',
      '10.0.0.5',
      [
        { last: 5, client: 1 },
        { agent: 'b', last: 5, client: 2 },
      ],
      { clusterAgent: 'b' },
      `b-10-0-0-5 ${mac(2)}`,
    ],
  ])('%s', (_, subject, hosts, fields, expected) => expect(plan(subject, hosts, fields)).toBe(expected));

  it.each<[what: string, subject: string, hosts: readonly Host[], fields: Partial<BindingRequest>, expected: string]>([
    ['an address that no host has', '10.0.0.5', [], {}, 'no HostStatus has the address 10.0.0.5'],
    ['a client without a host', mac(1), [], { clusterAgent: 'rack' }, 'no HostStatus of ClusterAgent rack has a client'],
    [
      'an address of two networks',
      '10.0.0.5',
      [
        { last: 5, client: 1 },
        { agent: 'b', last: 5, client: 2 },
      ],
      {},
      'several hosts match: rack-10-0-0-5 (10.0.0.5), b-10-0-0-5 (10.0.0.5)',
    ],
    [
      'a client with two addresses',
      mac(1),
      [
        { last: 5, client: 1 },
        { last: 6, client: 1 },
      ],
      {},
      'several hosts match',
    ],
    ['a host without a MAC address', '10.0.0.5', [{ last: 5 }], {}, 'give the one of its client with --to MAC'],
    [
      'a second address of a client',
      '10.0.0.5',
      [
        { last: 5, client: 1 },
        { last: 6, boundTo: mac(1) },
      ],
      {},
      `${mac(1)} is bound to 10.0.0.6 by HostStatus rack-10-0-0-6`,
    ],
    ['a HostEndpoint', '10.0.0.5', [{ last: 5, type: 'hostEndpoint' }], {}, 'is the address of a HostEndpoint'],
  ])('is refused for %s', (_, subject, hosts, fields, expected) => expect(plan(subject, hosts, fields)).toContain(expected));

  it('law: after a plan is applied, the next one is empty', () => {
    const before = host({ last: 5, client: 1 });
    for (const change of ['bind', 'unbind'] as const) {
      const request: BindingRequest = {
        change,
        subject: { kind: 'client', macAddress: mac(1) },
        clusterAgent: undefined,
        client: undefined,
      };
      const first = planBinding(request, [before]);
      if (!first.ok || first.patch === undefined) throw new Error('no change');
      const after = { ...before, metadata: { ...before.metadata, ...(first.patch['metadata'] as object) } } as KubernetesObject;
      expect(planBinding(request, [after])).toMatchObject({ ok: true, patch: undefined });
    }
  });

  it.each(['10.0.0', '10.0.0.256', 'rack-10-0-0-5', ''])('%j is neither an address nor a MAC address', (text) =>
    expect(parseHostSubject(text)).toBeUndefined(),
  );
});

describe('ending the lease of a host that is gone', () => {
  const NOW = '2026-01-31T12:00:00Z';
  const release = (subject: string, hosts: readonly Host[]) =>
    planRelease({ subject: parseHostSubject(subject) as HostSubject, clusterAgent: undefined }, hosts.map(host), NOW);

  it('sets an annotation with the time, found by address or MAC address', () => {
    const hosts = [
      { last: 10, client: 1, active: true },
      { last: 11, client: 2, active: true },
    ];
    for (const subject of ['10.0.0.11', mac(2)])
      expect(release(subject, hosts)).toEqual({
        ...{ ok: true, hostStatus: 'rack-10-0-0-11', clusterAgent: 'rack', address: '10.0.0.11', client: mac(2), isLeased: true },
        patch: { metadata: { annotations: { 'bmc.spidernet.io/release-lease': NOW } } },
      });
  });

  it('is refused if its address is bound to the selected client, which has no lease', () => {
    const replaced = { last: 10, client: 1, active: true, boundTo: mac(9) };
    const message = `no HostStatus has a client with the MAC address ${mac(9)}`;
    expect(release(mac(9), [replaced])).toMatchObject({ ok: false, message: expect.stringContaining(message) });
    expect(release(mac(9), [replaced, { last: 11, client: 9, active: true }])).toMatchObject({ address: '10.0.0.11' });
    expect(release(mac(1), [replaced])).toMatchObject({ ok: true, address: '10.0.0.10', client: mac(1) });
  });

  it('chooses the current one of two addresses of the client', () => {
    const hosts = [
      { last: 10, client: 1 },
      { last: 11, client: 1, active: true },
    ];
    expect(release(mac(1), hosts)).toMatchObject({ ok: true, address: '10.0.0.11' });
  });

  it.each<[what: string, observed: Host | undefined, client: string | undefined, expected: boolean]>([
    ['no client has a lease', { last: 10, client: 1 }, mac(1), true],
    ['its HostStatus is deleted', undefined, mac(1), true],
    ['the next client has the address already', { last: 10, client: 2, active: true }, mac(1), true],
    ['the client has it still', { last: 10, client: 1, active: true }, mac(1), false],
    ['the MAC address was not known', { last: 10, client: 2, active: true }, undefined, false],
    ['the MAC address is not known now', { last: 10, active: true }, mac(1), false],
  ])('%s: whether it has ended', (_, observed, client, expected) =>
    expect(hasLeaseEnded(observed && host(observed), client as never)).toBe(expected),
  );

  it('if it has already ended, only a quarantine may end; or there is no such host', () => {
    expect(release('10.0.0.10', [{ last: 10, client: 1 }])).toMatchObject({ ok: true, isLeased: false });
    expect(release('10.0.0.12', [])).toMatchObject({ ok: false, message: expect.stringContaining('no HostStatus') });
    expect(release('10.0.0.10', [{ last: 10, type: 'hostEndpoint' }])).toMatchObject({ ok: false });
  });
});
