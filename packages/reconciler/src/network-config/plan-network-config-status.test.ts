import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { type KubernetesObject, readField, readList } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { readNetworkConfigClaims } from './interface-claims.js';
import { type InterfaceOutcome, type NetworkConfigFacts, planNetworkConfigStatus } from './plan-network-config-status.js';

const A = '02:00:00:00:00:0a';
const ENTRY = { networkName: 'default/net-1', macAddress: A };
const ADDRESS = parseIpv4Address('10.0.0.10') as number;
const ALLOCATED: InterfaceOutcome = { kind: 'allocated', address: ADDRESS };

function config(networkConfigs: readonly unknown[], spec: object = {}): KubernetesObject {
  return { metadata: { namespace: 'default', name: 'vm-a' }, spec: { networkConfigs, ...spec } };
}

function plan(object: KubernetesObject, facts: Partial<NetworkConfigFacts> = {}) {
  const claims = readNetworkConfigClaims(object);
  const { patch, problem } = planNetworkConfigStatus(object, {
    claims,
    outcomeOf: () => ALLOCATED,
    stale: [],
    now: '2026-01-01T00:00:00Z',
    ...facts,
  });
  const conditions = readList(readField(patch, 'status'), 'conditions') as { type: string; status: string; reason?: string }[];
  return { problem, shown: conditions.map(({ type, status, reason = '' }) => `${type}=${status} ${reason}`.trim()) };
}

describe('planNetworkConfigStatus', () => {
  it.each<[what: string, object: KubernetesObject, facts: Partial<NetworkConfigFacts>, shown: string]>([
    ['an interface with its address', config([ENTRY]), {}, 'Allocated=True'],
    ['no interface', config([]), {}, 'Allocated=False NoInterfaces'],
    ['no network name', config([{ macAddress: A }]), {}, 'Allocated=False NetworkNameMissing'],
    ['no MAC address', config([{ ...ENTRY, macAddress: 'x' }]), {}, 'Allocated=False MacAddressUnreadable'],
    ['an IP address that is none', config([{ ...ENTRY, ipAddress: '10.0.0.300' }]), {}, 'Allocated=False AddressUnreadable'],
    [
      'an address that is reserved for an interface whose config is being created',
      config([ENTRY]),
      { outcomeOf: () => ({ kind: 'refused', refusal: { reason: 'claim-missing', message: 'wait' } }) },
      'Allocated=False ClaimMissing',
    ],
    [
      'a network without a pool',
      config([ENTRY]),
      { outcomeOf: ({ network }) => ({ kind: 'unserved', network }) },
      'Allocated=False NoPool',
    ],
    [
      'a network that another server serves',
      config([ENTRY]),
      { outcomeOf: ({ network }) => ({ kind: 'external', network }) },
      'Allocated=True ExternalDHCP',
    ],
    [
      'a virtual machine that does not exist',
      config([ENTRY]),
      { missing: { reason: 'virtual-machine-missing', message: 'delete it' } },
      'Allocated=True VirtualMachineMissing',
    ],
  ])('%s', (_what, object, facts, shown) => {
    expect(plan(object, facts).shown).toEqual(['Disabled=False', shown, 'InSynced=True']);
  });

  it('the cause comes before what follows from it', () => {
    const object = config([ENTRY, { ...ENTRY, macAddress: '02:00:00:00:00:0b' }]);
    const reasons = ['other-interface-refused', 'pool-exhausted'] as const;
    const { problem } = plan(object, {
      outcomeOf: ({ macAddress }) => ({ kind: 'refused', refusal: { reason: reasons[macAddress === A ? 0 : 1], message: '' } }),
    });
    expect(problem?.reason).toBe('pool-exhausted');
  });

  it('addresses that are being freed are named', () => {
    const stale = [{ network: 'default/net-1', macAddress: A, address: ADDRESS }];
    expect(plan(config([ENTRY]), { stale }).shown).toEqual([
      'Disabled=False',
      'Allocated=True',
      'InSynced=False NetworkConfigChanged',
    ]);
  });

  it('reports no addresses while it is paused', () => {
    expect(plan(config([ENTRY], { paused: true })).shown).toEqual(['Disabled=True', 'InSynced=True']);
  });

  it('waits if there will soon be more to report', () => {
    expect(plan(config([ENTRY]), { outcomeOf: () => ({ kind: 'waiting' }) }).shown).toEqual([]);
  });
});
