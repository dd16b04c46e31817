import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { network, virtualMachine } from '../fixtures/object-fixtures.js';
import { networkSpec, REACH_ROWS, type ReachRow } from '../network/reach-fixtures.js';
import { A, B, change, creation, deletion, ipPool, networkConfig, shown } from './admission-fixtures.js';
import { factsOfObjects } from './facts-of-objects.js';
import { reviewVirtualMachine } from './review-virtual-machine.js';

const interfaces = { nic: [A, 'net-1'] } as const;
const machine = (annotations: Readonly<Record<string, string>> = {}) => virtualMachine('vm-a', { interfaces, annotations });
function imported(addresses: string): KubernetesObject {
  const one = machine();
  const spec = one.spec as { template: object };
  const metadata = { annotations: { 'network.kubevirt.io/addresses': addresses } };
  return { ...one, spec: { ...spec, template: { ...spec.template, metadata } } };
}

const OTHER = virtualMachine('vm-b', { interfaces: { nic: [B, 'net-1'] } });
const SERVED = [network('net-1'), ipPool({}, { allocated: { '192.168.0.21': B } }), OTHER, networkConfig([{ mac: B }], 'vm-b')];
const LONG = 'n'.repeat(70);
const PIN = 'static-ip.harvesterhci.io/nic';
const ADDRESSES = 'network.kubevirt.io/addresses';
const OPT_OUT = 'network.harvesterhci.io/dhcp-opt-out';

const ROWS: [what: string, object: KubernetesObject, found: string[]][] = [
  ['a pinned address that is free', machine({ [PIN]: '192.168.0.30' }), []],
  ['an interface that is opted out', machine({ [OPT_OUT]: 'nic', [PIN]: '192.168.0.21' }), []],
  ['no annotation', machine(), []],
  [
    'a pinned address outside the range',
    machine({ [PIN]: '192.168.0.200' }),
    [
      `metadata.annotations.${PIN} address-outside-pool: pool default/net-1 cannot assign 192.168.0.200 to ${A}: it lies outside the range of the pool; choose another, or add it with this MAC address to spec.ipv4Config.reservations of the IPPool`,
    ],
  ],
  [
    'a pinned address that another one has',
    machine({ [PIN]: '192.168.0.21' }),
    [
      `metadata.annotations.${PIN} address-taken: pool default/net-1 cannot assign 192.168.0.21 to ${A}: ${B} has it; choose another, or delete the virtual machine with that MAC address first`,
    ],
  ],
  [
    'an invalid pinned address',
    machine({ [PIN]: 'x' }),
    [
      `metadata.annotations.${PIN} static-address-unreadable: annotation ${PIN}: "x" is not an IPv4 address; the annotation is ignored until it is corrected`,
    ],
  ],
  ['the address of an imported machine that is free', machine({ [ADDRESSES]: '{"nic":["192.168.0.30"]}' }), []],
  [
    'the address of an imported machine that another one has',
    machine({ [ADDRESSES]: '{"nic":["192.168.0.21"]}' }),
    [
      `metadata.annotations.${ADDRESSES} address-taken: pool default/net-1 cannot assign 192.168.0.21 to ${A}: ${B} has it; choose another, or delete the virtual machine with that MAC address first`,
    ],
  ],
  [
    'two addresses that one interface of an imported machine had',
    machine({ [ADDRESSES]: '{"nic":["192.168.0.30","192.168.0.31"]}' }),
    [
      `metadata.annotations.${ADDRESSES} pinned-addresses-surplus: annotation ${ADDRESSES} has 2 IPv4 addresses for interface "nic", and DHCP gives it only 192.168.0.30; set the others in the guest, or leave them out`,
    ],
  ],
  [
    'an address of an imported machine that is not one',
    machine({ [ADDRESSES]: '{"nic":["ten"]}' }),
    [
      `metadata.annotations.${ADDRESSES} pinned-addresses-unreadable: annotation ${ADDRESSES} has "ten" for interface "nic", which is not an address; write {"INTERFACE":["192.0.2.10"]}`,
    ],
  ],
  [
    'the address of an imported machine in its template, that another one has',
    imported('{"nic":["192.168.0.21"]}'),
    [
      `spec.template.metadata.annotations.${ADDRESSES} address-taken: pool default/net-1 cannot assign 192.168.0.21 to ${A}: ${B} has it; choose another, or delete the virtual machine with that MAC address first`,
    ],
  ],
  [
    'a pinned address of a missing interface',
    machine({ 'static-ip.harvesterhci.io/eth0': '192.168.0.30' }),
    [
      'metadata.annotations.static-ip.harvesterhci.io/eth0 static-address-without-interface: annotation static-ip.harvesterhci.io/eth0 is of no use: "eth0" is not an interface on a Multus network; there are nic',
    ],
  ],
  [
    'an opt-out of a missing interface',
    machine({ [OPT_OUT]: 'eth0' }),
    [
      `metadata.annotations.${OPT_OUT} opt-out-without-interface: annotation ${OPT_OUT} names "eth0", which is not an interface on a Multus network; write 'true' or names of nic`,
    ],
  ],
  [
    'MAC addresses that cannot be read',
    machine({ 'harvesterhci.io/mac-address': '{' }),
    [
      'metadata.annotations.harvesterhci.io/mac-address mac-address-annotation-unreadable: annotation harvesterhci.io/mac-address is not a JSON object of interface names and MAC addresses; correct or remove it',
    ],
  ],
  [
    'an invalid MAC address',
    virtualMachine('vm-a', { interfaces: { nic: ['x', 'net-1'] } }),
    [
      'spec.template.spec.domain.devices.interfaces[0] mac-address-unreadable: interface "nic": "x" is not a MAC address; write six hexadecimal octets, as in 02:00:5e:10:00:01',
    ],
  ],
  [
    'the MAC address of another virtual machine',
    virtualMachine('vm-a', { interfaces: { nic: [B, 'net-1'] } }),
    [
      `spec.template.spec.domain.devices.interfaces[0].macAddress mac-address-claimed-twice: ${B} is claimed by default/vm-b too; give one of the interfaces another MAC address`,
    ],
  ],
  ['that MAC address on another network', virtualMachine('vm-a', { interfaces: { nic: [B, 'net-2'] } }), []],
  [
    'one MAC address on two interfaces',
    virtualMachine('vm-a', { interfaces: { a: [A, 'net-1'], b: [A, 'net-1'] } }),
    [
      `spec.template.spec.domain.devices.interfaces[1] mac-address-twice: interfaces a and b have the same MAC address ${A} on default/net-1; change one of them`,
    ],
  ],
  [
    'a network with a long name',
    virtualMachine('vm-a', { interfaces: { nic: [A, `red/${LONG}`] } }),
    [
      `spec.template.spec.networks[0] network-name-too-long: interface "nic": "red/${LONG.slice(0, 57)}..." is longer than 64 characters and gets no address; create the NetworkAttachmentDefinition with a shorter name`,
    ],
  ],
  [
    'five interfaces',
    virtualMachine('vm-a', {
      interfaces: Object.fromEntries(
        ['a', 'b', 'c', 'd', 'e'].map((name) => [name, [`02:00:00:00:06:0${name}`, 'net-1'] as const]),
      ),
    }),
    [
      'spec.template.spec.domain.devices.interfaces too-many-interfaces: only 4 interfaces of a virtual machine get addresses, e not; opt interfaces out with annotation network.harvesterhci.io/dhcp-opt-out',
    ],
  ],
  [
    'no template',
    { ...machine(), spec: {} },
    ['spec.template.spec template-missing: the virtual machine has no spec.template.spec, so its interfaces are unknown; add it'],
  ],
];

describe('by default a problem is a warning', () => {
  it.each(ROWS)('%s', (_what, object, found) => {
    const { allowed, problems, warnings } = reviewVirtualMachine(creation(object), factsOfObjects(SERVED));
    expect([allowed, problems, warnings.map(shown)]).toEqual([true, [], found]);
  });
});

describe('with Refuse it is refused', () => {
  it.each(ROWS)('%s', (_what, object, found) => {
    const { allowed, problems, warnings } = reviewVirtualMachine(creation(object), factsOfObjects(SERVED), {
      onProblem: 'Refuse',
    });
    expect([allowed, problems.map(shown), warnings]).toEqual([found.length === 0, found, []]);
  });

  it.each([
    ['nobody knows who', undefined, ['address-quarantined']],
    ['another host', '02:00:00:00:00:66', ['address-quarantined']],
    ['the machine itself', A, []],
  ])('but not for a quarantine of an address that is used by %s: it ends by itself', (_, usedBy, reasons) => {
    const made = machine({ [PIN]: '192.168.0.30' });
    const pool = ipPool({}, { quarantined: { '192.168.0.30': { until: '2030-01-01T00:00:00Z', ...(usedBy && { usedBy }) } } });
    const review = reviewVirtualMachine(creation(made), factsOfObjects([network('net-1'), pool]), { onProblem: 'Refuse' });
    expect([review.allowed, review.warnings.map(({ reason }) => reason)]).toEqual([true, reasons]);
  });
});

it('two virtual machines that pin one address, before either has a config', () => {
  const pinned = virtualMachine('vm-c', {
    interfaces: { nic: ['02:00:00:00:00:0c', 'net-1'] },
    annotations: { [PIN]: '192.168.0.30' },
  });
  const review = reviewVirtualMachine(creation(machine({ [PIN]: '192.168.0.30' })), factsOfObjects([...SERVED, pinned]));
  expect(review.warnings.map(shown)).toEqual([
    `metadata.annotations.${PIN} address-taken: 192.168.0.30 is wanted by default/vm-c (02:00:00:00:00:0c) too; give one of them another address`,
  ]);
});

describe('a change of a virtual machine', () => {
  const review = (before: KubernetesObject, after: KubernetesObject) =>
    reviewVirtualMachine(change(before, after), factsOfObjects([...SERVED, before]), { onProblem: 'Refuse' });

  it('is refused for new problems', () => {
    expect(review(machine(), machine({ [PIN]: 'x' })).allowed).toBe(false);
  });

  it('is accepted with old problems, without a warning', () => {
    const { allowed, warnings } = review(machine({ [PIN]: 'x' }), machine({ [PIN]: 'x', note: 'y' }));
    expect(allowed).toBe(true);
    expect(warnings).toEqual([]);
  });

  it('that has the address that it pins does not conflict with itself', () => {
    const pinned = machine({ [PIN]: '192.168.0.30' });
    const facts = factsOfObjects([...SERVED, pinned, networkConfig([{ mac: A, ip: '192.168.0.30' }])]);
    const unpinned = virtualMachine('vm-a', { interfaces });
    expect(reviewVirtualMachine(change(unpinned, pinned), facts, { onProblem: 'Refuse' }).problems).toEqual([]);
  });

  it('deletions, and changes while it is being deleted, are accepted', () => {
    const leaving = machine({ [PIN]: 'x' });
    const metadata = { ...leaving.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(review(machine(), { ...leaving, metadata }).allowed).toBe(true);
    expect(reviewVirtualMachine(deletion(leaving), factsOfObjects([])).allowed).toBe(true);
  });
});

describe('who answers an interface', () => {
  const bound = (binding: ReachRow['binding']) => virtualMachine('vm-a', { interfaces, bindings: { nic: binding } });
  const on = (config: ReachRow['config']) => ({ ...network('net-1'), spec: networkSpec(config) });
  const PLACE = 'spec.template.spec.domain.devices.interfaces.0';

  it.each(REACH_ROWS)('$what: $expected', ({ binding, config, expected }) => {
    const facts = factsOfObjects([on(config), ipPool()]);
    const { allowed, warnings } = reviewVirtualMachine(creation(bound(binding)), facts, { onProblem: 'Refuse' });
    expect(allowed).toBe(true);
    const found = warnings.map(({ path, reason }) => `${path.join('.')} ${reason}`);
    expect(found).toEqual(expected === 'served' ? [] : [`${PLACE} ${expected}`]);
  });

  it.each<[string, ReachRow['binding'], ReachRow['config'], string]>([
    [
      'the binding',
      { masquerade: {} },
      undefined,
      `binding-not-served: interface "nic": the binding masquerade keeps DHCP requests in the pod, where another server answers them, so it gets no address; use the binding bridge on this network, or opt the interface out with annotation ${OPT_OUT}`,
    ],
    [
      'ipam',
      { bridge: {} },
      { type: 'bridge', ipam: { type: 'static' } },
      'served-twice: interface "nic": network default/net-1 has ipam of type static, so KubeVirt answers DHCP requests in the pod of each virtual machine too, and a guest may take that address; remove ipam from spec.config of the NetworkAttachmentDefinition, and restart its virtual machines',
    ],
  ])('the warning about %s says what to do', (_, binding, config, text) => {
    const { warnings } = reviewVirtualMachine(creation(bound(binding)), factsOfObjects([on(config), ipPool()]));
    expect(warnings.map(shown)).toEqual([`${PLACE.replace('.0', '[0]')} ${text}`]);
  });

  it('causes no warning without an IPPool for its network, or where it stays as it was', () => {
    const twice = on({ type: 'bridge', ipam: { type: 'static' } });
    expect(reviewVirtualMachine(creation(bound({ masquerade: {} })), factsOfObjects([twice])).warnings).toEqual([]);
    expect(reviewVirtualMachine(creation(bound({})), factsOfObjects([twice])).warnings).toEqual([]);
    const facts = factsOfObjects([twice, ipPool()]);
    const annotated = virtualMachine('vm-a', { interfaces, annotations: { note: 'x' } });
    expect(reviewVirtualMachine(change(bound({}), annotated), facts).warnings).toEqual([]);
  });

  it('an interface that keeps its address is told so', () => {
    const facts = factsOfObjects([network('net-1'), ipPool({}, { allocated: { '192.168.0.20': A } })]);
    const [warning] = reviewVirtualMachine(change(bound({}), bound({ passt: {} })), facts).warnings;
    expect(warning?.message).toContain('and it keeps the address that it has');
  });
});
