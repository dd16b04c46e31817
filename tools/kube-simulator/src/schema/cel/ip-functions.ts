/**
 * The IP and CIDR functions of Kubernetes' CEL. An address is a string in its canonical form here, so that it compares by value.
 */

import { isIPv4 } from 'node:net';
import { type CelFunc, CelScalar, celFunc, celMethod } from '@bufbuild/cel';
import { isCidr, isPlainIPv6 } from '../formats.js';

const { STRING, BOOL, INT } = CelScalar;

interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}
interface Network extends Address {
  readonly prefixLength: number;
}

function parseAddress(text: string): Address {
  if (isIPv4(text)) return { bits: 32, value: bytesValue(text.split('.').map(Number), 8n) };
  if (!isPlainIPv6(text)) throw new Error(`IP Address '${text}' parse error during conversion from string`);
  return { bits: 128, value: bytesValue(groupsOf(text), 16n) };
}

function bytesValue(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((value, part) => (value << bits) | BigInt(part), 0n);
}

function groupsOf(text: string): number[] {
  const [head = '', tail] = text.replace(/[\d.]+$/, (last) => (last.includes('.') ? asGroups(last) : last)).split('::');
  const groups = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  if (tail === undefined) return groups(head);
  const [before, after] = [groups(head), groups(tail)];
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
}

/** `1.2.3.4` at the end of an IPv6 address as two groups. */
function asGroups(ipv4: string): string {
  const { value } = parseAddress(ipv4);
  return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}

function formatAddress({ bits, value }: Address): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - index * 16)) & 0xffffn).toString(16)).join(':');
  return new URL(`http://[${groups}]`).hostname.slice(1, -1);
}

function parseNetwork(text: string): Network {
  if (!isCidr(text)) throw new Error(`network address parse error during conversion from string: invalid CIDR address: ${text}`);
  const [address = '', length = ''] = text.split('/');
  return { ...parseAddress(address), prefixLength: Number(length) };
}

function networkOf({ bits, value, prefixLength }: Network): bigint {
  const hostBits = BigInt(bits - prefixLength);
  return (value >> hostBits) << hostBits;
}

function contains(network: Network, address: Address): boolean {
  return network.bits === address.bits && networkOf(network) === networkOf({ ...network, value: address.value });
}

function formatNetwork(network: Network): string {
  return `${formatAddress(network)}/${network.prefixLength}`;
}

function isIp(text: string): boolean {
  return isIPv4(text) || isPlainIPv6(text);
}

/** A method that returns whether an address is in one of `networks`. */
function within(name: string, networks: readonly string[]): CelFunc {
  const parsed = networks.map(parseNetwork);
  return celMethod(name, STRING, [], BOOL, function () {
    const address = parseAddress(this);
    return parsed.some((network) => contains(network, address));
  });
}

const unspecified = ['0.0.0.0/32', '::/128'];
const loopback = ['127.0.0.0/8', '::1/128'];
const linkLocalUnicast = ['169.254.0.0/16', 'fe80::/10'];
const notGlobalUnicast = [...unspecified, ...loopback, ...linkLocalUnicast, '224.0.0.0/4', 'ff00::/8', '255.255.255.255/32'].map(
  parseNetwork,
);

export const ipFunctions: CelFunc[] = [
  celFunc('isIP', [STRING], BOOL, isIp),
  celFunc('ip', [STRING], STRING, (text) => formatAddress(parseAddress(text))),
  celFunc('ip.isCanonical', [STRING], BOOL, (text) => formatAddress(parseAddress(text)) === text),
  celMethod('family', STRING, [], INT, function () {
    return parseAddress(this).bits === 32 ? 4n : 6n;
  }),
  within('isUnspecified', unspecified),
  within('isLoopback', loopback),
  within('isLinkLocalUnicast', linkLocalUnicast),
  within('isLinkLocalMulticast', ['224.0.0.0/24', 'ff02::/16']),
  celMethod('isGlobalUnicast', STRING, [], BOOL, function () {
    const address = parseAddress(this);
    return !notGlobalUnicast.some((network) => contains(network, address));
  }),
  celFunc('isCIDR', [STRING], BOOL, isCidr),
  celFunc('cidr', [STRING], STRING, (text) => formatNetwork(parseNetwork(text))),
  celMethod('containsIP', STRING, [STRING], BOOL, function (address) {
    return contains(parseNetwork(this), parseAddress(address));
  }),
  celMethod('containsCIDR', STRING, [STRING], BOOL, function (inner) {
    const [outer, network] = [parseNetwork(this), parseNetwork(inner)];
    return network.prefixLength >= outer.prefixLength && contains(outer, network);
  }),
  celMethod('ip', STRING, [], STRING, function () {
    return formatAddress(parseNetwork(this));
  }),
  celMethod('masked', STRING, [], STRING, function () {
    const network = parseNetwork(this);
    return formatNetwork({ ...network, value: networkOf(network) });
  }),
  celMethod('prefixLength', STRING, [], INT, function () {
    return BigInt(parseNetwork(this).prefixLength);
  }),
];
