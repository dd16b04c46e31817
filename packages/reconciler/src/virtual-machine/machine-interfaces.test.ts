/** All interfaces of a virtual machine, and the source of each MAC address. */
import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { MAC_ADDRESS_ANNOTATION } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type InterfaceKnowledge, macAddressesOf, machineInterfaces } from './machine-interfaces.js';
import type { RememberedInterfaces } from './remembered-interfaces.js';
import { readRunningInstance } from './running-instance.js';
import { wantedInterfaces } from './wanted-interfaces.js';

const mac = (octet: number) => parseMacAddress(`02:00:00:00:00:0${octet}`) as MacAddress;
const [TEMPLATE, ANNOTATION, CONFIG, FORMER, ASKED, REPORTED] = [mac(1), mac(2), mac(3), mac(4), mac(5), mac(6)];

interface MachineText {
  /** MAC address of the interface `default` on the pod network, and of `nic` on a Multus network; null: the interface has none. */
  readonly pod?: string | null;
  readonly nic?: string | null;
  readonly annotation?: string;
  readonly devices?: Readonly<Record<string, unknown>>;
}

function shapeOf({ pod, nic, devices = {} }: MachineText) {
  const written = [
    ...(pod === undefined ? [] : [{ name: 'default', masquerade: {}, ...(pod !== null && { macAddress: pod }) }]),
    ...(nic === undefined ? [] : [{ name: 'nic', bridge: {}, ...(nic !== null && { macAddress: nic }) }]),
  ];
  const networks = [
    ...(pod === undefined ? [] : [{ name: 'default', pod: {} }]),
    ...(nic === undefined ? [] : [{ name: 'nic', multus: { networkName: 'net-1' } }]),
  ];
  return { domain: { devices: { interfaces: written, ...devices } }, networks };
}

function machine(text: MachineText): KubernetesObject {
  const annotations = text.annotation === undefined ? {} : { [MAC_ADDRESS_ANNOTATION]: text.annotation };
  return { metadata: { namespace: 'lab', name: 'web', uid: 'u', annotations }, spec: { template: { spec: shapeOf(text) } } };
}

function running(text: MachineText, reported: readonly unknown[] = []): InterfaceKnowledge {
  const instance = { metadata: { namespace: 'lab', name: 'web' }, spec: shapeOf(text), status: { interfaces: reported } };
  return { instance: readRunningInstance(machine(text), instance) };
}

const CONFIG_HAS: RememberedInterfaces = new Map([['nic', { networkName: 'lab/net-1', macAddress: CONFIG, replaces: [] }]]);
const FORMER_HAS = new Map([
  ['default', FORMER],
  ['nic', FORMER],
]);

/** Interface: MAC address, source. */
function described(object: KubernetesObject, knowledge?: InterfaceKnowledge): string[] {
  return [...(machineInterfaces(object, knowledge).interfaces?.values() ?? [])].map(
    ({ name, networkName = 'pod', macAddress }) =>
      `${name} on ${networkName}: ${macAddress === undefined ? 'unknown' : `${macAddress.text} by ${macAddress.source}`}`,
  );
}

describe('the source of a MAC address', () => {
  it.each<[string, MachineText, InterfaceKnowledge, readonly string[]]>([
    [
      'the template, as KubeMacPool leaves it: its webhook wrote each address there',
      { pod: TEMPLATE, nic: mac(7) },
      {},
      [`nic on lab/net-1: ${mac(7)} by template`, `default on pod: ${TEMPLATE} by template`],
    ],
    [
      "Harvester's annotation, of whatever network",
      { pod: null, nic: null, annotation: JSON.stringify({ default: ANNOTATION, nic: mac(7) }) },
      {},
      [`nic on lab/net-1: ${mac(7)} by annotation`, `default on pod: ${ANNOTATION} by annotation`],
    ],
    [
      'the template before the annotation, while it does not run',
      { nic: TEMPLATE, annotation: JSON.stringify({ nic: ANNOTATION }) },
      { remembered: CONFIG_HAS, formerMacAddresses: FORMER_HAS },
      [`nic on lab/net-1: ${TEMPLATE} by template`],
    ],
    [
      'what it had when it ran: of a Multus network by its config, of the pod network by the memory',
      { pod: null, nic: null },
      { remembered: CONFIG_HAS, formerMacAddresses: FORMER_HAS },
      [`nic on lab/net-1: ${CONFIG} by remembered`, `default on pod: ${FORMER} by remembered`],
    ],
    [
      'the status of the instance before its spec',
      { pod: null },
      running({ pod: ASKED, nic: ASKED }, [{ name: 'default', mac: REPORTED, infoSource: 'domain' }]),
      [`nic on lab/net-1: ${ASKED} by instance`, `default on pod: ${REPORTED} by instance`],
    ],
    [
      'nothing that the guest operating system claims',
      { pod: null },
      running({ pod: null }, [{ name: 'default', mac: REPORTED, infoSource: 'guest-agent' }]),
      ['default on pod: unknown'],
    ],
    [
      'what is remembered while the instance has not reported an address',
      { pod: null },
      { ...running({ pod: null }), formerMacAddresses: FORMER_HAS },
      [`default on pod: ${FORMER} by remembered`],
    ],
    [
      'what is remembered first, while nothing is known of its instance',
      { pod: TEMPLATE, nic: TEMPLATE },
      { instance: 'unreadable', remembered: CONFIG_HAS, formerMacAddresses: FORMER_HAS },
      [`nic on lab/net-1: ${CONFIG} by remembered`, `default on pod: ${TEMPLATE} by template`],
    ],
  ])('%s', (_, text, knowledge, expected) => {
    expect(described(machine(text), knowledge)).toEqual(expected);
  });

  it('the interfaces of a running machine are those of its instance, whatever its template says now', () => {
    expect(described(machine({ pod: TEMPLATE }), running({ nic: ASKED }))).toEqual([`nic on lab/net-1: ${ASKED} by instance`]);
  });

  it('the memory is used only for interfaces of the template without their own address', () => {
    const knowledge = { formerMacAddresses: FORMER_HAS };
    expect(described(machine({ pod: TEMPLATE }), knowledge)).toEqual([`default on pod: ${TEMPLATE} by template`]);
    const withoutPod = { instance: running({ pod: null }).instance, formerMacAddresses: FORMER_HAS };
    expect(described(machine({ nic: TEMPLATE }), withoutPod)).toEqual(['default on pod: unknown']);
  });

  it('KubeVirt user guide, Interfaces and Networks: a template without interfaces has one on the pod network, unless that is off', () => {
    const knowledge = { formerMacAddresses: FORMER_HAS };
    expect(described(machine({}), knowledge)).toEqual([`default on pod: ${FORMER} by remembered`]);
    expect(described(machine({ devices: { autoattachPodInterface: false } }), knowledge)).toEqual([]);
  });

  it('an unreadable annotation affects only what it would have set', () => {
    const read = machineInterfaces(machine({ pod: TEMPLATE, nic: null, annotation: '{' }));
    expect([read.isAnnotationReadable, macAddressesOf(read)]).toEqual([false, [TEMPLATE]]);
  });

  it('each valid MAC address appears once', () => {
    expect(macAddressesOf(machineInterfaces(machine({ pod: '02-00-00-00-00-01', nic: TEMPLATE })))).toEqual([TEMPLATE]);
    expect(macAddressesOf(machineInterfaces(machine({ pod: 'none' })))).toEqual([]);
    expect(machineInterfaces({ metadata: { name: 'web' } }).interfaces).toBeUndefined();
  });
});

it('law: DHCP and Wake-on-LAN see the same MAC address of each interface that DHCP serves', () => {
  const address = fc.option(fc.constantFrom<string>(...[1, 2, 3, 4, 5, 6].map(mac), 'none'), { nil: null });
  const text = fc.record(
    { pod: address, nic: address, annotation: fc.constantFrom('{', '', `{"nic":"${ANNOTATION}","default":"${ANNOTATION}"}`) },
    { requiredKeys: [] },
  );
  const reported = fc.array(
    fc.record({
      name: fc.constantFrom('nic', 'default'),
      mac: fc.constantFrom(REPORTED, mac(7), ''),
      infoSource: fc.constantFrom('domain', 'guest-agent', 'domain, guest-agent'),
    }),
    { maxLength: 3 },
  );
  const instance = fc.oneof(
    fc.constantFrom('unreadable' as const, 'unseen' as const, undefined),
    fc.tuple(text, reported).map(([ofInstance, interfaces]) => running(ofInstance, interfaces).instance),
  );
  fc.assert(
    fc.property(text, instance, fc.boolean(), fc.boolean(), (written, one, hasConfig, hasMemory) => {
      const object = machine(written);
      const known = { instance: one, ...(hasConfig && { remembered: CONFIG_HAS }) };
      const wanted = wantedInterfaces(object, known).interfaces ?? [];
      const all = machineInterfaces(object, { ...known, ...(hasMemory && { formerMacAddresses: FORMER_HAS }) });
      for (const { name, macAddress } of wanted)
        expect(parseMacAddress(all.interfaces?.get(name)?.macAddress?.text ?? '')).toBe(macAddress);
      const addresses = macAddressesOf(all);
      expect(wanted.filter(({ macAddress }) => !addresses.includes(macAddress))).toEqual([]);
    }),
    { numRuns: 1_000 },
  );
});
