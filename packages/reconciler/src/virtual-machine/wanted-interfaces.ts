/**
 * Which interfaces of a virtual machine shall have addresses.
 *
 * While the virtual machine runs, interfaces and networks are those of the VirtualMachineInstance; what changes in the virtual machine's
 * template counts for the next start. A MAC address comes from the first of these that has one:
 *
 * - while it runs: the instance's status, its spec, the annotation, what is remembered, the template;
 * - else: the template, the annotation, what is remembered;
 * - if the controller does not know whether it runs: what is remembered, the template, the annotation.
 */
import { formatIpv4Address, type MacAddress, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { DHCP_OPT_OUT_ANNOTATION, MAC_ADDRESS_ANNOTATION, networkKey, STATIC_IP_ANNOTATION_PREFIX } from '@vmdhcp/ippool-api';
import {
  compareText,
  describeNames,
  isRecord,
  type KubernetesObject,
  quote,
  readField,
  readList,
  readText,
  readTexts,
} from '@vmdhcp/kube-runtime';

import { NOTHING_REMEMBERED, type RememberedInterfaces } from './remembered-interfaces.js';
import type { RunningInstance } from './running-instance.js';

/** An interface that shall have an address. */
export interface WantedInterface {
  /** As the virtual machine names it. */
  readonly name: string;
  /** `namespace/name` of its NetworkAttachmentDefinition. */
  readonly networkName: string;
  readonly macAddress: MacAddress;
  /** The address it shall have, in canonical form; any if absent. */
  readonly ipAddress?: string;
}

export type VirtualMachineProblemReason =
  | 'template-missing'
  | 'mac-address-annotation-unreadable'
  | 'mac-address-unreadable'
  | 'mac-address-twice'
  | 'static-address-unreadable'
  | 'static-address-without-interface'
  | 'opt-out-without-interface'
  | 'network-name-too-long'
  | 'too-many-interfaces'
  | 'virtual-machine-instances-unreadable'
  | 'virtual-machine-instance-unseen';

/** Something about a virtual machine that its owner should put right. */
export interface VirtualMachineProblem {
  readonly reason: VirtualMachineProblemReason;
  /** What is wrong, where, and what to do. */
  readonly message: string;
}

/** A part of a virtual machine by name: where it stands in a list depends on which version of the object is looked at. */
export interface WrittenPlace {
  readonly part: 'annotation' | 'interface' | 'network' | 'template';
  /** Key of the annotation, name of the interface or network; empty for the template. */
  readonly name: string;
}

/** The same where it is something that the owner wrote into the virtual machine. */
export interface WrittenProblem extends VirtualMachineProblem {
  readonly place: WrittenPlace;
  readonly value: unknown;
  /** The message without the remedy. */
  readonly fault: string;
  readonly remedy: string;
}

/** What is known of a virtual machine besides its own object. */
export interface MachineKnowledge {
  /**
   * The instance; undefined: none runs. One may run if its state is `unreadable` (the controller is not permitted to look), or
   * `unseen` (the virtual machine reports that there is one, and the controller has not seen it yet).
   */
  readonly instance?: RunningInstance | 'unreadable' | 'unseen' | undefined;
  /** Default: nothing. */
  readonly remembered?: RememberedInterfaces | undefined;
  /** True if a pool has recorded an address for this MAC address on this network. Default: none has. */
  readonly hasAddress?: ((networkName: string, macAddress: MacAddress) => boolean) | undefined;
}

export interface WantedInterfaces {
  /** Sorted by name. Undefined: not known, so that existing entries stay as they are. */
  readonly interfaces: readonly WantedInterface[] | undefined;
  /** Name to network of interfaces that shall have an address, and have no MAC address yet: what is there for them stays. */
  readonly awaited: ReadonlyMap<string, string>;
  readonly problems: readonly WrittenProblem[];
}

const NONE: ReadonlyMap<string, string> = new Map();
/** As long as the CRD lets the name of a network be. */
const LONGEST_NETWORK_NAME = 64;

/** Reads any object; what makes no sense is a problem. Never throws. */
export function wantedInterfaces(virtualMachine: KubernetesObject, knowledge: MachineKnowledge = {}): WantedInterfaces {
  const problems: WrittenProblem[] = [];
  const template = readField(virtualMachine.spec, 'template', 'spec');
  const shape = isRunning(knowledge.instance) ? knowledge.instance.spec : template;
  if (!isRecord(shape)) {
    const fault = 'the virtual machine has no spec.template.spec, so its interfaces are unknown';
    const field = { place: { part: 'template', name: '' }, value: undefined, fault, remedy: 'add it' } as const;
    return { interfaces: undefined, awaited: NONE, problems: [toProblem('template-missing', field)] };
  }
  const networks = readNetworks(shape, virtualMachine.metadata.namespace, problems);
  if (isUncertain(knowledge.instance)) addRemembered(networks, knowledge.remembered);
  const annotations = readTexts(virtualMachine.metadata, 'annotations');
  const macAddresses = readMacAddresses({ annotations, template, networks, knowledge }, problems);
  if (macAddresses === undefined) return { interfaces: undefined, awaited: NONE, problems };
  const optedOut = readOptOut(annotations[DHCP_OPT_OUT_ANNOTATION], networks, problems);
  const wanted = [...networks].flatMap(([name, networkName]): WantedInterface[] => {
    const text = macAddresses.get(name);
    if (text === undefined || optedOut(name)) return [];
    const macAddress = parseMacAddress(text);
    if (macAddress !== undefined) return [{ name, networkName, macAddress, ...staticAddress(annotations, name, problems) }];
    const fault = `interface ${quote(name)}: ${quote(text)} is no MAC address`;
    const remedy = 'write six hexadecimal octets, as in 02:00:5e:10:00:01';
    problems.push(toProblem('mac-address-unreadable', { place: { part: 'interface', name }, value: text, fault, remedy }));
    return [];
  });
  reportUnknownInterfaces(annotations, networks, problems);
  const awaited = [...networks].filter(([name]) => !macAddresses.has(name) && !optedOut(name));
  return { interfaces: distinct(wanted, problems), awaited: new Map(awaited), problems };
}

function toProblem(
  reason: VirtualMachineProblemReason,
  field: Pick<WrittenProblem, 'place' | 'value' | 'fault' | 'remedy'>,
): WrittenProblem {
  return { reason, ...field, message: `${field.fault}; ${field.remedy}` };
}

function annotationNamed(name: string): WrittenPlace {
  return { part: 'annotation', name };
}

function isRunning(instance: MachineKnowledge['instance']): instance is RunningInstance {
  return typeof instance === 'object';
}

/** True if an instance may run, and its interfaces are not known. */
export function isUncertain(instance: MachineKnowledge['instance']): instance is 'unreadable' | 'unseen' {
  return typeof instance === 'string';
}

/** The instance may still have these interfaces, whatever the template has by now. */
function addRemembered(networks: Map<string, string>, remembered: RememberedInterfaces = NOTHING_REMEMBERED): void {
  for (const [name, { networkName }] of remembered) networks.set(name, networkName);
}

interface MacAddressSources {
  readonly annotations: Readonly<Record<string, string>>;
  readonly template: unknown;
  readonly networks: ReadonlyMap<string, string>;
  readonly knowledge: MachineKnowledge;
}

/** Interface name to MAC address as it is written; undefined where an annotation that is needed cannot be read. */
function readMacAddresses(
  { annotations, template, networks, knowledge: { instance, remembered = NOTHING_REMEMBERED } }: MacAddressSources,
  problems: WrittenProblem[],
): Map<string, string> | undefined {
  const parsed = parseMacAddressAnnotation(annotations[MAC_ADDRESS_ANNOTATION]);
  const fromAnnotation = parsed ?? [];
  const fromTemplate = templateMacAddresses(template);
  const fromMemory = [...remembered].flatMap(([name, { networkName, macAddress }]): [string, string][] =>
    networks.get(name) === networkName ? [[name, macAddress]] : [],
  );
  // What comes last counts.
  const found = new Map(
    isRunning(instance)
      ? [...fromTemplate, ...fromMemory, ...fromAnnotation, ...instance.macAddresses]
      : isUncertain(instance)
        ? [...fromAnnotation, ...fromTemplate, ...fromMemory]
        : [...fromMemory, ...fromAnnotation, ...fromTemplate],
  );
  if (parsed !== undefined) return found;
  const fault = `annotation ${MAC_ADDRESS_ANNOTATION} is no JSON object of interface names and MAC addresses`;
  const field = { place: annotationNamed(MAC_ADDRESS_ANNOTATION), value: annotations[MAC_ADDRESS_ANNOTATION] };
  problems.push(toProblem('mac-address-annotation-unreadable', { ...field, fault, remedy: 'correct or remove it' }));
  return [...networks.keys()].every((name) => found.has(name)) ? found : undefined;
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

/** Interface name to `namespace/name` of its network, of those on Multus networks. */
function readNetworks(template: unknown, namespace: string | undefined, problems: WrittenProblem[]): Map<string, string> {
  const interfaces = new Set(readList(template, 'domain', 'devices', 'interfaces').map((entry) => readText(entry, 'name')));
  const networks = new Map<string, string>();
  for (const entry of readList(template, 'networks')) {
    const name = readText(entry, 'name');
    const networkName = readText(entry, 'multus', 'networkName');
    if (!name || !networkName || !interfaces.has(name)) continue;
    const key = networkKey(networkName, namespace);
    if (key.length <= LONGEST_NETWORK_NAME) networks.set(name, key);
    else {
      const fault = `interface ${quote(name)}: ${quote(key)} is longer than ${LONGEST_NETWORK_NAME} characters and gets no address`;
      const remedy = 'create the NetworkAttachmentDefinition with a shorter name';
      problems.push(toProblem('network-name-too-long', { place: { part: 'network', name }, value: networkName, fault, remedy }));
    }
  }
  return networks;
}

function readOptOut(
  annotation: string | undefined,
  networks: ReadonlyMap<string, string>,
  problems: WrittenProblem[],
): (name: string) => boolean {
  if (annotation === undefined || annotation === 'false') return () => false;
  if (annotation === 'true') return () => true;
  const names = new Set(annotation.split(',').map((name) => name.trim()));
  const known = listOf(networks);
  for (const name of [...names].filter((one) => !networks.has(one))) {
    const fault = `annotation ${DHCP_OPT_OUT_ANNOTATION} names ${quote(name)}, which is no interface on a Multus network`;
    const field = { place: annotationNamed(DHCP_OPT_OUT_ANNOTATION), value: annotation, fault };
    problems.push(toProblem('opt-out-without-interface', { ...field, remedy: `write 'true' or names of ${known}` }));
  }
  return (name) => names.has(name);
}

function staticAddress(
  annotations: Readonly<Record<string, string>>,
  name: string,
  problems: WrittenProblem[],
): { readonly ipAddress?: string } {
  const text = annotations[`${STATIC_IP_ANNOTATION_PREFIX}${name}`];
  if (text === undefined) return {};
  const address = parseIpv4Address(text.trim());
  if (address !== undefined && address !== 0) return { ipAddress: formatIpv4Address(address) };
  const key = `${STATIC_IP_ANNOTATION_PREFIX}${name}`;
  const fault = `annotation ${key}: ${quote(text)} is no IPv4 address`;
  const remedy = 'the interface gets any address until it is corrected';
  problems.push(toProblem('static-address-unreadable', { place: annotationNamed(key), value: text, fault, remedy }));
  return {};
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
    const fault = `annotation ${key} is of no use: ${quote(name)} is no interface on a Multus network`;
    const field = { place: annotationNamed(key), value: annotations[key], fault, remedy: `there are ${known}` };
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
