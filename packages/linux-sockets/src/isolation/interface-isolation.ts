/**
 * Isolates interfaces to untrusted networks from each other and from the host's other networks. Packets from such an interface reach only the
 * addresses that `openPath` names:
 *
 * - Routing rules by the incoming interface drop the rest, for IPv4 and IPv6. They stand before the rule for the host's own addresses,
 *   which Linux would otherwise accept on every interface, and they hold whatever the kernel settings are or become.
 * - The interface's own settings agree: no forwarding, no redirects, ARP for addresses of this interface only.
 * - It has neither addresses nor routes of IPv6: before the rules stood, a host on that network could have advertised itself as a router.
 *
 * Only for network namespaces that belong to the process, as containers have them: the order of rules changes for all interfaces.
 */

import type { LinkAddress } from '../addresses/address-message.js';
import type { Ipv4Number } from '../ethernet/mac-address.js';
import * as libc from '../libc/libc.js';
import {
  type Ipv4Setting,
  type Ipv4Settings,
  readIpv4Settings,
  readSourceCheckOfAll,
  writeIpv4Settings,
} from '../links/ipv4-settings.js';
import { Netlink } from '../netlink/netlink.js';
import { NetlinkError } from '../netlink/netlink-error.js';
import {
  addRoute,
  addRule,
  deleteRoute,
  deleteRule,
  type RoutingRule,
  TABLE_LOCAL,
  TABLE_MAIN,
} from '../routes/routing-rules.js';
import { removeIpv6 } from './ipv6-removal.js';

/** Priorities of the rules. The first and the third belong to one address each, the second to one interface. */
const TO_ADDRESS = 800;
const DROP = 900;
/** Before the rule for the host's own addresses: a host on one network may have the address that we have on another. */
const FROM_ADDRESS = 950;
const LOCAL = 1_000;
/** After the tables main and default. */
const LAST = 40_000;
/** Where the kernel itself puts the rule for the host's own addresses. */
const LOCAL_BEFORE = 0;

/** For destinations without a route in any other table. */
const TABLE_LAST = 670_000_000;
/** Plus the index of the interface. */
const TABLE_OF_INTERFACE = 670_000_001;

/** Families that the kernel may have been built or started without. */
const ABSENT_FAMILY: ReadonlySet<string> = new Set(['EAFNOSUPPORT', 'EOPNOTSUPP', 'EPROTONOSUPPORT']);

const SETTINGS: Omit<Ipv4Settings, 'rp_filter'> = {
  forwarding: 0,
  proxy_arp: 0,
  proxy_arp_pvlan: 0,
  accept_redirects: 0,
  send_redirects: 0,
  accept_source_route: 0,
  // For broadcasts of a host that has our address on another network.
  accept_local: 1,
  route_localnet: 0,
  arp_filter: 0,
  arp_announce: 2,
  arp_ignore: 1,
};

/** An interface by name and index; the index changes when it is created again. */
export interface Link {
  readonly interfaceName: string;
  readonly interfaceIndex: number;
}

/** An address of the host, and the interface that has it. */
export interface InterfaceAddress extends Link, LinkAddress {
  readonly address: Ipv4Number;
}

/**
 * Moves the rule for the host's own addresses behind those of interfaces, or checks that it is still there. Call it before `isolateInterface`.
 * @returns the corrections.
 * @throws NetlinkError, SocketError
 */
export function prepareIsolation(): string[] {
  const kernel = Netlink.shared();
  // The check of source addresses needs some route back, and the host need not have a default route for IPv4.
  addRoute(kernel, { table: TABLE_LAST, interfaceIndex: libc.ifNameToIndex('lo') });
  addRule(kernel, { family: libc.AF_INET, priority: LAST, action: TABLE_LAST });
  const isMoved = inEachFamily((family) => {
    // Add it in the new place before removing it from the old one.
    const isNew = addRule(kernel, { family, priority: LOCAL, action: TABLE_LOCAL });
    return deleteRule(kernel, { family, priority: LOCAL_BEFORE, action: TABLE_LOCAL }) || isNew;
  });
  return isMoved ? ['the order of routing rules'] : [];
}

/**
 * Isolates an interface, or checks that it is still isolated. @returns the corrections.
 * @throws NetlinkError, SocketError or Error where it cannot be isolated.
 */
export function isolateInterface({ interfaceName: incomingInterface, interfaceIndex }: Link): string[] {
  const kernel = Netlink.shared();
  const isNew = inEachFamily((family) => addRule(kernel, { family, priority: DROP, incomingInterface, action: 'drop' }));
  return [
    ...(isNew ? ['a routing rule'] : []),
    ...correctSettings(kernel, interfaceIndex),
    ...removeIpv6(kernel, interfaceIndex),
  ];
}

/**
 * Prevents packets of an interface from being forwarded to other networks, or checks that this is still prevented. All addresses of the host stay
 * reachable on it, and the host's own packets can leave on it, because the rule comes after the one for those addresses. @returns the corrections.
 * @throws NetlinkError, SocketError
 */
export function stopForwarding({ interfaceName: incomingInterface, interfaceIndex }: Link): string[] {
  const kernel = Netlink.shared();
  const isNew = inEachFamily((family) => addRule(kernel, { family, priority: DROP, incomingInterface, action: 'drop' }));
  const isOn = readIpv4Settings(kernel, interfaceIndex).forwarding !== 0;
  if (isOn) writeIpv4Settings(kernel, interfaceIndex, { forwarding: 0 });
  return [...(isNew ? ['a routing rule'] : []), ...(isOn ? ['forwarding'] : [])];
}

/** Allows packets to an address, and replies from it on the interface that has it. @throws NetlinkError */
export function openPath({ interfaceName, interfaceIndex, address, prefixLength }: InterfaceAddress): void {
  const kernel = Netlink.shared();
  const table = TABLE_OF_INTERFACE + interfaceIndex;
  addRule(kernel, toAddress(interfaceName, address));
  addRule(kernel, fromAddress(address, table));
  addRoute(kernel, { table, interfaceIndex });
  // Remove the route of an address that was added with one: other traffic of the host must not leave here.
  const network = (address & (prefixLength === 0 ? 0 : -1 << (32 - prefixLength))) >>> 0;
  deleteRoute(kernel, {
    table: TABLE_MAIN,
    interfaceIndex,
    destination: { address: network, prefixLength },
    isAddedByKernel: true,
  });
}

/** The kernel removes the route with the address. @throws NetlinkError */
export function closePath({ interfaceName, interfaceIndex, address }: InterfaceAddress): void {
  const kernel = Netlink.shared();
  deleteRule(kernel, toAddress(interfaceName, address));
  deleteRule(kernel, fromAddress(address, TABLE_OF_INTERFACE + interfaceIndex));
}

function toAddress(incomingInterface: string, to: Ipv4Number): RoutingRule {
  return { family: libc.AF_INET, priority: TO_ADDRESS, incomingInterface, to, action: TABLE_LOCAL };
}

function fromAddress(from: Ipv4Number, table: number): RoutingRule {
  return { family: libc.AF_INET, priority: FROM_ADDRESS, from, action: table };
}

/** True if it made a change for IPv4, or for IPv6 if the kernel has that. */
function inEachFamily(change: (family: RoutingRule['family']) => boolean): boolean {
  const isChanged = change(libc.AF_INET);
  try {
    return change(libc.AF_INET6) || isChanged;
  } catch (error) {
    if (error instanceof NetlinkError && ABSENT_FAMILY.has(error.code)) return isChanged;
    throw error;
  }
}

/** Corrects wrong settings, and reads them back. Returns the changes. */
function correctSettings(kernel: Netlink, interfaceIndex: number): string[] {
  // Loose if the host asks for a check: strict would drop senders without a connected route here.
  const wanted: Ipv4Settings = { ...SETTINGS, rp_filter: readSourceCheckOfAll(kernel) === 0 ? 0 : 2 };
  const wrong = differences(readIpv4Settings(kernel, interfaceIndex), wanted);
  if (wrong.length === 0) return [];
  writeIpv4Settings(kernel, interfaceIndex, Object.fromEntries(wrong.map((name) => [name, wanted[name]])));
  const stuck = differences(readIpv4Settings(kernel, interfaceIndex), wanted);
  if (stuck.length > 0) {
    throw new Error(`${stuck.join(', ')} of the interface cannot be set; find out which program on the host sets it`);
  }
  return wrong;
}

function differences(settings: Ipv4Settings, wanted: Ipv4Settings): Ipv4Setting[] {
  return (Object.keys(wanted) as Ipv4Setting[]).filter((name) => settings[name] !== wanted[name]);
}
