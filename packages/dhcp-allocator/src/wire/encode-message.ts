/**
 * Encodes a message in one of two ways. Nearly every reply fits the options field: its options are written one after the other, and that is the fast
 * path. What does not fit is spread over `options`, `file` and `sname`, option by option; what then still does not fit is left out from the end, and
 * named.
 */
import { writeUint16, writeUint32 } from './big-endian.js';
import type { DhcpMessage } from './dhcp-message.js';
import {
  CHADDR_LENGTH,
  DEFAULT_MAXIMUM_MESSAGE_LENGTH,
  FILE_LENGTH,
  MAGIC_COOKIE,
  MINIMUM_MESSAGE_LENGTH,
  Offset,
  OptionCode,
  SNAME_LENGTH,
} from './layout.js';

/** How long a message may be, whether options may use the fields `sname` and `file`, and where the octets go. */
export interface EncodeSettings {
  /** Octets of the message (UDP payload) at most, 300 or more; default 548. Source: RFC 2131 §2, RFC 2132 §9.10. */
  readonly maximumLength?: number;
  /** False: `file` and `sname` take no options, as a DHCPNAK must not use them (RFC 2131 table 3). Default true. */
  readonly overload?: boolean;
  /** Where to write, so that a caller can reuse memory; at least `maximumLength` octets. Default: new memory. */
  readonly into?: Uint8Array;
}

/** A message to encode: as decoded, but its options may be any list of codes and values. */
export interface OutgoingMessage extends Omit<DhcpMessage, 'options'> {
  readonly options: Iterable<readonly [code: number, value: Uint8Array]>;
}

/** The octets of a message, and the options that had no room. */
export interface Encoded {
  /** The octets: a view of `into` where that was given. */
  readonly bytes: Uint8Array;
  /** Codes of options for which there was no room, first those at the end of the message's list. */
  readonly omittedOptions: readonly number[];
}

type OptionEntry = readonly [code: number, value: Uint8Array];

const NONE_OMITTED: readonly number[] = [];

/**
 * The octets of a message, at least 300 of them (RFC 951 §3) and at most `maximumLength`.
 *
 * Options keep their order. Values above 255 octets are split (RFC 3396 §7). If the options field is too small, `file` and `sname` are used too,
 * where the message leaves them empty (RFC 2131 §4.1, option 52).
 *
 * @throws RangeError if `into` is shorter than `maximumLength`, or a field longer than the packet has room for: bugs of the caller.
 */
export function encodeMessage(message: OutgoingMessage, settings: EncodeSettings = {}): Encoded {
  const maximumLength = Math.max(settings.maximumLength ?? DEFAULT_MAXIMUM_MESSAGE_LENGTH, MINIMUM_MESSAGE_LENGTH);
  const target = settings.into ?? new Uint8Array(maximumLength);
  if (target.length < maximumLength) throw new RangeError(`into has ${target.length} octets, ${maximumLength} are needed`);
  writeFixedFields(message, target);
  // Copied, because it may be read twice and an iterator can be read only once.
  const options: readonly OptionEntry[] = Array.isArray(message.options) ? message.options : [...message.options];
  const end = writeOptions(options, target, maximumLength - 1);
  if (end !== undefined) {
    target[end] = OptionCode.end;
    return { bytes: finish(target, end + 1), omittedOptions: NONE_OMITTED };
  }
  return encodeOverloaded({ ...fieldsForOptions(message, settings), options }, target, maximumLength);
}

function writeFixedFields(message: OutgoingMessage, target: Uint8Array): void {
  target[Offset.op] = message.op;
  target[Offset.htype] = message.htype;
  target[Offset.hlen] = message.hlen;
  target[Offset.hops] = message.hops;
  writeUint32(target, Offset.xid, message.xid);
  writeUint16(target, Offset.secs, message.secs);
  writeUint16(target, Offset.flags, message.flags);
  writeUint32(target, Offset.ciaddr, message.ciaddr);
  writeUint32(target, Offset.yiaddr, message.yiaddr);
  writeUint32(target, Offset.siaddr, message.siaddr);
  writeUint32(target, Offset.giaddr, message.giaddr);
  writePadded(target, message.chaddr, Offset.chaddr, CHADDR_LENGTH);
  writePadded(target, message.sname, Offset.sname, SNAME_LENGTH);
  writePadded(target, message.file, Offset.file, FILE_LENGTH);
  writeUint32(target, Offset.cookie, MAGIC_COOKIE);
}

// oxlint-disable-next-line max-params -- on the packet path: an object would be garbage for every field of every packet
function writePadded(target: Uint8Array, value: Uint8Array, offset: number, length: number): void {
  if (value.length > length) throw new RangeError(`a field of ${length} octets cannot hold ${value.length}`);
  target.fill(0, offset, offset + length);
  if (value.length > 0) target.set(value, offset);
}

/** Writes every option from the options field on; returns the octet after the last, or undefined if `limit` was reached. */
function writeOptions(options: readonly OptionEntry[], target: Uint8Array, limit: number): number | undefined {
  let at: number = Offset.options;
  for (const [code, value] of options) {
    if (at + encodedLength(value) > limit) return undefined;
    at = writeOption(target, at, code, value);
  }
  return at;
}

/** Octets of an option with its headers: one header for each 255 octets or part of them. */
export function encodedLength(value: Uint8Array): number {
  return value.length + 2 * Math.max(1, Math.ceil(value.length / 255));
}

// oxlint-disable-next-line max-params -- on the packet path, as above
function writeOption(target: Uint8Array, offset: number, code: number, value: Uint8Array): number {
  let at = offset;
  let from = 0;
  do {
    const length = Math.min(255, value.length - from);
    target[at] = code;
    target[at + 1] = length;
    // Values are short: a loop is quicker than a view and a copy.
    for (let octet = 0; octet < length; octet++) target[at + 2 + octet] = value[from + octet] as number;
    at += 2 + length;
    from += length;
  } while (from < value.length);
  return at;
}

/** Pads to the minimum and returns what was written. */
function finish(target: Uint8Array, end: number): Uint8Array {
  if (end >= MINIMUM_MESSAGE_LENGTH) return target.subarray(0, end);
  target.fill(0, end, MINIMUM_MESSAGE_LENGTH);
  return target.subarray(0, MINIMUM_MESSAGE_LENGTH);
}

/** A field that takes options, and how far it is filled. One octet at its end is kept for END. */
interface Room {
  at: number;
  readonly limit: number;
  readonly overloadBit: 0 | 1 | 2;
}

interface ToSpread {
  readonly options: readonly OptionEntry[];
  readonly takesFile: boolean;
  readonly takesSname: boolean;
}

function fieldsForOptions({ file, sname }: OutgoingMessage, { overload = true }: EncodeSettings): Omit<ToSpread, 'options'> {
  return { takesFile: overload && file.length === 0, takesSname: overload && sname.length === 0 };
}

/**
 * Spreads the options over up to three fields, each into the first in which it fits: their order means nothing to a client,
 * and no octet is left unused while an option has no room. Option 82 is the exception: "Servers SHOULD
 * copy the Relay Agent Information option as the last DHCP option in the response" (RFC 3046 §2.2). So its room in the options
 * field is reserved first, and it is written there last.
 */
function encodeOverloaded({ options, takesFile, takesSname }: ToSpread, target: Uint8Array, maximumLength: number): Encoded {
  const { last, limit, omittedOptions } = reserveRoomForTheLast(options, maximumLength - 1 - OVERLOAD_OPTION_LENGTH);
  const rooms: Room[] = [{ at: Offset.options, limit, overloadBit: 0 }];
  if (takesFile) rooms.push({ at: Offset.file, limit: Offset.file + FILE_LENGTH - 1, overloadBit: 1 });
  if (takesSname) rooms.push({ at: Offset.sname, limit: Offset.sname + SNAME_LENGTH - 1, overloadBit: 2 });

  let overload = 0;
  for (const [code, value] of spreadOrder(options)) {
    const room = rooms.find((room) => room.at + encodedLength(value) <= room.limit);
    if (room === undefined) {
      omittedOptions.push(code);
      continue;
    }
    room.at = writeOption(target, room.at, code, value);
    overload |= room.overloadBit;
  }
  for (const room of rooms.slice(1)) {
    if ((overload & room.overloadBit) !== 0) target[room.at] = OptionCode.end;
  }
  const own = rooms[0] as Room;
  if (overload !== 0) own.at = writeOption(target, own.at, OptionCode.overload, Uint8Array.of(overload));
  for (const [code, value] of last) own.at = writeOption(target, own.at, code, value);
  target[own.at] = OptionCode.end;
  return { bytes: finish(target, own.at + 1), omittedOptions };
}

const OVERLOAD_OPTION_LENGTH = 3;

interface LastOptions {
  readonly last: readonly OptionEntry[];
  /** Where the preceding options must end. */
  readonly limit: number;
  readonly omittedOptions: number[];
}

/** Option 82 and its room, if the options field has that much before `limit`. */
function reserveRoomForTheLast(options: readonly OptionEntry[], limit: number): LastOptions {
  const last = options.filter(([code]) => code === OptionCode.relayAgentInformation);
  const reserved = last.reduce((octets, [, value]) => octets + encodedLength(value), 0);
  if (Offset.options + reserved <= limit) return { last, limit: limit - reserved, omittedOptions: [] };
  return { last: [], limit, omittedOptions: last.map(([code]) => code) };
}

/**
 * Options that must not be lost when room is short: a client cannot do without type, server and lease time, and its identifier MUST come back (RFC
 * 6842 §3).
 */
const FIRST_OF_ALL: readonly number[] = [
  OptionCode.messageType,
  OptionCode.serverIdentifier,
  OptionCode.leaseTime,
  OptionCode.clientIdentifier,
];

/** Every option but the relay's, whose room is reserved. */
function spreadOrder(options: readonly OptionEntry[]): OptionEntry[] {
  const first = FIRST_OF_ALL.flatMap((wanted) => options.filter(([code]) => code === wanted));
  const rest = options.filter(([code]) => code !== OptionCode.relayAgentInformation && !FIRST_OF_ALL.includes(code));
  return [...first, ...rest];
}
