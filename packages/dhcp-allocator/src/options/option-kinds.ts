/**
 * The shapes that option values have, and how each becomes octets and back. `decode` returns undefined for octets that do not have the shape; the
 * caller decides what to do about that. `encode` accepts what `decode` returns.
 */
import type { Ipv4Address } from '../address/ipv4-address.js';
import { concatenate, readUint16, readUint32, toBytes } from '../wire/big-endian.js';
import { decodeAddresses, encodeAddresses } from './address-list.js';
import { decodeStaticRoutes, encodeStaticRoutes, type StaticRoute } from './classless-static-routes.js';
import { decodeDomainNames, encodeDomainNames } from './domain-search.js';
import { encodeText } from './text.js';

/** How one shape of value is written and read. */
export interface OptionKind<Value> {
  readonly encode: (value: Value) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => Value | undefined;
}

/** A sub-option of options 43, 82 and 125. */
export interface SubOption {
  /** 0 to 255. */
  readonly code: number;
  readonly value: Uint8Array;
}

/** The data of one vendor in options 124 and 125. Source: RFC 3925 §3, §4. */
export interface VendorInformation {
  /** IANA private enterprise number, 32 bits. */
  readonly enterprise: number;
  readonly data: Uint8Array;
}

/** Two addresses that belong together: destination and mask, or destination and router. */
export type AddressPair = readonly [Ipv4Address, Ipv4Address];

const sized =
  <Value>(length: number, read: (bytes: Uint8Array) => Value) =>
  (bytes: Uint8Array): Value | undefined =>
    bytes.length === length ? read(bytes) : undefined;

const unsigned = (length: 1 | 2 | 4, read: (bytes: Uint8Array) => number): OptionKind<number> => ({
  encode: (value) => toBytes(value, length),
  decode: sized(length, read),
});

export const octets: OptionKind<Uint8Array> = { encode: (value) => value, decode: (bytes) => bytes };
/** No value: the option is present or absent. */
export const presence: OptionKind<true> = { encode: () => new Uint8Array(0), decode: sized(0, () => true as const) };
export const flag: OptionKind<boolean> = {
  encode: (value) => Uint8Array.of(value ? 1 : 0),
  decode: (bytes) => (bytes.length === 1 && (bytes[0] as number) <= 1 ? bytes[0] === 1 : undefined),
};
export const uint8: OptionKind<number> = unsigned(1, (bytes) => bytes[0] as number);
export const uint16: OptionKind<number> = unsigned(2, (bytes) => readUint16(bytes, 0));
export const uint32: OptionKind<number> = unsigned(4, (bytes) => readUint32(bytes, 0));
/** -2147483648 to 2147483647: the time offset. */
export const int32: OptionKind<number> = {
  encode: (value) => toBytes(value >>> 0, 4),
  decode: sized(4, (bytes) => readUint32(bytes, 0) | 0),
};
export const uint16List: OptionKind<readonly number[]> = {
  encode: (values) => concatenate(values.map((value) => toBytes(value, 2))),
  decode: (bytes) =>
    bytes.length === 0 || bytes.length % 2 === 1 ? undefined : inPieces(bytes, 2).map((piece) => readUint16(piece, 0)),
};
export const codes: OptionKind<readonly number[]> = {
  encode: (values) => Uint8Array.from(values),
  decode: (bytes) => (bytes.length === 0 ? undefined : [...bytes]),
};
export const address: OptionKind<Ipv4Address> = unsigned(4, (bytes) => readUint32(bytes, 0));
export const addresses: OptionKind<readonly Ipv4Address[]> = { encode: encodeAddresses, decode: decodeAddresses };
export const addressPairs: OptionKind<readonly AddressPair[]> = {
  encode: (pairs) => encodeAddresses(pairs.flat()),
  decode: (bytes) =>
    bytes.length === 0 || bytes.length % 8 !== 0
      ? undefined
      : inPieces(bytes, 8).map((pair) => [readUint32(pair, 0), readUint32(pair, 4)] as const),
};
/** One octet a character; NULs at the end do not belong to it. Source: RFC 2132 §2: receivers MUST take text with and without. */
export const text: OptionKind<string> = {
  encode: encodeText,
  decode: (bytes) => {
    const end = bytes.findLastIndex((octet) => octet !== 0) + 1;
    return end === 0 ? undefined : Array.from(bytes.subarray(0, end), (octet) => String.fromCharCode(octet)).join('');
  },
};
export const domainNames: OptionKind<readonly string[]> = { encode: encodeDomainNames, decode: decodeDomainNames };
export const staticRoutes: OptionKind<readonly StaticRoute[]> = { encode: encodeStaticRoutes, decode: decodeStaticRoutes };

/** Code, length and value, one after the other. Sources: RFC 2132 §8.4, RFC 3046 §2.0. */
export const subOptions: OptionKind<readonly SubOption[]> = {
  encode: (list) => concatenate(list.flatMap(({ code, value }) => [Uint8Array.of(code, value.length), value])),
  decode(bytes) {
    const list: SubOption[] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = at + 2 + (bytes[at + 1] ?? Number.POSITIVE_INFINITY);
      if (end > bytes.length) return undefined;
      list.push({ code: bytes[at] as number, value: bytes.subarray(at + 2, end) });
      at = end;
    }
    return list.length === 0 ? undefined : list;
  },
};

/** Enterprise number, length and data, one vendor after the other. Source: RFC 3925 §3, §4. */
export const vendorInformation: OptionKind<readonly VendorInformation[]> = {
  encode: (list) =>
    concatenate(list.flatMap(({ enterprise, data }) => [toBytes(enterprise, 4), Uint8Array.of(data.length), data])),
  decode(bytes) {
    const list: VendorInformation[] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = at + 5 + (bytes[at + 4] ?? Number.POSITIVE_INFINITY);
      if (end > bytes.length) return undefined;
      list.push({ enterprise: readUint32(bytes, at), data: bytes.subarray(at + 5, end) });
      at = end;
    }
    return list.length === 0 ? undefined : list;
  },
};

function inPieces(bytes: Uint8Array, length: number): Uint8Array[] {
  return Array.from({ length: bytes.length / length }, (_, index) => bytes.subarray(index * length, (index + 1) * length));
}
