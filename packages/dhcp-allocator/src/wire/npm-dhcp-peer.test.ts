/**
 * Compares the codec with a second implementation, the npm package `dhcp`, where that is correct: it knows neither cookie, padding, overload nor
 * split options, and none of the options 82, 119 and 121.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatIpv4Address } from '../address/ipv4-address.js';
import { readMacAddress } from '../address/mac-address.js';
import { decodeOption, encodeOption, type OptionName } from '../options/option-registry.js';
import { decodeMessage } from './decode-message.js';
import type { DhcpMessage } from './dhcp-message.js';
import { encodeMessage } from './encode-message.js';

interface PeerMessage {
  readonly op: number;
  readonly xid: number;
  readonly secs: number;
  readonly flags: number;
  readonly ciaddr: string;
  readonly yiaddr: string;
  readonly siaddr: string;
  readonly giaddr: string;
  readonly chaddr: string;
  readonly options: Readonly<Record<number, unknown>>;
}

const require = createRequire(import.meta.url);
const peer = require('dhcp/lib/protocol.js') as { readonly parse: (bytes: Buffer) => PeerMessage };

const SHARED: readonly OptionName[] = [
  'subnetMask',
  'routers',
  'domainNameServers',
  'hostName',
  'domainName',
  'interfaceMtu',
  'broadcastAddress',
  'requestedAddress',
  'leaseTime',
  'messageType',
  'serverIdentifier',
  'parameterRequestList',
  'maximumMessageSize',
  'renewalTime',
  'rebindingTime',
];
const ADDRESSES: readonly OptionName[] = ['subnetMask', 'broadcastAddress', 'requestedAddress', 'serverIdentifier'];
const ADDRESS_LISTS: readonly OptionName[] = ['routers', 'domainNameServers'];

/** Padding, and options after which it loses its place. */
const BEYOND_THE_PEER = [0, 52, 82, 108, 119, 121];

/** The value of an option from our codec, in the peer's form. */
function inPeersWords(name: OptionName, bytes: Uint8Array): unknown {
  const value: unknown = decodeOption(name, bytes);
  if (ADDRESSES.includes(name)) return formatIpv4Address(value as number);
  if (ADDRESS_LISTS.includes(name)) return (value as number[]).map(formatIpv4Address);
  return value;
}

function compare(bytes: Uint8Array): void {
  const decoded = decodeMessage(bytes);
  if (!decoded.ok) throw new Error(decoded.reason);
  const ours: DhcpMessage = decoded.message;
  const theirs = peer.parse(Buffer.from(bytes));
  expect([theirs.op, theirs.xid, theirs.secs, theirs.flags]).toEqual([ours.op, ours.xid, ours.secs, ours.flags]);
  const addresses = [ours.ciaddr, ours.yiaddr, ours.siaddr, ours.giaddr].map(formatIpv4Address);
  expect([theirs.ciaddr, theirs.yiaddr, theirs.siaddr, theirs.giaddr]).toEqual(addresses);
  expect(theirs.chaddr.toLowerCase().replaceAll('-', ':')).toBe(readMacAddress(ours.chaddr));
  for (const name of SHARED) {
    const [code] = encodeOption(name, (ADDRESS_LISTS.includes(name) || name === 'parameterRequestList' ? [] : '') as never);
    const own = ours.options.get(code);
    if (own === undefined || own.length === 0) continue;
    expect([name, theirs.options[code]]).toEqual([name, inPeersWords(name, own)]);
  }
}

const captured = JSON.parse(readFileSync(new URL('./fixtures/captured-packets.json', import.meta.url), 'utf8')) as {
  name: string;
  hex: string;
}[];

describe('the npm package dhcp reads what we read', () => {
  /** Its parser throws on padding: captured packets are cut at their end option. */
  const packets = captured.map(({ name, hex }) => {
    const bytes = Uint8Array.from(Buffer.from(hex, 'hex'));
    const codes: number[] = [];
    let at = 240;
    while (at < bytes.length && bytes[at] !== 255) {
      codes.push(bytes[at] as number);
      at += 2 + (bytes[at + 1] as number);
    }
    return { name, bytes: bytes.slice(0, at + 1), readable: !codes.some((code) => BEYOND_THE_PEER.includes(code)) };
  });
  const readable = packets.filter((packet) => packet.readable);

  it('and it can read most captured packets', () => expect(readable.length).toBeGreaterThan(20));

  it.each(readable)('in $name', ({ bytes }) => compare(bytes));

  it('and it agrees on any of our replies that it can read', () => {
    const option = fc.oneof(
      fc.tuple(
        fc.constantFrom<OptionName>('leaseTime', 'renewalTime', 'rebindingTime', ...ADDRESSES),
        fc.integer({ min: 1, max: 0xffffffff }),
      ),
      fc.tuple(
        fc.constantFrom<OptionName>(...ADDRESS_LISTS),
        fc.array(fc.integer({ min: 1, max: 0xffffffff }), { minLength: 1, maxLength: 4 }),
      ),
      fc.tuple(fc.constantFrom<OptionName>('hostName', 'domainName'), fc.stringMatching(/^[a-z][a-z0-9]{0,30}$/)),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(option, { selector: ([name]) => name, maxLength: 8 }),
        fc.integer({ min: 0, max: 0xffffffff }),
        (options, xid) => {
          const { bytes } = encodeMessage({
            ...{ op: 2, htype: 1, hlen: 6, hops: 0, xid, secs: 3, flags: 0x8000, ciaddr: 1, yiaddr: xid, siaddr: 3, giaddr: 4 },
            chaddr: Uint8Array.of(2, 0, 0, 0, 0, 1),
            sname: new Uint8Array(0),
            file: new Uint8Array(0),
            options: [[53, Uint8Array.of(5)], ...options.map(([name, value]) => encodeOption(name, value as never))],
          });
          compare(bytes.slice(0, bytes.lastIndexOf(255) + 1));
        },
      ),
    );
  });
});
