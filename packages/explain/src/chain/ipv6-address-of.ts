import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { formatIpv6Address, parseIpv4Cidr, parseIpv6Prefix } from '@vmdhcp/dhcp-allocator/address';
import { ipv6AddressBeside } from '@vmdhcp/dhcp-allocator/dhcpv6';
import { type KubernetesObject, readText } from '@vmdhcp/kube-runtime';

/** The IPv6 address that the client with an IPv4 address of an IPPool has; undefined if that has no IPv6. */
export function ipv6AddressOf({ spec }: KubernetesObject, ipv4Address: string): string | undefined {
  const prefix = parseIpv6Prefix(readText(spec, 'ipv6Config', 'cidr') ?? '');
  const cidr = parseIpv4Cidr(readText(spec, 'ipv4Config', 'cidr') ?? '');
  const address = parseIpv4Address(ipv4Address);
  if (prefix === undefined || cidr === undefined || address === undefined) return undefined;
  const found = ipv6AddressBeside({ cidr, dhcpv6: { prefix } }, address);
  return found === undefined ? undefined : formatIpv6Address(found);
}
