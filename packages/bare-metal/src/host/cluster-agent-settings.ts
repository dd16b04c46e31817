import {
  cidrContains,
  type Ipv4Address,
  type Ipv4Range,
  parseIpv4Address,
  parseIpv4Cidr,
  parseIpv4Range,
} from '@vmdhcp/dhcp-allocator/address';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readField } from '@vmdhcp/kube-runtime';
import { readFlag, readNonEmptyText, readNumber } from '../object/read-field.js';
import { type HostPlace, parseHostNetwork } from './host-network.js';

/** How to reach a management controller. */
export interface HostConnection {
  readonly https: boolean;
  /** TCP, 1 to 65535. */
  readonly port: number;
  /** Both, or neither. */
  readonly secretName?: string;
  readonly secretNamespace?: string;
}

/** The settings of one ClusterAgent, with the defaults of its CRD. */
export interface ClusterAgentSettings extends HostPlace {
  readonly name: string;
  readonly uid: string | undefined;
  /** How to reach learned hosts, and HostEndpoints without their own Secret. */
  readonly connection: HostConnection;
  readonly enableDhcpServer: boolean;
  readonly enableDhcpDiscovery: boolean;
  readonly enableBindDhcpIP: boolean;
  readonly enableBindStaticIP: boolean;
  /** Undefined, like `subnet`, if it is missing or unreadable. */
  readonly range: Ipv4Range | undefined;
  readonly gateway: Ipv4Address | undefined;
  /** The address of the DHCP server, without its prefix length. */
  readonly self: Ipv4Address | undefined;
}

const DHCP = ['spec', 'feature', 'dhcpServerConfig'] as const;
const DEFAULT_PORT = 443;

/** The settings of a ClusterAgent, whatever is stored: an unreadable field counts as missing. Never throws. */
export function readClusterAgent(object: KubernetesObject): ClusterAgentSettings {
  const isOn = (name: string) => readFlag(object, ...DHCP, name) ?? true;
  return {
    name: object.metadata.name,
    uid: object.metadata.uid,
    connection: readConnection(readField(object, 'spec', 'endpoint')),
    enableDhcpServer: readFlag(object, 'spec', 'feature', 'enableDhcpServer') ?? true,
    enableDhcpDiscovery: isOn('enableDhcpDiscovery'),
    enableBindDhcpIP: isOn('enableBindDhcpIP'),
    enableBindStaticIP: isOn('enableBindStaticIP'),
    networks: networksAt(object),
    subnet: parseIpv4Cidr(readNonEmptyText(object, ...DHCP, 'subnet') ?? ''),
    range: parseIpv4Range(readNonEmptyText(object, ...DHCP, 'ipRange') ?? ''),
    gateway: parseIpv4Address(readNonEmptyText(object, ...DHCP, 'gateway') ?? ''),
    self: parseIpv4Address(readNonEmptyText(object, ...DHCP, 'selfIp')?.split('/', 1)[0] ?? ''),
  };
}

function networksAt(object: KubernetesObject): HostPlace['networks'] {
  const written = readField(object, 'spec', 'endpoint', 'networks');
  return Array.isArray(written) ? written.flatMap((one) => (typeof one === 'string' ? (parseHostNetwork(one) ?? []) : [])) : [];
}

/** True for an IPv4 address in the subnet of the DHCP server; false if there is none. */
export function isInSubnet({ subnet }: Pick<ClusterAgentSettings, 'subnet'>, text: string): boolean {
  const address = parseIpv4Address(text);
  return subnet !== undefined && address !== undefined && cidrContains(subnet, address);
}

/** How to reach a host, from fields that may be missing. Half a Secret counts as none. */
export function readConnection(fields: unknown): HostConnection {
  const [secretName, secretNamespace] = [readNonEmptyText(fields, 'secretName'), readNonEmptyText(fields, 'secretNamespace')];
  const port = readNumber(fields, 'port');
  return {
    https: readFlag(fields, 'https') ?? true,
    port: port !== undefined && Number.isInteger(port) && port > 0 && port <= 65_535 ? port : DEFAULT_PORT,
    ...(secretName !== undefined && secretNamespace !== undefined && { secretName, secretNamespace }),
  };
}
