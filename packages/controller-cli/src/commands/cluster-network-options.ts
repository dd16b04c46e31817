import { type Ipv4Address, parseIpv4Address, parseIpv4Cidr, parseIpv6Prefix } from '@vmdhcp/dhcp-allocator/address';
import type { ClusterNetworks } from '@vmdhcp/reconciler';
import { InvalidArgumentError, Option } from 'commander';

/** The values from commander. */
export interface ClusterNetworkOptions {
  readonly serviceCidr: ClusterNetworks['serviceCidrs'];
  readonly podCidr: ClusterNetworks['podCidrs'];
  readonly apiServerAddress: ClusterNetworks['apiServers'];
}

/** The addresses that the cluster needs itself: no IPPool should have them. */
export const clusterNetworkOptions = (): Option[] => [
  networkOption('--service-cidr <cidr>', 'network of Services, which no IPPool may overlap; may be given several times'),
  networkOption('--pod-cidr <cidr>', 'network of pods; may be given several times'),
  addressOption('--api-server-address <address>', 'address that no client may get; may be given several times'),
];

export function addressOption(flags: string, description?: string): Option {
  return new Option(flags, description).argParser(parseAddress).default([] as readonly Ipv4Address[], 'none');
}

export function toClusterNetworks({ serviceCidr, podCidr, apiServerAddress }: ClusterNetworkOptions): ClusterNetworks {
  return { serviceCidrs: serviceCidr, podCidrs: podCidr, apiServers: apiServerAddress };
}

function networkOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser(parseCidr).default([] as ClusterNetworks['podCidrs'], 'none');
}

function parseCidr(text: string, before: ClusterNetworks['podCidrs']): ClusterNetworks['podCidrs'] {
  const cidr = parseIpv4Cidr(text) ?? parseIpv6Prefix(text);
  if (cidr === undefined) throw new InvalidArgumentError('write a network, for example 10.53.0.0/16 or fd00:53::/112.');
  return [...before, cidr];
}

function parseAddress(text: string, before: readonly Ipv4Address[]): readonly Ipv4Address[] {
  const address = parseIpv4Address(text);
  if (address === undefined) throw new InvalidArgumentError('write an IPv4 address, for example 192.168.1.10.');
  return [...before, address];
}
