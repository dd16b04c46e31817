/** Options of DHCPv6: a code, a length and a value each, in order; a code may appear several times. Source: RFC 8415 §21.1. */
import { concatenate, readUint16, writeUint16 } from '../wire/big-endian.js';

/** An option: the value is a view of the packet where it was decoded. */
export type Dhcpv6OptionEntry = readonly [code: number, value: Uint8Array];

const HEADER = 4;

/** The options in these octets; undefined if the last one is longer than what is left. */
export function readDhcpv6Options(bytes: Uint8Array, start = 0): Dhcpv6OptionEntry[] | undefined {
  const options: Dhcpv6OptionEntry[] = [];
  let at = start;
  while (at < bytes.length) {
    const end = at + HEADER + readUint16(bytes, at + 2);
    if (at + HEADER > bytes.length || end > bytes.length) return undefined;
    options.push([readUint16(bytes, at), bytes.subarray(at + HEADER, end)]);
    at = end;
  }
  return options;
}

/** The octets of options. @throws RangeError if a value is longer than 65,535 octets: a bug of the caller. */
export function encodeDhcpv6Options(options: Iterable<Dhcpv6OptionEntry>): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [code, value] of options) {
    if (value.length > 0xffff) throw new RangeError(`option ${code} has ${value.length} octets; 65535 are possible`);
    const header = new Uint8Array(HEADER);
    writeUint16(header, 0, code);
    writeUint16(header, 2, value.length);
    parts.push(header, value);
  }
  return concatenate(parts);
}

/** The first option with this code. */
export function firstOption(options: readonly Dhcpv6OptionEntry[], code: number): Uint8Array | undefined {
  return options.find(([own]) => own === code)?.[1];
}

/** All options with this code, in order. */
export function allOptions(options: readonly Dhcpv6OptionEntry[], code: number): Uint8Array[] {
  return options.filter(([own]) => own === code).map(([, value]) => value);
}
