import { type Ipv4Address, lastAddressOf, parseIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readField } from '@vmdhcp/kube-runtime';
import type { ClusterAgentSettings } from '../host/cluster-agent-settings.js';
import { hostStatusName, isObjectName } from '../host/host-name.js';
import { describeNetworks, isHostAddress, isSpecialAddress } from '../host/host-network.js';
import type { HostProblem } from '../object/problem.js';
import { readNonEmptyText, readNumber } from '../object/read-field.js';
import { parseHostAddress } from './host-address.js';
import { secretProblems } from './secret-problems.js';

/** The longest name of a ClusterAgent, to test whether an address gives a valid name. */
const ANY_CLUSTER_AGENT = 'a'.repeat(63);

/** The parts of a ClusterAgent that decide which addresses its hosts cannot have. */
export type HostNetworkFacts = Pick<
  ClusterAgentSettings,
  'name' | 'enableDhcpServer' | 'subnet' | 'networks' | 'gateway' | 'self'
>;

/**
 * All problems of a HostEndpoint; none if its host can have an object. @param network - its ClusterAgent; undefined if none is
 * known.
 */
export function hostEndpointProblems({ spec }: KubernetesObject, network?: HostNetworkFacts): HostProblem[] {
  const port = readNumber(spec, 'port') ?? 443;
  const text = readNonEmptyText(spec, 'ipAddr');
  return [
    ...addressProblems(text),
    ...(network === undefined ? [] : placeProblems(text, network)),
    ...(Number.isInteger(port) && port >= 1 && port <= 65_535
      ? []
      : [
          {
            reason: 'out-of-bounds',
            path: ['spec', 'port'],
            message: `${port} is not a TCP port`,
            remedy: 'write 1 to 65535',
          } as const,
        ]),
    ...secretProblems(['spec'], spec),
  ];
}

/**
 * The ClusterAgent that a HostEndpoint belongs to; undefined if none. If there is only one, it may be omitted. @param names - the
 * names of all ClusterAgents.
 */
export function clusterAgentOf(endpoint: KubernetesObject, names: readonly string[]): string | undefined {
  const written = readNonEmptyText(readField(endpoint, 'spec'), 'clusterAgent');
  if (written !== undefined) return names.includes(written) ? written : undefined;
  return names.length === 1 ? names[0] : undefined;
}

function addressProblems(text: string | undefined): HostProblem[] {
  const path = ['spec', 'ipAddr'];
  const remedy = 'write four numbers of 0 to 255, as in 192.168.0.10';
  if (text === undefined) return [{ reason: 'missing', path, message: 'is missing', remedy }];
  const address = parseHostAddress(text);
  if (address === undefined)
    return [{ reason: 'not-an-address', path, message: `${JSON.stringify(text)} is not an IPv4 address`, remedy }];
  if (!isObjectName(hostStatusName(ANY_CLUSTER_AGENT, address)))
    return [
      {
        reason: 'not-an-address',
        path,
        message: `${text} does not give a valid name of an object`,
        remedy: 'write all groups of the address',
      },
    ];
  if (!isSpecialAddress(address)) return [];
  const message = `${text} is never the address of a management controller: loopback, link-local, multicast and the like`;
  return [{ reason: 'not-a-host-address', path, message, remedy: 'write the address of the management controller' }];
}

/** Hosts are in the networks of the ClusterAgent, and cannot have certain addresses there. */
function placeProblems(text: string | undefined, network: HostNetworkFacts): HostProblem[] {
  const address = parseHostAddress(text);
  if (address === undefined || isSpecialAddress(address)) return [];
  return isHostAddress(network, address) ? takenProblems(address, network) : [outside(address, network)];
}

function outside(address: string, network: HostNetworkFacts): HostProblem {
  const { name } = network;
  const message = `${address} is in no network of ClusterAgent ${name} (${describeNetworks(network) || 'it names none'})`;
  const remedy = `if the host is there, add its network to spec.endpoint.networks of ClusterAgent ${name}; otherwise delete the HostEndpoint and create it with the right address`;
  return { reason: 'outside-networks', path: ['spec', 'ipAddr'], message, remedy };
}

/** Addresses that something else has on the network. */
function takenProblems(text: string, network: HostNetworkFacts): HostProblem[] {
  const address = parseIpv4Address(text);
  const taken = address === undefined || !network.enableDhcpServer ? undefined : takenAs(address, network);
  if (taken === undefined) return [];
  const message = `${text} is ${taken} of ClusterAgent ${network.name}, and no host can have it`;
  return [
    { reason: 'same-address', path: ['spec', 'ipAddr'], message, remedy: 'write the address of the management controller' },
  ];
}

function takenAs(address: Ipv4Address, { subnet, gateway, self }: HostNetworkFacts): string | undefined {
  if (address === self) return 'selfIp';
  if (address === gateway) return 'the gateway';
  // In a /31 and a /32, hosts may have every address. Source: RFC 3021 §2.1.
  if (subnet === undefined || subnet.prefixLength >= 31) return undefined;
  if (address === subnet.network) return 'the network address';
  return address === lastAddressOf(subnet) ? 'the broadcast address' : undefined;
}
