import {
  formatIpv4Cidr,
  type Ipv4Address,
  type Ipv4Cidr,
  type Ipv4Range,
  lastAddressOf,
  parseIpv4Address,
  parseIpv4Cidr,
  parseIpv4Range,
  rangeContains,
} from '@vmdhcp/dhcp-allocator/address';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readField } from '@vmdhcp/kube-runtime';
import { parseHostNetwork } from '../host/host-network.js';
import type { HostProblem, HostProblemReason } from '../object/problem.js';
import { readFields, readFlag, readNonEmptyText, readNumber } from '../object/read-field.js';
import { isInterfaceName } from './interface-name.js';
import { isNetworkSelection } from './network-selection.js';
import { secretProblems } from './secret-problems.js';

const DHCP = ['spec', 'feature', 'dhcpServerConfig'];
const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * All problems that a ClusterAgent shows by itself; none if its DHCP server can serve. If DHCP is switched off, its settings are
 * not checked. The rules of the CRD refuse the same.
 */
export function clusterAgentProblems(object: KubernetesObject): HostProblem[] {
  const isOff = readFlag(object, 'spec', 'feature', 'enableDhcpServer') === false;
  return [
    ...clusterAgentNameProblems(object.metadata.name),
    ...underlayProblems(object),
    ...endpointProblems(object),
    ...(isOff ? [] : dhcpProblems(readField(object, ...DHCP))),
  ];
}

/** The problems of the name of a ClusterAgent; none for a name that can exist. */
export function clusterAgentNameProblems(name: string): HostProblem[] {
  if (NAME.test(name)) return [];
  const message = `${JSON.stringify(name)} is not a valid name of a ClusterAgent`;
  const remedy = 'write at most 63 lower-case letters, digits and hyphens that begin and end with a letter or digit';
  return [{ reason: 'not-a-name', path: ['metadata', 'name'], message, remedy }];
}

function underlayProblems(object: KubernetesObject): HostProblem[] {
  const path = ['spec', 'agentYaml', 'underlayInterface'];
  const text = readNonEmptyText(object, ...path);
  if (text === undefined)
    return [
      {
        reason: 'missing',
        path,
        message: 'is missing',
        remedy: 'write the NetworkAttachmentDefinition of the management network',
      },
    ];
  // On the network of the node, agents are attached to none.
  if (readFlag(object, 'spec', 'agentYaml', 'hostNetwork') === true || isNetworkSelection(text)) return [];
  const message = `${JSON.stringify(text)} is not a valid name of a NetworkAttachmentDefinition`;
  return [{ reason: 'not-a-name', path, message, remedy: 'write name, or namespace/name, as in kube-system/management' }];
}

function endpointProblems(object: KubernetesObject): HostProblem[] {
  const path = ['spec', 'endpoint'];
  const [port, replicas] = [readNumber(object, ...path, 'port') ?? 443, readNumber(object, 'spec', 'agentYaml', 'replicas') ?? 1];
  const bounds: HostProblem[] = [];
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    bounds.push({
      reason: 'out-of-bounds',
      path: [...path, 'port'],
      message: `${port} is not a TCP port`,
      remedy: 'write 1 to 65535',
    });
  if (!Number.isInteger(replicas) || replicas < 0) {
    const message = `${replicas} is not a number of agents`;
    bounds.push({ reason: 'out-of-bounds', path: ['spec', 'agentYaml', 'replicas'], message, remedy: 'write 0 or more' });
  }
  return [
    ...bounds,
    ...networkProblems(readField(object, ...path, 'networks')),
    ...secretProblems(path, readField(object, ...path)),
  ];
}

function networkProblems(networks: unknown): HostProblem[] {
  const wrong = Array.isArray(networks)
    ? networks.filter((one) => typeof one !== 'string' || parseHostNetwork(one) === undefined)
    : [];
  return wrong.map((one) => ({
    reason: 'not-a-subnet',
    path: ['spec', 'endpoint', 'networks'],
    message: `${JSON.stringify(one)} is not a network`,
    remedy: 'write address/prefix length, as in 10.1.0.0/16 or 2001:db8::/64',
  }));
}

interface Network {
  readonly subnet: Ipv4Cidr | undefined;
  readonly range: Ipv4Range | undefined;
  readonly gateway: Ipv4Address | undefined;
}

function dhcpProblems(config: unknown): HostProblem[] {
  if (typeof config !== 'object' || config === null) {
    const remedy = 'write the settings of the DHCP server, or enableDhcpServer: false';
    return [{ reason: 'missing', path: DHCP, message: 'is missing', remedy }];
  }
  const fields = readFields(config);
  const network: Network = {
    subnet: parseIpv4Cidr(readNonEmptyText(fields, 'subnet') ?? ''),
    range: parseIpv4Range(readNonEmptyText(fields, 'ipRange') ?? ''),
    gateway: parseIpv4Address(readNonEmptyText(fields, 'gateway') ?? ''),
  };
  return [
    ...interfaceProblems(readNonEmptyText(fields, 'dhcpServerInterface')),
    ...formatProblems(fields, network),
    ...rangeProblems(network),
    ...gatewayProblems(network),
    ...selfProblems(readNonEmptyText(fields, 'selfIp'), network),
  ];
}

interface Text {
  readonly message: string;
  readonly remedy: string;
}

function problem(reason: HostProblemReason, field: string, text: Text): HostProblem {
  return { reason, path: [...DHCP, field], ...text };
}

function interfaceProblems(name: string | undefined): HostProblem[] {
  if (name === undefined) {
    const remedy = 'write the name of a network interface';
    return [problem('missing', 'dhcpServerInterface', { message: 'is missing', remedy })];
  }
  if (isInterfaceName(name)) return [];
  const message = `${JSON.stringify(name)} is not a name that an interface of Linux can have`;
  const remedy = 'write at most 15 characters, no space, "/" or ":", and no dot first';
  return [problem('not-a-name', 'dhcpServerInterface', { message, remedy })];
}

const RANGE = 'write two addresses, the lower one first, as in 192.168.0.10-192.168.0.100';

function formatProblems(fields: Readonly<Record<string, unknown>>, { subnet, range, gateway }: Network): HostProblem[] {
  const of = (field: string) => readNonEmptyText(fields, field);
  return [
    ...(subnet === undefined ? [format('not-a-subnet', 'subnet', of('subnet'))] : []),
    ...(range === undefined || of('ipRange')?.includes('-') !== true ? [ofRange(of('ipRange'))] : []),
    ...(gateway === undefined ? [format('not-an-address', 'gateway', of('gateway'))] : []),
  ];
}

function format(reason: 'not-a-subnet' | 'not-an-address', field: string, text: string | undefined): HostProblem {
  const [what, remedy] =
    reason === 'not-a-subnet'
      ? ['not an IPv4 subnet', 'write address/prefix length, as in 192.168.0.0/24']
      : ['not an IPv4 address', 'write four numbers of 0 to 255, as in 192.168.0.1'];
  return text === undefined
    ? problem('missing', field, { message: 'is missing', remedy })
    : problem(reason, field, { message: `${JSON.stringify(text)} is ${what}`, remedy });
}

function ofRange(text: string | undefined): HostProblem {
  if (text === undefined) return problem('missing', 'ipRange', { message: 'is missing', remedy: RANGE });
  const [first, last] = text.split('-').map(parseIpv4Address);
  if (first !== undefined && last !== undefined && first > last)
    return problem('range-reversed', 'ipRange', { message: `${text} ends before its start`, remedy: 'swap the two addresses' });
  return problem('not-a-range', 'ipRange', {
    message: `${JSON.stringify(text)} is not a range of IPv4 addresses`,
    remedy: RANGE,
  });
}

function rangeProblems({ subnet, range }: Network): HostProblem[] {
  if (subnet === undefined || range === undefined) return [];
  if (isHostOf(subnet, range.first) && isHostOf(subnet, range.last)) return [];
  const message = `has addresses that no host in ${formatIpv4Cidr(subnet)} can have`;
  return [
    problem('not-a-host-address', 'ipRange', {
      message,
      remedy: 'write addresses of the subnet, without its first and last one',
    }),
  ];
}

function gatewayProblems(network: Network): HostProblem[] {
  return network.gateway === undefined ? [] : placeProblems({ field: 'gateway', whose: 'the gateway' }, network.gateway, network);
}

function selfProblems(text: string | undefined, network: Network): HostProblem[] {
  if (text === undefined) return [];
  const [address = '', prefix = ''] = text.split('/');
  const self = parseIpv4Address(address);
  if (self === undefined || parseIpv4Cidr(text) === undefined) {
    const message = `${JSON.stringify(text)} is not an IPv4 address with a prefix length`;
    return [problem('not-an-address', 'selfIp', { message, remedy: 'write it as in 192.168.0.2/24' })];
  }
  const { subnet, gateway } = network;
  const found: HostProblem[] = [];
  if (subnet !== undefined && Number(prefix) !== subnet.prefixLength) {
    const message = `${text} has another prefix length than ${formatIpv4Cidr(subnet)}`;
    found.push(problem('other-prefix', 'selfIp', { message, remedy: `write ${address}/${subnet.prefixLength}` }));
  }
  found.push(...placeProblems({ field: 'selfIp', whose: 'the DHCP server' }, self, network));
  const remedy = 'give the DHCP server an address of its own';
  if (self === gateway) found.push(problem('same-address', 'selfIp', { message: `${address} is the gateway`, remedy }));
  return found;
}

interface Place {
  readonly field: string;
  readonly whose: string;
}

function placeProblems({ field, whose }: Place, address: Ipv4Address, { subnet, range }: Network): HostProblem[] {
  return [
    ...(subnet !== undefined && !isHostOf(subnet, address) ? [outside(field, subnet)] : []),
    ...(range !== undefined && rangeContains(range, address) ? [inRange(field, whose)] : []),
  ];
}

function outside(field: string, subnet: Ipv4Cidr): HostProblem {
  const message = `is not the address of a host in ${formatIpv4Cidr(subnet)}`;
  return problem('not-a-host-address', field, {
    message,
    remedy: 'write an address between the first and the last one of the subnet',
  });
}

function inRange(field: string, whose: string): HostProblem {
  return problem('in-range', field, {
    message: `is in ipRange, so a client could get the address of ${whose}`,
    remedy: 'shorten the range',
  });
}

/** In a /31 and a /32, hosts may have every address. Source: RFC 3021 §2.1. */
function isHostOf(subnet: Ipv4Cidr, address: Ipv4Address): boolean {
  const [first, last] = [subnet.network, lastAddressOf(subnet)];
  if (address < first || address > last) return false;
  return subnet.prefixLength >= 31 || (address !== first && address !== last);
}
