import { parseIpv4Address } from '@vmdhcp/dhcp-allocator/address';

const IPV6 = /^[0-9a-f:.]*:[0-9a-f:.]*$/;

/** The address of a management controller in its one spelling; undefined: the text is none. An IPv6 address is compared as text, in lower case. */
export function parseHostAddress(text: string | undefined): string | undefined {
  const lower = (text ?? '').trim().toLowerCase();
  return parseIpv4Address(lower) !== undefined || (lower.length <= 45 && IPV6.test(lower)) ? lower : undefined;
}
