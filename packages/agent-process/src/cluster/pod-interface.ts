/** Finds the interface by which a pod is reached: its status server listens only there. */
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

export interface PodNetwork {
  /** The addresses of each interface. */
  readonly interfaces: Readonly<Record<string, readonly string[]>>;
  /** Set if Kubernetes sets it. */
  readonly podAddress: string | undefined;
  /** The interface of the default route, if there is one. */
  readonly defaultRoute: string | undefined;
  /** The interface of the IPv4 default route, which router advertisements cannot set. */
  readonly ipv4DefaultRoute: string | undefined;
}

const WILDCARDS: ReadonlySet<string> = new Set(['::', '0.0.0.0']);

/** The interface to listen on for a host; undefined if the pod has none. For the unspecified address: the pod's own interface. */
export function podInterface(
  host: string,
  { interfaces, podAddress, defaultRoute }: Omit<PodNetwork, 'ipv4DefaultRoute'>,
): string | undefined {
  const withAddress = (address: string | undefined) => interfaceWith(address, interfaces);
  return WILDCARDS.has(host) ? (withAddress(podAddress) ?? defaultRoute) : withAddress(host);
}

/** The interfaces by which the pod itself is reached; none if they are not known. */
export function podsOwnInterfaces({ interfaces, podAddress, ipv4DefaultRoute }: PodNetwork): ReadonlySet<string> {
  const own = [interfaceWith(podAddress, interfaces), ipv4DefaultRoute];
  return new Set(own.filter((name) => name !== undefined));
}

function interfaceWith(address: string | undefined, interfaces: PodNetwork['interfaces']): string | undefined {
  return Object.entries(interfaces).find(([, addresses]) => address !== undefined && addresses.includes(address))?.[0];
}

/** Reads the network of this pod. @param podAddress - the value from Kubernetes. */
export function readPodNetwork(podAddress: string | undefined): PodNetwork {
  const entries = Object.entries(networkInterfaces());
  const interfaces = Object.fromEntries(entries.map(([name, list = []]) => [name, list.map(({ address }) => address)]));
  const ipv4 = readRoutes('/proc/net/route');
  const defaultRoute = defaultRouteOf(ipv4, readRoutes('/proc/net/ipv6_route'));
  return { interfaces, podAddress, defaultRoute, ipv4DefaultRoute: defaultRouteOf(ipv4, '') };
}

function readRoutes(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The kernel does not have this address family.
    return '';
  }
}

/** The interface of the first default route, IPv4 before IPv6. @param ipv4 - `/proc/net/route` @param ipv6 - `/proc/net/ipv6_route` */
export function defaultRouteOf(ipv4: string, ipv6: string): string | undefined {
  const fields = (text: string) => text.split('\n').map((line) => line.trim().split(/\s+/));
  const first = fields(ipv4).find(([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000');
  const second = fields(ipv6).find(
    ([destination, length, ...rest]) => /^0{32}$/.test(destination ?? '') && length === '00' && rest.at(-1) !== 'lo',
  );
  return first?.[0] ?? second?.at(-1);
}
