/** Options as a person writes them: a code, and text in the form that the kind of the option has, or hexadecimal digits. */
import { parseIpv4Address } from '../address/ipv4-address.js';
import { OptionCode } from '../wire/layout.js';
import * as kinds from './option-kinds.js';
import { OPTIONS, optionNameOf } from './option-registry.js';

interface WrittenForm {
  readonly kind: unknown;
  /** For people, after "write". */
  readonly words: string;
  readonly encode: (text: string) => Uint8Array | undefined;
}

/** A vendor defines them, so the server only carries them. */
const OF_VENDORS: readonly number[] = [OptionCode.vendorSpecific, OptionCode.vendorClass];

/** A server sends these only in reply to the same option of a client: user class, host name, interface, identifier, auto-configuration and subnet. */
const OF_CLIENTS = [77, 81, 94, 97, 116, 118];

const NOT_WRITTEN: ReadonlySet<number> = new Set([...Object.values(OptionCode), ...OF_CLIENTS]);

/** True if a pool may set the option by its code; false if the server or another field of the pool sends it, or clients do. @param code - 0 to 255 */
export function isWritableOption(code: number): boolean {
  return OF_VENDORS.includes(code) || !NOT_WRITTEN.has(code);
}

/** The octets of an option, or undefined if the text does not have its form. @param code - 1 to 254 */
export function parseWrittenOption(code: number, text: string): Uint8Array | undefined {
  if (!text.startsWith('0x')) return formOf(code).encode(text);
  const octets = parseHex(text.slice(2));
  const name = optionNameOf(code);
  return name === undefined || (octets && OPTIONS[name].kind.decode(octets)) !== undefined ? octets : undefined;
}

/** How to write the option, for people, after "write". */
export function describeWrittenOption(code: number): string {
  const { words } = formOf(code);
  return words === IN_HEX ? words : `${words}, or ${IN_HEX}`;
}

const IN_HEX = 'octets in hexadecimal digits, as in 0x0104c0a83001';

function form<Value>(kind: kinds.OptionKind<Value>, words: string, parse: (text: string) => Value | undefined): WrittenForm {
  const encode = (text: string) => {
    const value = parse(text);
    return value === undefined ? undefined : kind.encode(value);
  };
  return { kind, words, encode };
}

const FORMS: readonly WrittenForm[] = [
  form(kinds.address, 'an IPv4 address, as in 192.168.48.5', parseIpv4Address),
  form(kinds.addresses, 'IPv4 addresses, as in 192.168.48.5, 192.168.48.6', listOf(parseIpv4Address)),
  form(kinds.addressPairs, 'pairs of IPv4 addresses, as in 10.0.0.0 192.168.48.1, 10.1.0.0 192.168.48.1', listOf(parsePair)),
  form(kinds.flag, 'true or false', (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined)),
  wholeNumber(kinds.uint8, 0, 0xff),
  wholeNumber(kinds.uint16, 0, 0xffff),
  wholeNumber(kinds.uint32, 0, 0xffffffff),
  wholeNumber(kinds.int32, -0x80000000, 0x7fffffff),
  form(kinds.uint16List, 'whole numbers from 0 to 65535, as in 68, 1500', listOf(parseWholeNumber(0, 0xffff))),
  form(kinds.text, 'printable ASCII characters', (text) => (/^[\x20-\x7e]+$/.test(text) ? text : undefined)),
];

const OCTETS: WrittenForm = { kind: kinds.octets, words: IN_HEX, encode: () => undefined };

/** An option that has no name here is written as text. */
function formOf(code: number): WrittenForm {
  const name = optionNameOf(code);
  const kind = name === undefined ? kinds.text : OPTIONS[name].kind;
  return FORMS.find((one) => one.kind === kind) ?? OCTETS;
}

function parseHex(digits: string): Uint8Array | undefined {
  if (!/^([0-9a-f]{2})+$/i.test(digits)) return undefined;
  return Uint8Array.from(digits.match(/../g) ?? [], (octet) => Number.parseInt(octet, 16));
}

function listOf<Value>(parse: (text: string) => Value | undefined) {
  return (text: string): Value[] | undefined => {
    const values = text.split(',').map((one) => parse(one.trim()));
    return values.every((value) => value !== undefined) ? values : undefined;
  };
}

function parsePair(text: string): kinds.AddressPair | undefined {
  const [first, second, ...rest] = text.split(/ +/).map(parseIpv4Address);
  return first === undefined || second === undefined || rest.length > 0 ? undefined : [first, second];
}

function parseWholeNumber(least: number, most: number) {
  return (text: string): number | undefined => {
    const value = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : undefined;
  };
}

function wholeNumber(kind: kinds.OptionKind<number>, least: number, most: number): WrittenForm {
  return form(kind, `a whole number from ${least} to ${most}`, parseWholeNumber(least, most));
}
