/** Problems of a change of an IPPool, because clients have addresses of it. */
import {
  type Assignment,
  formatIpv4Address,
  type Ipv4Address,
  type MacAddress,
  mayBeKept,
  type Pool,
  rangeContains,
  rangesContain,
} from '@vmdhcp/dhcp-allocator';
import { formatIpv6Address, type Ipv6Address } from '@vmdhcp/dhcp-allocator/address';
import { ipv6AddressBeside } from '@vmdhcp/dhcp-allocator/dhcpv6';
import { describeNames, type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import { networkOfPool } from '../network/network-problem.js';
import { type RecordedAddresses, readRecordedAddresses } from '../pool/recorded-addresses.js';
import type { AdmissionFacts } from './admission-facts.js';
import { type AdmissionProblem, type Findings, NOTHING_FOUND } from './admission-review.js';

interface PoolEdit {
  readonly old: KubernetesObject;
  /** Undefined if it had problems of its own. */
  readonly oldPool: Pool | undefined;
  readonly object: KubernetesObject;
  readonly pool: Pool | undefined;
}

const CONFIG = ['spec', 'ipv4Config'];
const MOST_NAMES = 5;

export function reviewEdit({ old, oldPool, object, pool }: PoolEdit, facts: AdmissionFacts): Findings {
  if (pool === undefined) return NOTHING_FOUND;
  const { assignments } = recordedOf(old, facts);
  if (assignments.length === 0) return { problems: findExcludedServer(oldPool, pool), warnings: [] };
  const network = networkOfPool(old);
  const describe = (some: readonly Assignment[]) => describeClients(some, network, facts);
  const problems = [
    ...findExcludedServer(oldPool, pool),
    ...findOccupiedServer({ oldPool, pool }, assignments, describe),
    ...findOccupiedIpv6Server({ oldPool, pool }, assignments, describe),
    ...findCutOff({ oldPool, pool, isSameNetwork: network === networkOfPool(object) }, assignments, describe),
  ];
  return { problems, warnings: oldPool === undefined ? [] : findKept({ oldPool, pool }, assignments, describe) };
}

type Describe = (assignments: readonly Assignment[]) => string;

interface Pools {
  readonly oldPool: Pool | undefined;
  readonly pool: Pool;
}

/** From the cache if that has the same version, because parsing ten thousand entries again takes time. */
function recordedOf(old: KubernetesObject, facts: AdmissionFacts): RecordedAddresses {
  const known = facts.pool(keyOf(old));
  const { resourceVersion } = old.metadata;
  const isSameVersion = resourceVersion !== undefined && known?.object.metadata.resourceVersion === resourceVersion;
  return isSameVersion ? known.recorded : readRecordedAddresses(old);
}

/** The addresses with their virtual machines, as far as they are known: `10.0.0.10 (default/vm-a)`. */
function describeClients(assignments: readonly Assignment[], network: string, facts: AdmissionFacts): string {
  const names = assignments.slice(0, MOST_NAMES + 1).map(({ address, macAddress }) => {
    const [owner = macAddress] = facts.claimants(network, macAddress);
    return `${formatIpv4Address(address)} (${owner})`;
  });
  // The others are only counted, so their names are not needed.
  const others = assignments.slice(names.length).map(() => '');
  return describeNames([...names, ...others], { most: MOST_NAMES });
}

function findExcludedServer(oldPool: Pool | undefined, pool: Pool): AdmissionProblem[] {
  const { serverAddress } = pool;
  if (oldPool === undefined || oldPool.serverAddress === serverAddress) return [];
  const excluded = oldPool.unavailable.some((range) => rangeContains(range, serverAddress));
  if (!excluded || serverAddress === oldPool.options.router) return [];
  const value = formatIpv4Address(serverAddress);
  const message = `${value} is excluded, so another host may have it`;
  const remedy = 'choose an address that is not excluded';
  return [{ reason: 'server-address-excluded', path: [...CONFIG, 'serverIP'], value, message, remedy }];
}

function findOccupiedServer(
  { oldPool, pool: { serverAddress } }: Pools,
  assignments: readonly Assignment[],
  describe: Describe,
): AdmissionProblem[] {
  const owner = assignments.find(({ address }) => address === serverAddress);
  if (owner === undefined || oldPool?.serverAddress === serverAddress) return [];
  const value = formatIpv4Address(serverAddress);
  const message = `the address is in use: ${describe([owner])}`;
  const remedy = 'choose another address for the server';
  return [{ reason: 'server-address-in-use', path: [...CONFIG, 'serverIP'], value, message, remedy }];
}

/** A client keeps an excluded address, and with it the IPv6 address beside it. */
function findOccupiedIpv6Server(
  { oldPool, pool }: Pools,
  assignments: readonly Assignment[],
  describe: Describe,
): AdmissionProblem[] {
  const isReserved = ({ macAddress, address }: Assignment) => pool.reservations.get(macAddress)?.address === address;
  const isOfServer = (one: Pool | undefined, { address }: Assignment) =>
    one !== undefined && ipv6ServersOf(one).some((server) => server === ipv6AddressBeside(one, address));
  const owner = assignments.find((one) => isOfServer(pool, one) && !isOfServer(oldPool, one) && !isReserved(one));
  if (owner === undefined) return [];
  const value = formatIpv6Address(ipv6AddressBeside(pool, owner.address) ?? 0n);
  const message = `dns or ntp names ${value}, which is the address of a client: ${describe([owner])}`;
  const remedy = 'name the server by another address, or pin another address for the virtual machine first';
  return [{ reason: 'ipv6-server-is-client', path: ['spec', 'ipv6Config'], value, message, remedy }];
}

function ipv6ServersOf({ dhcpv6 }: Pool): readonly Ipv6Address[] {
  return dhcpv6 === undefined ? [] : [...dhcpv6.options.dnsServers, ...dhcpv6.options.ntpServers];
}

interface Change extends Pools {
  readonly isSameNetwork: boolean;
}

function findCutOff(
  { oldPool, pool, isSameNetwork }: Change,
  assignments: readonly Assignment[],
  describe: Describe,
): AdmissionProblem[] {
  // Any change may correct an old problem.
  const could = ({ address }: Assignment) => oldPool !== undefined && mayBeKept(oldPool, address);
  const lost = assignments.filter((one) => could(one) && (!isSameNetwork || !mayBeKept(pool, one.address)));
  const [first] = lost.filter(({ address }) => address !== pool.serverAddress);
  if (first === undefined) return [];
  const path = isSameNetwork ? [...CONFIG, 'cidr'] : ['spec', 'networkName'];
  const message = `addresses in use would be cut off: ${describe(lost)}`;
  const remedy = 'keep them in the subnet, or delete these virtual machines first';
  return [{ reason: 'addresses-cut-off', path, value: formatIpv4Address(first.address), message, remedy }];
}

/** Addresses that their clients keep, but no other client gets. */
function findKept(
  { oldPool, pool }: { readonly oldPool: Pool; readonly pool: Pool },
  assignments: readonly Assignment[],
  describe: Describe,
): AdmissionProblem[] {
  const clients = assignments.filter(({ address }) => mayBeKept(pool, address));
  const isInside = ({ ranges }: Pool, { address }: Assignment) => rangesContain(ranges, address);
  const isOwn = ({ macAddress, address }: Assignment) => pool.reservations.get(macAddress)?.address === address;
  const outside = clients.filter((one) => isInside(oldPool, one) && !isInside(pool, one) && !isOwn(one));
  const isNew = ({ address }: Assignment) => isUnavailable(pool, address) && !isUnavailable(oldPool, address);
  const excluded = clients.filter((one) => isInside(pool, one) && isNew(one));
  const reservedFor = new Map<Ipv4Address, MacAddress>(
    [...pool.reservations.values()].map((one) => [one.address, one.macAddress]),
  );
  const reserved = assignments.filter(
    ({ address, macAddress }) =>
      (reservedFor.get(address) ?? macAddress) !== macAddress &&
      oldPool.reservations.get(reservedFor.get(address) ?? macAddress)?.address !== address,
  );
  return [
    ...kept('address-outside-range-in-use', outside, {
      path: [...CONFIG, 'pool'],
      message: `outside the range, and kept as long as their virtual machines claim them: ${describe(outside)}`,
      remedy: 'to free them, pin other addresses and restart the virtual machines that run, or delete them',
    }),
    ...kept('excluded-address-in-use', excluded, {
      path: [...CONFIG, 'pool', 'exclude'],
      message: `excluded, or the address of the router, and kept as long as their virtual machines claim them: ${describe(excluded)}`,
      remedy: 'to free them, pin other addresses and restart the virtual machines that run, or delete them',
    }),
    ...kept('reserved-address-in-use', reserved, {
      path: [...CONFIG, 'reservations'],
      message: `reserved, and kept by other clients as long as their virtual machines claim them: ${describe(reserved)}`,
      remedy: 'to free them, pin other addresses and restart the virtual machines that run, or delete them',
    }),
  ];
}

function isUnavailable({ unavailable }: Pool, address: Ipv4Address): boolean {
  return rangesContain(unavailable, address);
}

function kept(
  reason: 'address-outside-range-in-use' | 'excluded-address-in-use' | 'reserved-address-in-use',
  assignments: readonly Assignment[],
  explained: Pick<AdmissionProblem, 'path' | 'message' | 'remedy'>,
): AdmissionProblem[] {
  const [first] = assignments;
  if (first === undefined) return [];
  return [{ reason, value: formatIpv4Address(first.address), ...explained }];
}
