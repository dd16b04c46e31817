/** Finds addresses of a pool that the cluster needs itself: for Services, pods and the API server. */
import {
  cidrsOverlap,
  formatIpv4Address,
  formatIpv4Cidr,
  type Ipv4Address,
  type Ipv4Cidr,
  type Pool,
  rangeContains,
} from '@vmdhcp/dhcp-allocator';
import { formatIpv6Prefix, type Ipv6Prefix, prefixesOverlap } from '@vmdhcp/dhcp-allocator/address';
import type { ClusterNetworks } from './admission-facts.js';
import type { AdmissionProblem } from './admission-review.js';

export interface ClusterOverlap extends AdmissionProblem {
  readonly reason: 'overlaps-service-cidr' | 'overlaps-pod-cidr' | 'is-api-server';
}

type Network = Ipv4Cidr | Ipv6Prefix;

const CONFIG = ['spec', 'ipv4Config'];

/** Every overlap of a pool with addresses of the cluster: admission refuses it, and the controller warns of it. */
export function findClusterOverlaps(pool: Pool, { serviceCidrs, podCidrs, apiServers }: ClusterNetworks): ClusterOverlap[] {
  return [
    ...overlaps(pool, serviceCidrs, { reason: 'overlaps-service-cidr', whose: 'Services' }),
    ...overlaps(pool, podCidrs, { reason: 'overlaps-pod-cidr', whose: 'pods' }),
    ...apiServers.flatMap((address) => findApiServer(pool, address)),
  ];
}

interface Overlap {
  readonly reason: 'overlaps-service-cidr' | 'overlaps-pod-cidr';
  readonly whose: string;
}

function overlaps({ cidr, dhcpv6 }: Pool, networks: readonly Network[], { reason, whose }: Overlap): ClusterOverlap[] {
  const own = [
    { path: [...CONFIG, 'cidr'], network: cidr },
    ...(dhcpv6 === undefined ? [] : [{ path: ['spec', 'ipv6Config', 'cidr'], network: dhcpv6.prefix }]),
  ];
  return own.flatMap(({ path, network }) =>
    networks
      .filter((other) => networksOverlap(network, other))
      .map((other) => ({
        reason,
        path,
        value: formatNetwork(network),
        message: `${formatNetwork(network)} overlaps ${formatNetwork(other)}, the network of the ${whose} of the cluster`,
        remedy: 'choose another cidr: virtual machines could not reach the cluster, and nodes not the virtual machines',
      })),
  );
}

const isIpv6 = (network: Network): network is Ipv6Prefix => typeof network.network === 'bigint';

function networksOverlap(one: Network, other: Network): boolean {
  if (isIpv6(one)) return isIpv6(other) && prefixesOverlap(one, other);
  return !isIpv6(other) && cidrsOverlap(one, other);
}

const formatNetwork = (network: Network): string => (isIpv6(network) ? formatIpv6Prefix(network) : formatIpv4Cidr(network));

/** Nodes may be on the network of virtual machines; then clients must not get their addresses. */
function findApiServer(pool: Pool, address: Ipv4Address): ClusterOverlap[] {
  const value = formatIpv4Address(address);
  const about = { reason: 'is-api-server', value } as const;
  if (address === pool.serverAddress) {
    const message = `${value} is the address of the API server`;
    const remedy = 'give the DHCP server an address of its own';
    return [{ ...about, path: [...CONFIG, 'serverIP'], message, remedy }];
  }
  const isReserved = [...pool.reservations.values()].some((one) => one.address === address);
  const isLeased = rangeContains(pool.range, address) && !pool.unavailable.some((range) => rangeContains(range, address));
  if (!isReserved && !isLeased) return [];
  const message = `a client could get ${value}, the address of the API server`;
  if (isReserved)
    return [{ ...about, path: [...CONFIG, 'reservations'], message, remedy: 'remove the reservation of that address' }];
  return [{ ...about, path: [...CONFIG, 'pool'], message, remedy: 'add it to exclude, or choose another start or end' }];
}
