/** The pool that a ClusterAgent describes, and what prevents serving it: a function of the object and of the interface. */
import {
  cidrContains,
  formatIpv4Address,
  formatIpv4Cidr,
  type Ipv4Address,
  type Ipv4Cidr,
  type Pool,
  parseIpv4Address,
} from '@vmdhcp/dhcp-allocator';
import { isRecord, type KubernetesObject, readField, readText } from '@vmdhcp/kube-runtime';
import { readPool } from '@vmdhcp/reconciler/pool';
import { clusterAgentProblems } from '../check/cluster-agent-problems.js';
import { readClusterAgent } from '../host/cluster-agent-settings.js';
import { describeHostProblem } from '../object/problem.js';

/** An address of the interface that this agent did not add. */
export interface PresentSubnetAddress {
  readonly address: Ipv4Address;
  readonly prefixLength: number;
}

/** `selfIp`: what the leader adds to the interface. */
export interface SelfAddress {
  readonly address: Ipv4Address;
  readonly prefixLength: number;
}

export type HostPoolReading =
  /** `enableDhcpServer` is false: hosts are followed, and no client gets an answer. */
  | { readonly kind: 'off' }
  | {
      readonly kind: 'served';
      readonly interfaceName: string;
      readonly pool: Pool;
      /** Undefined if the interface already has an address of the subnet, which is then the server's. */
      readonly self: SelfAddress | undefined;
      /** Invalid settings, which are ignored. */
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'unserved'; readonly interfaceName: string | undefined; readonly problems: readonly string[] };

/** The optional settings, with the same names as in an IPPool. */
const OPTIONS = ['dns', 'domainName', 'ntp', 'leaseTime', 'nextServer', 'bootfile', 'bootByArchitecture'];

/** The name of the interface that a ClusterAgent names; undefined if none. */
export function interfaceOf(clusterAgent: KubernetesObject): string | undefined {
  return readText(clusterAgent, 'spec', 'feature', 'dhcpServerConfig', 'dhcpServerInterface') || undefined;
}

/**
 * The pool to serve, or everything that prevents serving it. Never throws.
 *
 * @param present - addresses of the interface; undefined if the interface does not exist.
 */
export function readHostPool(
  clusterAgent: KubernetesObject,
  present: readonly PresentSubnetAddress[] | undefined,
): HostPoolReading {
  const problems = clusterAgentProblems(clusterAgent).map(describeHostProblem);
  const interfaceName = interfaceOf(clusterAgent);
  const { enableDhcpServer, subnet } = readClusterAgent(clusterAgent);
  if (!enableDhcpServer && problems.length === 0) return { kind: 'off' };
  if (problems.length > 0 || interfaceName === undefined || subnet === undefined)
    return { kind: 'unserved', interfaceName, problems };
  return readServed(clusterAgent, { interfaceName, subnet, present });
}

interface Place {
  readonly interfaceName: string;
  readonly subnet: Ipv4Cidr;
  readonly present: readonly PresentSubnetAddress[] | undefined;
}

function readServed(clusterAgent: KubernetesObject, { interfaceName, subnet, present }: Place): HostPoolReading {
  const { name } = clusterAgent.metadata;
  // A missing interface is reported where the interface is checked.
  if (present === undefined) return { kind: 'unserved', interfaceName, problems: [] };
  const config = recordAt(clusterAgent);
  const self = selfOf(config, subnet);
  const server = self?.address ?? present.find((one) => isOfSubnet(one, subnet))?.address;
  if (server === undefined)
    return { kind: 'unserved', interfaceName, problems: [noServerAddress(interfaceName, subnet, present)] };
  const reading = readPool(toIpPool(name, config, formatIpv4Address(server)));
  if (!reading.ok) return { kind: 'unserved', interfaceName, problems: reading.problems.map(toOwnPath) };
  const warnings = reading.warnings.map(toOwnPath);
  return { kind: 'served', interfaceName, pool: { ...reading.pool, name }, self, warnings };
}

type Config = Readonly<Record<string, unknown>>;

function recordAt(clusterAgent: KubernetesObject): Config {
  const config = readField(clusterAgent, 'spec', 'feature', 'dhcpServerConfig');
  return isRecord(config) ? config : {};
}

function selfOf(config: Config, subnet: Ipv4Cidr): SelfAddress | undefined {
  const address = parseIpv4Address((readText(config, 'selfIp') ?? '').split('/')[0] ?? '');
  return address === undefined ? undefined : { address, prefixLength: subnet.prefixLength };
}

function isOfSubnet({ address, prefixLength }: PresentSubnetAddress, subnet: Ipv4Cidr): boolean {
  return prefixLength === subnet.prefixLength && cidrContains(subnet, address);
}

function noServerAddress(interfaceName: string, subnet: Ipv4Cidr, present: readonly PresentSubnetAddress[]): string {
  const has = present.map(({ address, prefixLength }) => `${formatIpv4Address(address)}/${prefixLength}`);
  const what = has.length === 0 ? 'no IPv4 address' : `only ${has.join(', ')}`;
  return `selfIp is not set, and interface ${interfaceName} has ${what}: write selfIp, or give the interface an address of ${formatIpv4Cidr(subnet)}`;
}

/** The same settings as an object for the parser of pools, which has the rules for all of them. */
function toIpPool(name: string, config: Config, serverIP: string): KubernetesObject {
  const [start = '', end = ''] = (readText(config, 'ipRange') ?? '').split('-');
  const options = Object.fromEntries(OPTIONS.flatMap((field) => (config[field] === undefined ? [] : [[field, config[field]]])));
  const ipv4Config = {
    cidr: readText(config, 'subnet'),
    serverIP,
    pool: { start, end },
    router: readText(config, 'gateway'),
    dynamic: [`${start}-${end}`],
    ...options,
  };
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { namespace: 'default', name },
    spec: { networkName: 'default/hosts', ipv4Config },
  } as KubernetesObject;
}

function toOwnPath(problem: string): string {
  return problem.replaceAll('spec.ipv4Config.', 'spec.feature.dhcpServerConfig.');
}
