import { INTERFACES_ANNOTATION } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { readNetworkConfigClaims } from './interface-claims.js';
import { describeMissingVirtualMachine } from './missing-virtual-machine.js';

const [A, B, C] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b', '02:00:00:00:00:0c'] as const;

interface Parts {
  readonly spec?: readonly unknown[];
  readonly status?: readonly unknown[];
  readonly paused?: unknown;
  readonly metadata?: object;
  readonly remembered?: object;
}

function config({ spec = [], status = [], paused, metadata = {}, remembered }: Parts): KubernetesObject {
  return {
    metadata: {
      namespace: 'red',
      name: 'vm',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(remembered !== undefined && { annotations: { [INTERFACES_ANNOTATION]: JSON.stringify(remembered) } }),
      ...metadata,
    },
    spec: { networkConfigs: spec, ...(paused !== undefined && { paused }) },
    status: { networkConfigs: status },
  };
}

const entry = (macAddress: unknown, more: object = {}) => ({ networkName: 'red/net', macAddress, ...more });
const recorded = (macAddress: string, last: number, state = 'Allocated', networkName = 'net') => ({
  networkName,
  macAddress,
  allocatedIPAddress: `10.0.0.${last}`,
  state,
});
const ip = (last: number) => 0x0a000000 + last;

describe('what a VirtualMachineNetworkConfig asks for', () => {
  it("is one claim for each entry; a network without a namespace is in the config's own", () => {
    const read = readNetworkConfigClaims(
      config({
        spec: [entry(A.toUpperCase(), { networkName: 'net', ipAddress: '10.0.0.9' }), entry(B, { networkName: 'blue/net' })],
      }),
    );
    expect(read).toEqual({
      key: 'red/vm',
      createdAt: '2026-01-01T00:00:00Z',
      claims: [
        { network: 'red/net', macAddress: A, wanted: ip(9) },
        { network: 'blue/net', macAddress: B },
      ],
      unreadable: [],
    });
  });

  it('0.0.0.0 and an empty address mean any', () => {
    const { claims } = readNetworkConfigClaims(
      config({ spec: [entry(A, { ipAddress: '0.0.0.0' }), entry(B, { ipAddress: '' })] }),
    );
    expect(claims.map(({ wanted }) => wanted)).toEqual([undefined, undefined]);
  });

  it.each<readonly [string, object, object]>([
    ['without a network', { macAddress: A }, { reason: 'network-name-missing', network: '', macAddress: A }],
    ['without a MAC address', { networkName: 'net' }, { reason: 'mac-address-unreadable', network: 'red/net', macAddress: '' }],
    ['whose MAC address is none', entry('x'), { reason: 'mac-address-unreadable', network: 'red/net', macAddress: 'x' }],
    [
      'whose address is none',
      entry(A, { ipAddress: '10.0.0' }),
      { reason: 'address-unreadable', network: 'red/net', macAddress: A },
    ],
  ])('an entry %s does not affect the others', (_, broken, expected) => {
    const { claims, unreadable } = readNetworkConfigClaims(config({ spec: [broken, entry(B)] }));
    expect(claims.map(({ macAddress }) => macAddress)).toEqual([B]);
    expect(unreadable).toMatchObject([expected]);
  });

  it.each<readonly [string, Parts]>([
    ['while it is paused', { paused: true }],
    ['while it is being deleted', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  ])('is nothing %s', (_, parts) => {
    const read = readNetworkConfigClaims(config({ spec: [entry(A), entry('x')], ...parts }));
    expect([read.claims, read.unreadable, read.key]).toEqual([[], [], 'red/vm']);
  });

  it('paused must be exactly true', () => {
    expect(readNetworkConfigClaims(config({ spec: [entry(A)], paused: 'true' })).claims).toHaveLength(1);
  });

  it('has only its name as key if it has no namespace', () => {
    expect(readNetworkConfigClaims({ metadata: { name: 'vm' } })).toEqual({
      key: 'vm',
      createdAt: '',
      claims: [],
      unreadable: [],
    });
  });
});

describe('the address that an interface had last, by its own record', () => {
  const claimOf = (parts: Parts) => readNetworkConfigClaims(config({ spec: [entry(A)], ...parts })).claims[0];

  it.each<readonly [string, unknown, object]>([
    ['it has now', recorded(A, 9), { previous: ip(9), holdsPrevious: true }],
    ['it had', recorded(A, 9, 'Pending'), { previous: ip(9) }],
    ['of another MAC address', recorded(B, 9), {}],
    ['of another network', recorded(A, 9, 'Allocated', 'other'), {}],
    ['without a network', { macAddress: A, allocatedIPAddress: '10.0.0.9' }, {}],
    ['without an address', { networkName: 'net', macAddress: A, state: 'Allocated' }, {}],
    ['whose MAC address is none', { networkName: 'net', macAddress: 'x', allocatedIPAddress: '10.0.0.9' }, {}],
  ])('a record %s', (_, status, expected) => {
    expect(claimOf({ status: [status] })).toEqual({ network: 'red/net', macAddress: A, ...expected });
  });

  it('may be recorded under an earlier MAC address: the newest one counts, after the current one', () => {
    const remembered = { eth0: { networkName: 'red/net', macAddress: A, replaces: [C, B] } };
    expect(claimOf({ remembered, status: [recorded(C, 7), recorded(B, 8)] })).toMatchObject({
      previous: ip(8),
      replaces: [C, B],
    });
    expect(claimOf({ remembered, status: [recorded(C, 7)] })).toMatchObject({ previous: ip(7), replaces: [C, B] });
    expect(claimOf({ remembered, status: [recorded(C, 7), recorded(A, 9)] })).toMatchObject({
      previous: ip(9),
      replaces: [C, B],
    });
    expect(claimOf({ remembered })).toEqual({ network: 'red/net', macAddress: A });
    const other = { eth0: { networkName: 'red/other', macAddress: A, replaces: [B] } };
    expect(claimOf({ remembered: other, status: [recorded(B, 8)] }), 'on another network').toEqual({
      network: 'red/net',
      macAddress: A,
    });
  });
});

describe('a config whose virtual machine does not exist', () => {
  const [label, remembered] = [
    { labels: { 'harvesterhci.io/vmName': 'vm' } },
    { annotations: { [INTERFACES_ANNOTATION]: '{}' } },
  ];
  const owner = (kind: string) => ({ ownerReferences: [{ apiVersion: 'v1', kind, name: 'x', uid: 'x' }] });

  it.each<readonly [string, object, boolean]>([
    ['was made for one, by its label', label, true],
    ['was made for one, by its annotation', remembered, true],
    ['belongs to another object', { ...label, ...owner('Other') }, true],
    ['is about to be deleted by the garbage collector', { ...label, ...owner('VirtualMachine') }, false],
    ['is being deleted', { ...label, deletionTimestamp: '2026-01-01T00:00:00Z' }, false],
    ['was made by a person', {}, false],
    ['has the label of another machine', { labels: { 'harvesterhci.io/vmName': 'other' } }, false],
  ])('%s', (_, metadata, isMissing) => {
    expect(describeMissingVirtualMachine(config({ metadata }))?.reason).toBe(isMissing ? 'virtual-machine-missing' : undefined);
  });
});
