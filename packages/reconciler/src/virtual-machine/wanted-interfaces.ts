/** Which interfaces of a virtual machine shall have addresses, by what its spec and annotations say. */
import { formatIpv4Address, type MacAddress, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { DHCP_OPT_OUT_ANNOTATION, MAC_ADDRESS_ANNOTATION, networkKey, STATIC_IP_ANNOTATION_PREFIX } from '@vmdhcp/ippool-api';
import { describeNames } from '../object/describe-problems.js';
import { compareText, type KubernetesObject } from '../object/kubernetes-object.js';
import { quote } from '../object/quote.js';
import { isRecord, readField, readList, readText } from '../object/read-field.js';

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
  | 'too-many-interfaces';

/** Something about a virtual machine that its owner should put right. */
export interface VirtualMachineProblem {
  readonly reason: VirtualMachineProblemReason;
  /** What is wrong, where, and what to do. */
  readonly message: string;
}

export interface WantedInterfaces {
  /** Sorted by name. Undefined: nobody can tell, so that what there is stays as it is. */
  readonly interfaces: readonly WantedInterface[] | undefined;
  /** Networks of interfaces whose MAC address nobody knows at the moment: what is there for them stays. */
  readonly networksOfUnknown: ReadonlySet<string>;
  readonly problems: readonly VirtualMachineProblem[];
}

const NONE: ReadonlySet<string> = new Set();
/** As long as the CRD lets the name of a network be. */
const LONGEST_NETWORK_NAME = 64;
/** Annotations can name thousands; the first few show what is wrong. */
const MOST_UNKNOWN_NAMES = 4;

/** Reads any object; what makes no sense is a problem. Never throws. */
export function wantedInterfaces(virtualMachine: KubernetesObject): WantedInterfaces {
  const problems: VirtualMachineProblem[] = [];
  const template = readField(virtualMachine.spec, 'template', 'spec');
  if (!isRecord(template)) {
    const message = 'the virtual machine has no spec.template.spec, so its interfaces are unknown; add it';
    return { interfaces: undefined, networksOfUnknown: NONE, problems: [{ reason: 'template-missing', message }] };
  }
  const macAddresses = readMacAddresses(virtualMachine, template, problems);
  if (macAddresses === undefined) return { interfaces: undefined, networksOfUnknown: NONE, problems };
  const networks = readNetworks(template, virtualMachine.metadata.namespace, problems);
  const annotations = virtualMachine.metadata.annotations ?? {};
  const optedOut = readOptOut(annotations[DHCP_OPT_OUT_ANNOTATION], networks, problems);
  const wanted = [...networks].flatMap(([name, networkName]): WantedInterface[] => {
    const text = macAddresses.get(name);
    if (text === undefined || optedOut(name)) return [];
    const macAddress = parseMacAddress(text);
    if (macAddress !== undefined) return [{ name, networkName, macAddress, ...staticAddress(annotations, name, problems) }];
    problems.push({
      reason: 'mac-address-unreadable',
      message: `interface ${quote(name)}: ${quote(text)} is no MAC address; write six hexadecimal octets, as in 02:00:5e:10:00:01`,
    });
    return [];
  });
  reportUnknownInterfaces(annotations, networks, problems);
  const unknown = [...networks].filter(([name]) => !macAddresses.has(name) && !optedOut(name));
  return { interfaces: distinct(wanted, problems), networksOfUnknown: new Set(unknown.map(([, network]) => network)), problems };
}

/** Interface name to MAC address as it is written; undefined where an annotation that is needed cannot be read. */
function readMacAddresses(
  { metadata }: KubernetesObject,
  template: unknown,
  problems: VirtualMachineProblem[],
): Map<string, string> | undefined {
  const fromSpec = new Map<string, string>();
  let someAreMissing = false;
  for (const entry of readList(template, 'domain', 'devices', 'interfaces')) {
    const name = readText(entry, 'name');
    const macAddress = readText(entry, 'macAddress');
    if (name === undefined) continue;
    if (macAddress) fromSpec.set(name, macAddress);
    else someAreMissing = true;
  }
  const fromAnnotation = parseMacAddressAnnotation(metadata.annotations?.[MAC_ADDRESS_ANNOTATION]);
  if (fromAnnotation === undefined) {
    problems.push({
      reason: 'mac-address-annotation-unreadable',
      message: `annotation ${MAC_ADDRESS_ANNOTATION} is no JSON object of interface names and MAC addresses; correct or remove it`,
    });
    if (someAreMissing) return undefined;
  }
  return new Map([...(fromAnnotation ?? []), ...fromSpec]);
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
function readNetworks(template: unknown, namespace: string | undefined, problems: VirtualMachineProblem[]): Map<string, string> {
  const interfaces = new Set(readList(template, 'domain', 'devices', 'interfaces').map((entry) => readText(entry, 'name')));
  const networks = new Map<string, string>();
  for (const entry of readList(template, 'networks')) {
    const name = readText(entry, 'name');
    const networkName = readText(entry, 'multus', 'networkName');
    if (!name || !networkName || !interfaces.has(name)) continue;
    const key = networkKey(networkName, namespace);
    if (key.length <= LONGEST_NETWORK_NAME) networks.set(name, key);
    else {
      const message = `interface ${quote(name)}: ${quote(key)} is longer than ${LONGEST_NETWORK_NAME} characters and gets no address; give the NetworkAttachmentDefinition a shorter name`;
      problems.push({ reason: 'network-name-too-long', message });
    }
  }
  return networks;
}

function readOptOut(
  annotation: string | undefined,
  networks: ReadonlyMap<string, string>,
  problems: VirtualMachineProblem[],
): (name: string) => boolean {
  if (annotation === undefined || annotation === 'false') return () => false;
  if (annotation === 'true') return () => true;
  const names = new Set(annotation.split(',').map((name) => name.trim()));
  for (const name of [...names].filter((one) => !networks.has(one)).slice(0, MOST_UNKNOWN_NAMES)) {
    problems.push({
      reason: 'opt-out-without-interface',
      message: `annotation ${DHCP_OPT_OUT_ANNOTATION} names ${quote(name)}, which is no interface on a Multus network; write 'true' or names of ${listOf(networks)}`,
    });
  }
  return (name) => names.has(name);
}

function staticAddress(
  annotations: Readonly<Record<string, string>>,
  name: string,
  problems: VirtualMachineProblem[],
): { readonly ipAddress?: string } {
  const text = annotations[`${STATIC_IP_ANNOTATION_PREFIX}${name}`];
  if (text === undefined) return {};
  const address = parseIpv4Address(text.trim());
  if (address !== undefined && address !== 0) return { ipAddress: formatIpv4Address(address) };
  problems.push({
    reason: 'static-address-unreadable',
    message: `annotation ${STATIC_IP_ANNOTATION_PREFIX}${name}: ${quote(text)} is no IPv4 address; the interface gets any address until it is corrected`,
  });
  return {};
}

function reportUnknownInterfaces(
  annotations: Readonly<Record<string, string>>,
  networks: ReadonlyMap<string, string>,
  problems: VirtualMachineProblem[],
): void {
  const names = Object.keys(annotations).flatMap((key) =>
    key.startsWith(STATIC_IP_ANNOTATION_PREFIX) ? [key.slice(STATIC_IP_ANNOTATION_PREFIX.length)] : [],
  );
  for (const name of names.filter((one) => !networks.has(one)).slice(0, MOST_UNKNOWN_NAMES)) {
    problems.push({
      reason: 'static-address-without-interface',
      message: `annotation ${STATIC_IP_ANNOTATION_PREFIX}${name} is of no use: ${quote(name)} is no interface on a Multus network; there are ${listOf(networks)}`,
    });
  }
}

/** One interface for each network and MAC address, in order of names. */
function distinct(wanted: readonly WantedInterface[], problems: VirtualMachineProblem[]): WantedInterface[] {
  const byIdentity = new Map<string, WantedInterface>();
  for (const one of wanted.toSorted((a, b) => compareText(a.name, b.name))) {
    const identity = `${one.networkName} ${one.macAddress}`;
    const former = byIdentity.get(identity);
    if (former === undefined) byIdentity.set(identity, one);
    else {
      problems.push({
        reason: 'mac-address-twice',
        message: `interfaces ${former.name} and ${one.name} have the same MAC address ${one.macAddress} on ${one.networkName}; give one of them another`,
      });
    }
  }
  return [...byIdentity.values()];
}

function listOf(networks: ReadonlyMap<string, string>): string {
  return networks.size === 0 ? 'none' : describeNames([...networks.keys()].toSorted());
}
