/** Reads the claims of a VirtualMachineNetworkConfig, interface by interface. */
import { type Ipv4Address, type MacAddress, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { networkKey } from '@vmdhcp/ippool-api/agent';
import { isBeingDeleted, type KubernetesObject, keyOf, quote, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { type Explanation, sentenceOf } from '../explanation.js';
import type { PersistentMap } from '../pool/persistent-map.js';
import { readLeavingNetworks } from '../virtual-machine/leaving-networks.js';
import { readRememberedInterfaces } from '../virtual-machine/remembered-interfaces.js';

/** What one interface wants: a network, and an address or any. */
export interface InterfaceClaim {
  /** `namespace/name` of a NetworkAttachmentDefinition. */
  readonly network: string;
  readonly macAddress: MacAddress;
  /** The wanted address. */
  readonly wanted?: Ipv4Address;
  /** Its last address, according to its own record. */
  readonly previous?: Ipv4Address;
  /** True if according to its own record it has `previous` now, not only in the past. */
  readonly holdsPrevious?: true;
  /** Former MAC addresses of the same interface, under which its address may still be recorded. */
  readonly replaces?: readonly MacAddress[];
  /** True if its guest is leaving the network: it keeps what is recorded, and gets nothing new. */
  readonly isLeaving?: true;
}

/** An entry of the spec that cannot be met. */
interface UnreadableInterface {
  readonly network: string;
  /** The text of the entry. */
  readonly macAddress: string;
  readonly reason: 'mac-address-unreadable' | 'address-unreadable' | 'network-name-missing';
  readonly message: string;
}

/** The same, with the field. */
export interface UnreadableField extends Pick<UnreadableInterface, 'network' | 'macAddress' | 'reason'>, Explanation {
  readonly field: 'networkName' | 'macAddress' | 'ipAddress';
  readonly value: string;
}

/** What the interfaces of a network config want, and what of it cannot be read. */
export interface NetworkConfigClaims {
  readonly key: string;
  readonly createdAt: string;
  /** Empty while it is paused or being deleted: its addresses are free for others. */
  readonly claims: readonly InterfaceClaim[];
  readonly unreadable: readonly UnreadableInterface[];
}

/** The claims on one network, by the key of their config. */
export type NetworkClaims = PersistentMap<string, NetworkConfigClaims>;

/** Reads any object; an invalid entry does not affect the others. Never throws. */
export function readNetworkConfigClaims(object: KubernetesObject): NetworkConfigClaims {
  const { namespace = '', creationTimestamp = '' } = object.metadata;
  const base = { key: keyOf(object), createdAt: creationTimestamp };
  if (isBeingDeleted(object) || readField(object.spec, 'paused') === true) return { ...base, claims: [], unreadable: [] };
  const claims: InterfaceClaim[] = [];
  const unreadable: UnreadableInterface[] = [];
  const previous = previousAddresses(object, namespace);
  const replacedBy = replacedMacAddresses(object);
  const leaving = readLeavingNetworks(object);
  for (const entry of readList(object.spec, 'networkConfigs')) {
    const read = readInterfaceEntry(entry, namespace);
    if ('reason' in read) {
      const { network, macAddress, reason } = read;
      unreadable.push({ network, macAddress, reason, message: sentenceOf(read) });
    } else {
      const isLeaving = leaving.has(`${readText(entry, 'networkName')} ${read.macAddress}`);
      const claim = isLeaving ? { ...read, isLeaving } : read;
      claims.push(withPrevious(claim, previous, replacedBy.get(identity(read))));
    }
  }
  return { ...base, claims, unreadable };
}

/** The claim of one entry of `spec.networkConfigs`, or why it cannot be met. */
export function readInterfaceEntry(entry: unknown, namespace: string): InterfaceClaim | UnreadableField {
  const networkName = readText(entry, 'networkName') ?? '';
  const macText = readText(entry, 'macAddress') ?? '';
  const ipText = readText(entry, 'ipAddress') ?? '';
  const network = networkName === '' ? '' : networkKey(networkName, namespace);
  const unreadable = (
    field: UnreadableField['field'],
    value: string,
    why: Pick<UnreadableField, 'reason' | 'message' | 'remedy'>,
  ): UnreadableField => ({ network, macAddress: macText, field, value, ...why });
  if (networkName === '') {
    const why = { message: 'an interface names no network', remedy: 'set networkName' };
    return unreadable('networkName', networkName, { reason: 'network-name-missing', ...why });
  }
  const macAddress = parseMacAddress(macText);
  if (macAddress === undefined) {
    const message = `${quote(macText)} is not a MAC address`;
    const remedy = 'write six hexadecimal octets, as in 02:00:5e:10:00:01';
    return unreadable('macAddress', macText, { reason: 'mac-address-unreadable', message, remedy });
  }
  const wanted = ipText === '' ? 0 : parseIpv4Address(ipText);
  if (wanted === undefined) {
    const message = `ipAddress ${quote(ipText)} of ${macAddress} is not an IPv4 address`;
    return unreadable('ipAddress', ipText, { reason: 'address-unreadable', message, remedy: 'correct or remove it' });
  }
  return { network, macAddress, ...(wanted !== 0 && { wanted }) };
}

type PreviousAddress = Pick<InterfaceClaim, 'previous' | 'holdsPrevious'>;

/** By network and MAC address: the current or last address of each interface in the status. */
function previousAddresses({ status }: KubernetesObject, namespace: string): Map<string, PreviousAddress> {
  const addresses = new Map<string, PreviousAddress>();
  for (const entry of readList(status, 'networkConfigs')) {
    const macAddress = parseMacAddress(readText(entry, 'macAddress') ?? '');
    const previous = parseIpv4Address(readText(entry, 'allocatedIPAddress') ?? '');
    const networkName = readText(entry, 'networkName');
    if (macAddress === undefined || previous === undefined || !networkName) continue;
    const holds = readText(entry, 'state') === 'Allocated' && { holdsPrevious: true as const };
    addresses.set(identity({ network: networkKey(networkName, namespace), macAddress }), { previous, ...holds });
  }
  return addresses;
}

/** By network and MAC address: former MAC addresses of the same interface. */
function replacedMacAddresses(object: KubernetesObject): Map<string, readonly MacAddress[]> {
  const remembered = [...readRememberedInterfaces(object).values()];
  return new Map(remembered.map((one) => [identity({ ...one, network: one.networkName }), one.replaces]));
}

function withPrevious(
  claim: InterfaceClaim,
  addresses: ReadonlyMap<string, PreviousAddress>,
  replaces: readonly MacAddress[] = [],
): InterfaceClaim {
  for (const macAddress of [claim.macAddress, ...replaces.toReversed()]) {
    const had = addresses.get(identity({ network: claim.network, macAddress }));
    if (had !== undefined) return { ...claim, ...had, ...(replaces.length > 0 && { replaces }) };
  }
  return claim;
}

function identity({ network, macAddress }: Pick<InterfaceClaim, 'network' | 'macAddress'>): string {
  return `${network} ${macAddress}`;
}
