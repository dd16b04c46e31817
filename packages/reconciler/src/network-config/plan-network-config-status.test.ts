import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { type KubernetesObject, readField, readList } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { type InterfaceClaim, readNetworkConfigClaims } from './interface-claims.js';
import { type InterfaceOutcome, type NetworkConfigFacts, planNetworkConfigStatus } from './plan-network-config-status.js';
import type { RefusalReason } from './refusal-reason.js';

const [A, B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'] as const;
const ENTRY = { networkName: 'default/net-1', macAddress: A };
const OTHER_ENTRY = { networkName: 'default/net-2', macAddress: B };
const ADDRESS = parseIpv4Address('10.0.0.10') as number;
const ALLOCATED: InterfaceOutcome = { kind: 'allocated', address: ADDRESS };
const WANTS_ANOTHER: InterfaceOutcome = { ...ALLOCATED, refusal: { reason: 'address-taken', message: 'another has it' } };
const WAITING: InterfaceOutcome = { kind: 'waiting' };
const UNSERVED: InterfaceOutcome = { kind: 'unserved', network: '' };
const EXTERNAL: InterfaceOutcome = { kind: 'external', network: '' };
const STALE = { network: 'default/net-1', macAddress: A, address: ADDRESS + 1 } as const;
const refused = (reason: RefusalReason): InterfaceOutcome => ({ kind: 'refused', refusal: { reason, message: `${reason}!` } });
/** What comes of the first interface, and of the second. */
const outcomes = (first: InterfaceOutcome, second: InterfaceOutcome) => ({
  outcomeOf: ({ macAddress }: InterfaceClaim) => (macAddress === A ? first : second),
});

function config(networkConfigs: readonly unknown[], spec: object = {}): KubernetesObject {
  return { metadata: { namespace: 'default', name: 'vm-a' }, spec: { networkConfigs, ...spec } };
}

const TWO = config([ENTRY, OTHER_ENTRY]);

interface ShownCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
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
  const conditions = readList(patch, 'status', 'conditions') as ShownCondition[];
  return {
    patch,
    problem,
    shown: conditions.map(({ type, status, reason = '' }) => `${type}=${status} ${reason}`.trim()),
    messages: conditions.flatMap(({ type, message }) => (message === undefined ? [] : [`${type}: ${message}`])),
    entries: readField(patch, 'status', 'networkConfigs'),
  };
}

/** The object after the plan was carried out. */
function carriedOut(object: KubernetesObject, facts: Partial<NetworkConfigFacts> = {}): KubernetesObject {
  const patched = readField(plan(object, facts).patch, 'status') as object | undefined;
  return { ...object, status: { ...(object.status as object | undefined), ...patched } };
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

  it.each<[what: string, first: InterfaceOutcome, second: InterfaceOutcome, reason: RefusalReason | undefined]>([
    [
      'the cause comes before what follows from it',
      refused('other-interface-refused'),
      refused('pool-exhausted'),
      'pool-exhausted',
    ],
    ['what follows from a cause elsewhere', refused('other-interface-refused'), ALLOCATED, 'other-interface-refused'],
    ['the first of two causes', refused('pool-exhausted'), refused('address-taken'), 'pool-exhausted'],
    ['an interface has an address and wants another', WANTS_ANOTHER, ALLOCATED, 'address-taken'],
    ['a network without a pool beside one that is served', ALLOCATED, UNSERVED, undefined],
    ['a network without a pool beside one of another server', EXTERNAL, UNSERVED, 'no-pool'],
    ['networks of other servers', EXTERNAL, EXTERNAL, undefined],
  ])('the problem of a config: %s', (_what, first, second, reason) => {
    expect(plan(TWO, outcomes(first, second)).problem?.reason).toBe(reason);
  });

  it('an unreadable entry comes before a refusal', () => {
    const { problem } = plan(config([ENTRY, { ...ENTRY, macAddress: 'x' }]), { outcomeOf: () => refused('pool-exhausted') });
    expect(problem).toEqual({ reason: 'mac-address-unreadable', message: expect.stringContaining('"x" is not a MAC address') });
  });

  it.each<[what: string, first: InterfaceOutcome, second: InterfaceOutcome, messages: readonly string[]]>([
    ['all is well', ALLOCATED, ALLOCATED, []],
    ['an address is refused', ALLOCATED, refused('pool-exhausted'), ['Allocated: pool-exhausted!']],
    ['one network has no pool', ALLOCATED, UNSERVED, ['Allocated: not served, as they have no IPPool: default/net-2']],
    [
      'another server serves one network',
      ALLOCATED,
      EXTERNAL,
      ['Allocated: other DHCP servers serve these networks: default/net-2'],
    ],
    [
      'no network has a pool',
      UNSERVED,
      UNSERVED,
      [expect.stringMatching(/^Allocated: no IPPool serves default\/net-1, default\/net-2; create one/)],
    ],
    [
      'one network has no pool, and another server serves one',
      EXTERNAL,
      UNSERVED,
      [expect.stringMatching(/^Allocated: no IPPool serves default\/net-2; create one/)],
    ],
  ])('the messages where %s', (_what, first, second, messages) => {
    expect(plan(TWO, outcomes(first, second)).messages).toEqual(messages);
  });

  it('a network is named once, and both sentences are shown if both are true', () => {
    const third = { ...ENTRY, networkName: 'default/net-3' };
    const object = config([OTHER_ENTRY, { ...OTHER_ENTRY, macAddress: '02:00:00:00:00:0c' }, third, ENTRY]);
    const outcomeOf = ({ network }: InterfaceClaim) =>
      network === 'default/net-1' ? ALLOCATED : network === 'default/net-2' ? UNSERVED : EXTERNAL;
    expect(plan(object, { outcomeOf })).toMatchObject({
      shown: ['Disabled=False', 'Allocated=True', 'InSynced=True'],
      messages: [
        'Allocated: not served, as they have no IPPool: default/net-2; other DHCP servers serve these networks: default/net-3',
      ],
    });
  });

  describe('of a machine that leaves a network', () => {
    const annotation = { [`${ENTRY.networkName} ${A}`]: { since: '2026-01-01T00:00:00Z', instance: 'i' } };
    const leaving = (entries: readonly unknown[], status: object = {}): KubernetesObject => {
      const object = config(entries);
      const annotations = { 'network.harvesterhci.io/leaving-networks': JSON.stringify(annotation) };
      return { ...object, metadata: { ...object.metadata, annotations }, status };
    };

    it.each<[string, readonly unknown[], InterfaceOutcome, InterfaceOutcome, string | undefined]>([
      ['it needs no address there', [ENTRY, OTHER_ENTRY], WAITING, ALLOCATED, 'Allocated=True'],
      ['a refusal there is no problem', [ENTRY, OTHER_ENTRY], refused('pool-exhausted'), ALLOCATED, 'Allocated=True'],
      ['a refusal elsewhere is one', [ENTRY, OTHER_ENTRY], WAITING, refused('pool-exhausted'), 'Allocated=False PoolExhausted'],
      ['the plan of the pool there is awaited', [ENTRY, OTHER_ENTRY], { kind: 'waiting', isSoon: true }, ALLOCATED, undefined],
      ['it has an address there and nowhere else', [ENTRY], ALLOCATED, ALLOCATED, 'Allocated=True'],
      ['it has an address nowhere', [ENTRY], WAITING, ALLOCATED, 'Allocated=False NoInterfaces'],
    ])('%s', (_, entries, first, second, expected) => {
      const { shown } = plan(leaving(entries), outcomes(first, second));
      expect(shown.find((one) => one.startsWith('Allocated='))).toBe(expected);
    });
  });

  it('addresses that are being freed are listed', () => {
    expect(plan(config([ENTRY]), { stale: [STALE] })).toMatchObject({
      shown: ['Disabled=False', 'Allocated=True', 'InSynced=False NetworkConfigChanged'],
      messages: ['InSynced: 10.0.0.11 is no longer wanted and is being freed'],
      entries: [
        { allocatedIPAddress: '10.0.0.11', macAddress: A, networkName: 'default/net-1', state: 'Stale' },
        { allocatedIPAddress: '10.0.0.10', macAddress: A, networkName: 'default/net-1', state: 'Allocated' },
      ],
    });
  });

  it('an interface without an address is pending, and keeps the address that it had last', () => {
    const before = { allocatedIPAddress: '10.0.0.7', macAddress: A, networkName: 'default/net-1', state: 'Allocated' };
    const object = { ...TWO, status: { networkConfigs: [before] } };
    expect(plan(object, { outcomeOf: () => refused('pool-exhausted') }).entries).toEqual([
      { ...before, state: 'Pending' },
      { macAddress: B, networkName: 'default/net-2', state: 'Pending' },
    ]);
  });

  it('while it is paused it reports no problem, and its addresses as pending', () => {
    const paused = { ...carriedOut(TWO), spec: { networkConfigs: [ENTRY, OTHER_ENTRY], paused: true } };
    const fields = { allocatedIPAddress: '10.0.0.10', state: 'Pending' };
    expect(plan({ ...paused, status: { networkConfigs: readField(paused.status, 'networkConfigs') } })).toMatchObject({
      problem: undefined,
      shown: ['Disabled=True', 'InSynced=True'],
      entries: [
        { ...ENTRY, ...fields },
        { ...OTHER_ENTRY, ...fields },
      ],
    });
  });

  it.each<[what: string, facts: Partial<NetworkConfigFacts>, shown: readonly string[]]>([
    ['writes nothing', outcomes(ALLOCATED, WAITING), []],
    [
      'reports a refusal at once',
      outcomes(refused('pool-exhausted'), WAITING),
      ['Disabled=False', 'Allocated=False PoolExhausted', 'InSynced=True'],
    ],
    [
      'reports addresses that are being freed, and nothing of those that it will have',
      { ...outcomes(ALLOCATED, WAITING), stale: [STALE] },
      ['Disabled=False', 'InSynced=False NetworkConfigChanged'],
    ],
  ])("%s before it is the interface's turn", (_what, facts, shown) => {
    expect(plan(TWO, facts).shown).toEqual(shown);
  });
});

describe('a status is written if it differs', () => {
  it('is not written again', () => {
    expect(plan(carriedOut(TWO)).patch).toBeUndefined();
  });

  it('is not written for a field that is empty instead of absent', () => {
    const facts = { outcomeOf: () => refused('pool-exhausted') };
    const { status, ...object } = carriedOut(config([ENTRY]), facts);
    const entries = [{ ...ENTRY, state: 'Pending', allocatedIPAddress: '' }];
    expect(plan({ ...object, status: { ...(status as object), networkConfigs: entries } }, facts).patch).toBeUndefined();
  });

  it('has only its conditions written if the entries are up to date', () => {
    const { patch } = plan(carriedOut(TWO), outcomes(WANTS_ANOTHER, ALLOCATED));
    expect(patch).toEqual({ status: { conditions: expect.anything() as unknown } });
  });

  it.each<[field: string, value: string]>([
    ['allocatedIPAddress', '10.0.0.99'],
    ['macAddress', B],
    ['networkName', 'default/other'],
    ['state', 'Pending'],
  ])('has only its entries written if %s differs and no generation is known', (field, value) => {
    const { status, ...object } = carriedOut(config([ENTRY]));
    const [entry] = readList(status, 'networkConfigs') as object[];
    const changed = { ...object, status: { ...(status as object), networkConfigs: [{ ...entry, [field]: value }] } };
    expect(plan(changed).patch).toEqual({ status: { networkConfigs: [entry] } });
  });

  it('includes the generation that was read', () => {
    const object = carriedOut({ ...config([ENTRY]), metadata: { namespace: 'default', name: 'vm-a', generation: 3 } });
    expect(readList(object.status, 'conditions')).toMatchObject([3, 3, 3].map((observedGeneration) => ({ observedGeneration })));
    const moved = { ...object, metadata: { ...object.metadata, generation: 4 } };
    expect(readList(carriedOut(moved, outcomes(WANTS_ANOTHER, ALLOCATED)).status, 'conditions')).toMatchObject(
      [4, 4, 4].map((observedGeneration) => ({ observedGeneration })),
    );
  });
});
