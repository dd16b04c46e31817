/**
 * Finds the interfaces of a virtual machine that should get addresses: those on Multus networks whose owner has not opted out. Interfaces and their
 * MAC addresses come from `machineInterfaces`.
 */
import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import type { NetworkConfig } from '@vmdhcp/ippool-api';
import {
  ADDRESSES_ANNOTATION,
  DHCP_OPT_OUT_ANNOTATION,
  MAC_ADDRESS_ANNOTATION,
  STATIC_IP_ANNOTATION_PREFIX,
} from '@vmdhcp/ippool-api/agent';
import { compareText, describeNames, type KubernetesObject, quote, readTexts } from '@vmdhcp/kube-runtime';

import { type InterfaceKnowledge, type MachineInterface, machineInterfaces } from './machine-interfaces.js';
import { PinnedAddresses } from './pinned-addresses.js';
import { toProblem, type WrittenPlace, type WrittenProblem } from './virtual-machine-problem.js';

/** An interface that should get an address. */
export interface WantedInterface {
  /** The name in the virtual machine. */
  readonly name: string;
  /** `namespace/name` of its NetworkAttachmentDefinition. */
  readonly networkName: string;
  readonly macAddress: MacAddress;
  /** The wanted address, in canonical form; any if absent. */
  readonly ipAddress?: string;
  /** The annotation with the wanted address. */
  readonly pinnedBy?: WrittenPlace;
}

/** The knowledge about a virtual machine besides its own object. */
export interface MachineKnowledge extends Pick<InterfaceKnowledge, 'instance' | 'remembered'> {
  /** Returns true if a pool has recorded an address for this MAC address on this network. Default: false. */
  readonly hasAddress?: ((networkName: string, macAddress: MacAddress) => boolean) | undefined;
  /** The addresses that pools record for it on networks where no machine has them now, for a machine without a VirtualMachineNetworkConfig. Default: none. */
  readonly recordedElsewhere?: (() => readonly NetworkConfig[]) | undefined;
  /** Default: none is known. */
  readonly networks?: NetworkKnowledge | undefined;
  /** UID of the instance that was last seen with this network and MAC address (`identityOf`); undefined if it is not known. Default: never known. */
  readonly lastInstanceOn?: ((identity: string) => string | undefined) | undefined;
  /** Milliseconds since 1970; default: the time is not known, and every former network of a running guest is kept. */
  readonly nowMs?: number | undefined;
}

/** Networks by `namespace/name`. */
export interface NetworkKnowledge {
  /** The NetworkAttachmentDefinition; undefined if it does not exist. */
  readonly definition: (networkName: string) => KubernetesObject | undefined;
  /** True if an IPPool serves the network. */
  readonly isServed: (networkName: string) => boolean;
}

export interface WantedInterfaces {
  /** Sorted by name. Undefined if not known, so that existing entries stay as they are. */
  readonly interfaces: readonly WantedInterface[] | undefined;
  /** Name to network of wanted interfaces without a MAC address: their existing entries stay. */
  readonly awaited: ReadonlyMap<string, string>;
  /** Interfaces whose wanted address cannot be read: their existing entries stay, and they get no new ones. */
  readonly held: readonly WantedInterface[];
  readonly problems: readonly WrittenProblem[];
}

const NONE: ReadonlyMap<string, string> = new Map();
/** The maximum length of a network name in the CRD. */
const LONGEST_NETWORK_NAME = 64;

/** Reads any object; an invalid part is a problem. Never throws. */
export function wantedInterfaces(virtualMachine: KubernetesObject, knowledge: MachineKnowledge = {}): WantedInterfaces {
  const problems: WrittenProblem[] = [];
  const { instance, remembered } = knowledge;
  const machine = machineInterfaces(virtualMachine, { instance, remembered });
  if (machine.interfaces === undefined) {
    const fault = 'the virtual machine has no spec.template.spec, so its interfaces are unknown';
    const field = { place: { part: 'template', name: '' }, value: undefined, fault, remedy: 'add it' } as const;
    return { interfaces: undefined, awaited: NONE, held: [], problems: [toProblem('template-missing', field)] };
  }
  const networks = servableNetworks(machine.interfaces.values(), problems);
  const annotations = readTexts(virtualMachine.metadata, 'annotations');
  const macAddresses = new Map([...machine.interfaces].map(([name, { macAddress }]) => [name, macAddress?.text]));
  if (!machine.isAnnotationReadable) {
    problems.push(unreadableAnnotation(annotations[MAC_ADDRESS_ANNOTATION]));
    const isNeeded = [...networks.keys()].some((name) => macAddresses.get(name) === undefined);
    if (isNeeded) return { interfaces: undefined, awaited: NONE, held: [], problems };
  }
  const optedOut = readOptOut(annotations[DHCP_OPT_OUT_ANNOTATION], networks, problems);
  const pins = new PinnedAddresses(virtualMachine, problems);
  const held: WantedInterface[] = [];
  const wanted = [...networks].flatMap(([name, networkName]): WantedInterface[] => {
    const text = macAddresses.get(name);
    if (text === undefined || optedOut(name)) return [];
    const macAddress = parseMacAddress(text);
    if (macAddress !== undefined) {
      const one = { name, networkName, macAddress };
      const { kind, ...pinned } = pins.of(name);
      if (kind === 'unreadable') held.push(one);
      return kind === 'unreadable' ? [] : [{ ...one, ...pinned }];
    }
    const fault = `interface ${quote(name)}: ${quote(text)} is not a MAC address`;
    const remedy = 'write six hexadecimal octets, as in 02:00:5e:10:00:01';
    problems.push(toProblem('mac-address-unreadable', { place: { part: 'interface', name }, value: text, fault, remedy }));
    return [];
  });
  reportUnknownInterfaces(annotations, networks, problems);
  reportUnknownPins(pins.named(), machine.interfaces, problems);
  const awaited = [...networks].filter(([name]) => macAddresses.get(name) === undefined && !optedOut(name));
  return { interfaces: distinct(wanted, problems), awaited: new Map(awaited), held, problems };
}

function annotationNamed(name: string): WrittenPlace {
  return { part: 'annotation', name };
}

function unreadableAnnotation(value: string | undefined): WrittenProblem {
  const fault = `annotation ${MAC_ADDRESS_ANNOTATION} is not a JSON object of interface names and MAC addresses`;
  const field = { place: annotationNamed(MAC_ADDRESS_ANNOTATION), value };
  return toProblem('mac-address-annotation-unreadable', { ...field, fault, remedy: 'correct or remove it' });
}

/** Interface name to `namespace/name` of its network, for interfaces on Multus networks. */
function servableNetworks(interfaces: Iterable<MachineInterface>, problems: WrittenProblem[]): Map<string, string> {
  const networks = new Map<string, string>();
  for (const { name, networkName, writtenNetwork, rememberedNetwork } of interfaces) {
    const isTooLong = networkName !== undefined && networkName.length > LONGEST_NETWORK_NAME;
    if (isTooLong) problems.push(tooLongName(name, networkName, writtenNetwork));
    const servable = rememberedNetwork ?? (isTooLong ? undefined : networkName);
    if (servable !== undefined) networks.set(name, servable);
  }
  return networks;
}

function tooLongName(name: string, networkName: string, value: unknown): WrittenProblem {
  const fault = `interface ${quote(name)}: ${quote(networkName)} is longer than ${LONGEST_NETWORK_NAME} characters and gets no address`;
  const remedy = 'create the NetworkAttachmentDefinition with a shorter name';
  return toProblem('network-name-too-long', { place: { part: 'network', name }, value, fault, remedy });
}

/** The maximum number of wrong names in an annotation that are reported separately; the others are left out. */
const MOST_NAMED = 10;

function readOptOut(
  annotation: string | undefined,
  networks: ReadonlyMap<string, string>,
  problems: WrittenProblem[],
): (name: string) => boolean {
  if (annotation === undefined || annotation === 'false') return () => false;
  if (annotation === 'true') return () => true;
  const names = new Set(annotation.split(',').map((name) => name.trim()));
  const known = listOf(networks);
  for (const name of [...names].filter((one) => !networks.has(one)).slice(0, MOST_NAMED)) {
    const fault = `annotation ${DHCP_OPT_OUT_ANNOTATION} names ${quote(name)}, which is not an interface on a Multus network`;
    const field = { place: annotationNamed(DHCP_OPT_OUT_ANNOTATION), value: annotation, fault };
    problems.push(toProblem('opt-out-without-interface', { ...field, remedy: `write 'true' or names of ${known}` }));
  }
  return (name) => names.has(name);
}

function reportUnknownInterfaces(
  annotations: Readonly<Record<string, string>>,
  networks: ReadonlyMap<string, string>,
  problems: WrittenProblem[],
): void {
  const names = Object.keys(annotations).flatMap((key) =>
    key.startsWith(STATIC_IP_ANNOTATION_PREFIX) ? [key.slice(STATIC_IP_ANNOTATION_PREFIX.length)] : [],
  );
  const known = listOf(networks);
  for (const name of names.filter((one) => !networks.has(one))) {
    const key = `${STATIC_IP_ANNOTATION_PREFIX}${name}`;
    const fault = `annotation ${key} is of no use: ${quote(name)} is not an interface on a Multus network`;
    const field = { place: annotationNamed(key), value: annotations[key], fault, remedy: `there are ${known}` };
    problems.push(toProblem('static-address-without-interface', field));
  }
}

/** Other programs may pin addresses on the pod network: only names of no interface at all are wrong. */
function reportUnknownPins(
  { names, place }: ReturnType<PinnedAddresses['named']>,
  interfaces: ReadonlyMap<string, unknown>,
  problems: WrittenProblem[],
): void {
  const known = interfaces.size === 0 ? 'none' : describeNames([...interfaces.keys()].toSorted());
  for (const name of names.filter((one) => !interfaces.has(one)).slice(0, MOST_NAMED)) {
    const fault = `annotation ${ADDRESSES_ANNOTATION} names ${quote(name)}, which is not an interface of the virtual machine`;
    const field = { place, value: name, fault, remedy: `there are ${known}` };
    problems.push(toProblem('static-address-without-interface', field));
  }
}

/** One interface for each network and MAC address, in order of names. */
function distinct(wanted: readonly WantedInterface[], problems: WrittenProblem[]): WantedInterface[] {
  const byIdentity = new Map<string, WantedInterface>();
  for (const one of wanted.toSorted((a, b) => compareText(a.name, b.name))) {
    const identity = `${one.networkName} ${one.macAddress}`;
    const former = byIdentity.get(identity);
    if (former === undefined) byIdentity.set(identity, one);
    else {
      const fault = `interfaces ${former.name} and ${one.name} have the same MAC address ${one.macAddress} on ${one.networkName}`;
      const field = {
        place: { part: 'interface', name: one.name },
        value: one.macAddress,
        fault,
        remedy: 'change one of them',
      } as const;
      problems.push(toProblem('mac-address-twice', field));
    }
  }
  return [...byIdentity.values()];
}

function listOf(networks: ReadonlyMap<string, string>): string {
  return networks.size === 0 ? 'none' : describeNames([...networks.keys()].toSorted());
}
