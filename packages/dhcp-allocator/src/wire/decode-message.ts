import { readUint16, readUint32 } from './big-endian.js';
import type { DhcpMessage } from './dhcp-message.js';
import { DhcpOptions, type OptionField, type OptionsFault, readOptions } from './dhcp-options.js';
import { CHADDR_LENGTH, FILE_LENGTH, MAGIC_COOKIE, Offset, OptionCode, SNAME_LENGTH } from './layout.js';

/** Why octets are not a DHCPv4 message. */
export type MalformedReason = 'message-too-short' | 'magic-cookie-missing' | 'hardware-length-invalid' | OptionsFault;

/** The message in the octets of a packet, or why there is none. */
export type DecodeResult =
  | { readonly ok: true; readonly message: DhcpMessage }
  | { readonly ok: false; readonly reason: MalformedReason };

/**
 * The message in the octets, or why there is none. Never throws, whatever the octets.
 *
 * The message is a view: it is valid as long as `bytes` keeps its content. A caller that keeps it copies the octets first.
 *
 * Source: RFC 2131 §2, §4.1; RFC 2132 §9.3 (overload); RFC 3396 (options in pieces).
 */
export function decodeMessage(bytes: Uint8Array): DecodeResult {
  if (bytes.length < Offset.options) return malformed('message-too-short');
  if (readUint32(bytes, Offset.cookie) !== MAGIC_COOKIE) return malformed('magic-cookie-missing');
  if ((bytes[Offset.hlen] as number) > CHADDR_LENGTH) return malformed('hardware-length-invalid');
  const options = readAllOptions(bytes);
  return typeof options === 'string' ? malformed(options) : { ok: true, message: new PacketView(bytes, options) };
}

function malformed(reason: MalformedReason): DecodeResult {
  return { ok: false, reason };
}

const FILE_FIELD: OptionField = { start: Offset.file, end: Offset.file + FILE_LENGTH };
const SNAME_FIELD: OptionField = { start: Offset.sname, end: Offset.sname + SNAME_LENGTH };

/** "the options in the 'options' field are interpreted first, then 'file', then 'sname'". Source: RFC 2131 §4.1, RFC 3396 §5. */
const OVERLOADED_FIELDS: readonly (readonly OptionField[])[] = [[], [FILE_FIELD], [SNAME_FIELD], [FILE_FIELD, SNAME_FIELD]];

interface PacketOptions {
  readonly options: DhcpOptions;
  /** Value of option 52: 0 none, 1 file, 2 sname, 3 both. */
  readonly overload: number;
}

function readAllOptions(bytes: Uint8Array): PacketOptions | OptionsFault {
  const own: OptionField = { start: Offset.options, end: bytes.length };
  const options = readOptions(bytes, [own]);
  if (typeof options === 'string' || !options.has(OptionCode.overload)) {
    return typeof options === 'string' ? options : { options, overload: 0 };
  }
  const overload = options.uint8(OptionCode.overload) ?? 0;
  const fields = OVERLOADED_FIELDS[overload];
  if (overload === 0 || fields === undefined) return 'option-overload-invalid';
  const all = readOptions(bytes, [own, ...fields]);
  if (typeof all === 'string') return all;
  // A second overload inside an overloaded field would be joined to the first, and be two octets long instead of one.
  if (all.uint8(OptionCode.overload) === undefined) return 'option-overload-invalid';
  return { options: DhcpOptions.of([...all].filter(([code]) => code !== OptionCode.overload)), overload };
}

class PacketView implements DhcpMessage {
  readonly options: DhcpOptions;
  readonly #bytes: Uint8Array;
  readonly #overload: number;

  constructor(bytes: Uint8Array, { options, overload }: PacketOptions) {
    this.#bytes = bytes;
    this.options = options;
    this.#overload = overload;
  }

  get op(): number {
    return this.#bytes[Offset.op] as number;
  }
  get htype(): number {
    return this.#bytes[Offset.htype] as number;
  }
  get hlen(): number {
    return this.#bytes[Offset.hlen] as number;
  }
  get hops(): number {
    return this.#bytes[Offset.hops] as number;
  }
  get xid(): number {
    return readUint32(this.#bytes, Offset.xid);
  }
  get secs(): number {
    return readUint16(this.#bytes, Offset.secs);
  }
  get flags(): number {
    return readUint16(this.#bytes, Offset.flags);
  }
  get ciaddr(): number {
    return readUint32(this.#bytes, Offset.ciaddr);
  }
  get yiaddr(): number {
    return readUint32(this.#bytes, Offset.yiaddr);
  }
  get siaddr(): number {
    return readUint32(this.#bytes, Offset.siaddr);
  }
  get giaddr(): number {
    return readUint32(this.#bytes, Offset.giaddr);
  }
  get chaddr(): Uint8Array {
    return this.#bytes.subarray(Offset.chaddr, Offset.chaddr + CHADDR_LENGTH);
  }
  get sname(): Uint8Array {
    return (this.#overload & 2) !== 0 ? NOTHING : withoutTrailingNuls(this.#bytes, SNAME_FIELD);
  }
  get file(): Uint8Array {
    return (this.#overload & 1) !== 0 ? NOTHING : withoutTrailingNuls(this.#bytes, FILE_FIELD);
  }
}

const NOTHING = new Uint8Array(0);

function withoutTrailingNuls(bytes: Uint8Array, field: OptionField): Uint8Array {
  let end = field.end;
  while (end > field.start && bytes[end - 1] === 0) end--;
  return bytes.subarray(field.start, end);
}
