/**
 * Keeps interfaces to networks of virtual machines apart from each other and from the network of the pod. What comes in on such an
 * interface reaches the server address of that interface and nothing else:
 *
 * - Routing rules by the incoming interface drop the rest, for IPv4 and IPv6. They stand before the rule for the host's own addresses,
 *   which Linux would otherwise accept on every interface, and they hold whatever the node's kernel settings are or become.
 * - The interface's own settings say the same: no forwarding, no redirects, ARP for addresses of this interface only.
 * - It has neither addresses nor routes of IPv6: before the rules stood, a guest could have advertised itself as the pod's router.
 *
 * Only for network namespaces that belong to the process, as pods have them.
 */
import type { Ipv4Address } from '../packet/ethernet-address.js';
import {
  type Ipv4Setting,
  type Ipv4Settings,
  readIpv4Settings,
  readSourceCheckOfAll,
  writeIpv4Settings,
} from '../links/ipv4-settings.js';
import { removeIpv6 } from './ipv6-removal.js';
import * as libc from '../libc/libc.js';
import { type LinkAddress, Netlink, NetlinkError } from '../netlink/netlink.js';
import { addRoute, addRule, deleteRoute, deleteRule, type RoutingRule, TABLE_LOCAL, TABLE_MAIN } from '../routes/routing-rules.js';

/** In this order. The first and the third are of one server address each, the second of one interface. */
const TO_SERVER = 800;
const DROP = 900;
/** Before the rule for the host's own addresses: a client may have the address that is the server's on another network. */
const FROM_SERVER = 950;
const LOCAL = 1_000;
/** After the tables main and default. */
const LAST = 40_000;
/** Where the kernel itself puts the rule for the host's own addresses. */
const LOCAL_BEFORE = 0;

/** For what no other table has a route to. */
const TABLE_LAST = 670_000_000;
/** And the index of the interface. */
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
  // Broadcasts of such a client, too.
  accept_local: 1,
  route_localnet: 0,
  arp_filter: 0,
  arp_announce: 2,
  arp_ignore: 1,
};

export interface Link {
  readonly interfaceName: string;
  readonly interfaceIndex: number;
}

/** A server address and its interface. */
export interface ServerAddress extends Link, LinkAddress {
  readonly address: Ipv4Address;
}

/**
 * Puts the rule for the host's own addresses behind those of interfaces, or makes sure that it is there still. Comes before
 * `isolateInterface`.
 * @returns what was not as it should be, and is now.
 * @throws NetlinkError, SocketError
 */
export function prepareIsolation(): string[] {
  const kernel = Netlink.shared();
  // A check of source addresses wants a route back, any route: a pod need not have a default route for IPv4.
  addRoute(kernel, { table: TABLE_LAST, interfaceIndex: libc.ifNameToIndex('lo') });
  addRule(kernel, { family: libc.AF_INET, priority: LAST, action: TABLE_LAST });
  const isMoved = inEachFamily((family) => {
    // Added where it belongs before it is taken from where it was.
    const isNew = addRule(kernel, { family, priority: LOCAL, action: TABLE_LOCAL });
    return deleteRule(kernel, { family, priority: LOCAL_BEFORE, action: TABLE_LOCAL }) || isNew;
  });
  return isMoved ? ['the order of routing rules'] : [];
}

/**
 * Isolates an interface, or makes sure that it is isolated still.
 * @returns what was not as it should be, and is now.
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

/** Lets packets through to a server address, and its replies out on the interface that has it. @throws NetlinkError */
export function openPath({ interfaceName, interfaceIndex, address, prefixLength }: ServerAddress): void {
  const kernel = Netlink.shared();
  const table = TABLE_OF_INTERFACE + interfaceIndex;
  addRule(kernel, toServer(interfaceName, address));
  addRule(kernel, fromServer(address, table));
  addRoute(kernel, { table, interfaceIndex });
  // Of an address that was there before with its route; the agent's own way to the API server must not lead here.
  const network = (address & (prefixLength === 0 ? 0 : -1 << (32 - prefixLength))) >>> 0;
  deleteRoute(kernel, {
    table: TABLE_MAIN,
    interfaceIndex,
    destination: { address: network, prefixLength },
    isKernels: true,
  });
}

/** The route goes with the address. @throws NetlinkError */
export function closePath({ interfaceName, interfaceIndex, address }: ServerAddress): void {
  const kernel = Netlink.shared();
  deleteRule(kernel, toServer(interfaceName, address));
  deleteRule(kernel, fromServer(address, TABLE_OF_INTERFACE + interfaceIndex));
}

function toServer(incomingInterface: string, to: Ipv4Address): RoutingRule {
  return { family: libc.AF_INET, priority: TO_SERVER, incomingInterface, to, action: TABLE_LOCAL };
}

function fromServer(from: Ipv4Address, table: number): RoutingRule {
  return { family: libc.AF_INET, priority: FROM_SERVER, from, action: table };
}

/** True if it made a change for IPv4, or for IPv6 where the kernel has that. */
function inEachFamily(change: (family: RoutingRule['family']) => boolean): boolean {
  const isChanged = change(libc.AF_INET);
  try {
    return change(libc.AF_INET6) || isChanged;
  } catch (error) {
    if (error instanceof NetlinkError && ABSENT_FAMILY.has(error.code)) return isChanged;
    throw error;
  }
}

/** Changes what is not as it should be, and reads it back. Returns what it changed. */
function correctSettings(kernel: Netlink, interfaceIndex: number): string[] {
  // Loose where the node asks for a check: strict would drop clients that have no connected route here.
  const wanted: Ipv4Settings = { ...SETTINGS, rp_filter: readSourceCheckOfAll(kernel) === 0 ? 0 : 2 };
  const wrong = differences(readIpv4Settings(kernel, interfaceIndex), wanted);
  if (wrong.length === 0) return [];
  writeIpv4Settings(kernel, interfaceIndex, Object.fromEntries(wrong.map((name) => [name, wanted[name]])));
  const stuck = differences(readIpv4Settings(kernel, interfaceIndex), wanted);
  if (stuck.length > 0) {
    throw new Error(`${stuck.join(', ')} of the interface cannot be set; find out which program on the node sets it`);
  }
  return wrong;
}

function differences(settings: Ipv4Settings, wanted: Ipv4Settings): Ipv4Setting[] {
  return (Object.keys(wanted) as Ipv4Setting[]).filter((name) => settings[name] !== wanted[name]);
}
