/**
 * All interfaces of a virtual machine, that of the pod network included, and the MAC address of each. DHCP and Wake-on-LAN read the same.
 *
 * While the virtual machine runs, interfaces and networks are those of the VirtualMachineInstance; what changes in the virtual machine's
 * template counts for the next start. A MAC address comes from the first of these that has one:
 *
 * - while it runs: the instance's status, its spec, the annotation, what is remembered, the template;
 * - else: the template, the annotation, what is remembered;
 * - if the controller does not know whether it runs: what is remembered, the template, the annotation.
 *
 * KubeMacPool has no place in this list: its webhook writes the MAC address into the template.
 */
import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { MAC_ADDRESS_ANNOTATION, networkKey } from '@vmdhcp/ippool-api/agent';
import { isRecord, type KubernetesObject, readField, readList, readText, readTexts } from '@vmdhcp/kube-runtime';

import { NOTHING_REMEMBERED, type RememberedInterfaces } from './remembered-interfaces.js';
import type { RunningInstance } from './running-instance.js';

/** The source of a MAC address; `remembered`: the virtual machine had it when it ran. */
export type MacAddressSource = 'instance' | 'annotation' | 'remembered' | 'template';

/** A MAC address as it was written, and where. */
export interface KnownMacAddress {
  /** The text there, which may be an invalid MAC address. */
  readonly text: string;
  readonly source: MacAddressSource;
}

/** An interface of a virtual machine, on whatever network. */
export interface MachineInterface {
  /** The name in the virtual machine. */
  readonly name: string;
  /** `namespace/name` of its NetworkAttachmentDefinition; undefined if it is on the pod network, or on none. */
  readonly networkName: string | undefined;
  /** The same as it is written: without a namespace it is that of the virtual machine. */
  readonly writtenNetwork: string | undefined;
  /** The remembered network, if a running instance may still have it, whatever the template contains now. */
  readonly rememberedNetwork: string | undefined;
  /** Undefined if not known yet. */
  readonly macAddress: KnownMacAddress | undefined;
}

export interface MachineInterfaces {
  /** By name. Undefined if the virtual machine has no `spec.template.spec`. */
  readonly interfaces: ReadonlyMap<string, MachineInterface> | undefined;
  /** False if the annotation with MAC addresses is not a JSON object. */
  readonly isAnnotationReadable: boolean;
}

/** MAC addresses that a virtual machine had when it ran, by interface name. */
export type FormerMacAddresses = ReadonlyMap<string, MacAddress>;

/** The knowledge about a virtual machine's interfaces besides its own object. */
export interface InterfaceKnowledge {
  /**
   * The instance; undefined if none runs. An instance may run if the state is `unreadable` (the controller is not permitted to look) or `unseen` (the
   * virtual machine reports one that the controller has not seen yet).
   */
  readonly instance?: RunningInstance | 'unreadable' | 'unseen' | undefined;
  /** Interfaces on Multus networks, from its VirtualMachineNetworkConfig. Default: none. */
  readonly remembered?: RememberedInterfaces | undefined;
  /** MAC addresses for interfaces of the template without their own; others are ignored. DHCP does not use these. Default: none. */
  readonly formerMacAddresses?: FormerMacAddresses | undefined;
}

/** Reads any object. Never throws. */
export function machineInterfaces(virtualMachine: KubernetesObject, knowledge: InterfaceKnowledge = {}): MachineInterfaces {
  const { instance } = knowledge;
  const template = readField(virtualMachine.spec, 'template', 'spec');
  const shape = interfaceShape(virtualMachine, instance);
  const fromAnnotation = parseMacAddressAnnotation(readTexts(virtualMachine.metadata, 'annotations')[MAC_ADDRESS_ANNOTATION]);
  const isAnnotationReadable = fromAnnotation !== undefined;
  if (!isRecord(shape)) return { interfaces: undefined, isAnnotationReadable };
  const { namespace } = virtualMachine.metadata;
  const written = readNetworks(shape);
  const networks = new Map(
    [...written].map(([name, text]) => [name, text === undefined ? undefined : networkKey(text, namespace)]),
  );
  const rememberedNetworks = isUncertain(instance) ? networksOf(knowledge.remembered) : NO_NETWORKS;
  const macAddresses = knownMacAddresses({
    template,
    knowledge,
    networks: new Map([...networks, ...rememberedNetworks]),
    fromAnnotation: fromAnnotation ?? [],
  });
  const names = new Set([...networks.keys(), ...rememberedNetworks.keys()]);
  const interfaces = [...names].map((name): [string, MachineInterface] => {
    const rememberedNetwork = rememberedNetworks.get(name);
    const network = { networkName: networks.get(name), writtenNetwork: written.get(name), rememberedNetwork };
    return [name, { name, ...network, macAddress: macAddresses.get(name) }];
  });
  return { interfaces: new Map(interfaces), isAnnotationReadable };
}

/** The MAC addresses of all interfaces, each once; invalid ones are left out. */
export function macAddressesOf({ interfaces }: MachineInterfaces): readonly MacAddress[] {
  const known = [...(interfaces?.values() ?? [])].flatMap(({ macAddress }) => parseMacAddress(macAddress?.text ?? '') ?? []);
  return [...new Set(known)];
}

/** By MAC address of its interfaces, where they are: the names of networks, and undefined for the pod network. */
export type NetworksOfMachine = ReadonlyMap<MacAddress, ReadonlySet<string | undefined>>;

/** The networks of its instance while it runs, of its template otherwise. */
export function networksOfMachine(virtualMachine: KubernetesObject, known: InterfaceKnowledge): NetworksOfMachine {
  const { interfaces = new Map<string, MachineInterface>() } = machineInterfaces(virtualMachine, known);
  const networksOf = new Map<MacAddress, Set<string | undefined>>();
  for (const { name, networkName, macAddress } of interfaces.values()) {
    const address = parseMacAddress(macAddress?.text ?? '') ?? known.remembered?.get(name)?.macAddress;
    if (address !== undefined) networksOf.set(address, (networksOf.get(address) ?? new Set()).add(networkName));
  }
  return networksOf;
}

/** Names of interfaces whose MAC address KubeVirt chooses when the virtual machine starts, as far as its template shows. */
export function interfacesWithoutOwnMacAddress(template: unknown): ReadonlySet<string> {
  const own = new Set(templateMacAddresses(template).map(([name]) => name));
  return new Set(interfaceNames(template).filter((name) => !own.has(name)));
}

/** What has the interfaces now: the spec of the instance while it runs, otherwise that of the template. */
export function interfaceShape(virtualMachine: KubernetesObject, instance: InterfaceKnowledge['instance']): unknown {
  return isRunning(instance) ? instance.spec : readField(virtualMachine.spec, 'template', 'spec');
}

function isRunning(instance: InterfaceKnowledge['instance']): instance is RunningInstance {
  return typeof instance === 'object';
}

/** True if an instance may run whose interfaces are not known. */
export function isUncertain(instance: InterfaceKnowledge['instance']): instance is 'unreadable' | 'unseen' {
  return typeof instance === 'string';
}

const NO_NETWORKS: ReadonlyMap<string, string> = new Map();

/** The instance may still have these interfaces, whatever the template contains now. */
function networksOf(remembered: RememberedInterfaces = NOTHING_REMEMBERED): ReadonlyMap<string, string> {
  return new Map([...remembered].map(([name, { networkName }]) => [name, networkName]));
}

interface MacAddressSources {
  readonly template: unknown;
  readonly knowledge: InterfaceKnowledge;
  /** The interfaces by name. */
  readonly networks: ReadonlyMap<string, string | undefined>;
  readonly fromAnnotation: readonly (readonly [string, string])[];
}

/** By interface name. */
function knownMacAddresses({
  template,
  knowledge: { instance, remembered = NOTHING_REMEMBERED, formerMacAddresses = new Map() },
  networks,
  fromAnnotation,
}: MacAddressSources): Map<string, KnownMacAddress> {
  const annotation = from('annotation', fromAnnotation);
  const ofTemplate = from('template', templateMacAddresses(template));
  const chosenByKubeVirt = formerMacAddresses.size === 0 ? NO_NAMES : interfacesWithoutOwnMacAddress(template);
  const former = from(
    'remembered',
    [...formerMacAddresses].filter(([name]) => chosenByKubeVirt.has(name)),
  );
  const ofConfig = [...remembered].flatMap(([name, { networkName, macAddress }]): [string, string][] =>
    networks.get(name) === networkName ? [[name, macAddress]] : [],
  );
  const memory = from('remembered', ofConfig);
  // Later sources override earlier ones. The memory that DHCP does not read comes first, so that both agree.
  if (isUncertain(instance)) return new Map([...former, ...annotation, ...ofTemplate, ...memory]);
  if (instance === undefined) return new Map([...former, ...memory, ...annotation, ...ofTemplate]);
  return new Map([...former, ...ofTemplate, ...memory, ...annotation, ...from('instance', [...instance.macAddresses])]);
}

const NO_NAMES: ReadonlySet<string> = new Set();

function from(source: MacAddressSource, entries: readonly (readonly [string, string])[]): [string, KnownMacAddress][] {
  return entries.map(([name, text]) => [name, { text, source }]);
}

function templateMacAddresses(template: unknown): [string, string][] {
  return readList(template, 'domain', 'devices', 'interfaces').flatMap((entry): [string, string][] => {
    const name = readText(entry, 'name');
    const macAddress = readText(entry, 'macAddress');
    return name !== undefined && macAddress ? [[name, macAddress]] : [];
  });
}

function parseMacAddressAnnotation(text: string | undefined): [string, string][] | undefined {
  if (text === undefined || text === '') return [];
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) return undefined;
    return Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '');
  } catch {
    return undefined;
  }
}

/** Interface name to its network as it is written, in the order of `networks`; undefined if it is not on a Multus network. */
function readNetworks(shape: unknown): Map<string, string | undefined> {
  const names = interfaceNames(shape);
  const interfaces = new Set(names);
  const networks = new Map<string, string | undefined>();
  for (const entry of readList(shape, 'networks')) {
    const name = readText(entry, 'name');
    const networkName = readText(entry, 'multus', 'networkName');
    if (name && networkName && interfaces.has(name)) networks.set(name, networkName);
  }
  for (const name of names) if (!networks.has(name)) networks.set(name, undefined);
  return networks;
}

function interfaceNames(shape: unknown): string[] {
  const names = readList(shape, 'domain', 'devices', 'interfaces').flatMap((entry) => readText(entry, 'name') || []);
  return names.length === 0 && hasImplicitInterface(shape) ? [IMPLICIT_INTERFACE] : names;
}

/** Source: KubeVirt user guide, Interfaces and Networks: without interfaces, the virtual machine is on the pod network. */
function hasImplicitInterface(shape: unknown): boolean {
  const isOff = readField(shape, 'domain', 'devices', 'autoattachPodInterface') === false;
  return isRecord(shape) && !isOff && !readList(shape, 'networks').some((network) => readText(network, 'name') !== undefined);
}

/** The name that KubeVirt uses in the instance. */
const IMPLICIT_INTERFACE = 'default';
