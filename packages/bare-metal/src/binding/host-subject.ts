import { type Ipv4Address, type MacAddress, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator/address';

/** A host, named by its address or by the MAC address of its client. */
export type HostSubject =
  | { readonly kind: 'address'; readonly address: Ipv4Address }
  | { readonly kind: 'client'; readonly macAddress: MacAddress };

/** Parses an address or a MAC address; undefined if the text is neither. */
export function parseHostSubject(text: string): HostSubject | undefined {
  const address = parseIpv4Address(text);
  if (address !== undefined) return { kind: 'address', address };
  const macAddress = parseMacAddress(text);
  return macAddress === undefined ? undefined : { kind: 'client', macAddress };
}
