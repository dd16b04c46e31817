/** Messages to and from the kernel, as octets. Source: netlink(7), linux/netlink.h; numbers in the host's order, little-endian here. */
import { encodeAttributes, type NetlinkAttribute } from './netlink-attributes.js';

const HEADER_LENGTH = 16;
const NLM_F_REQUEST = 0x1;
const NLM_F_ACK = 0x4;
const NLMSG_ERROR = 2;
const NLMSG_DONE = 3;

/** List everything of a kind. */
export const NLM_F_DUMP = 0x300;
/** Change it if it exists. */
export const NLM_F_REPLACE = 0x100;
/** Fail if it exists. */
export const NLM_F_EXCL = 0x200;
/** Add it if it does not exist. */
export const NLM_F_CREATE = 0x400;

/** One request to the kernel over netlink, before it is octets. */
export interface NetlinkRequest {
  /** `RTM_...` */
  readonly type: number;
  /** Besides `NLM_F_REQUEST` and `NLM_F_ACK`; none by default. */
  readonly flags?: number;
  /** The structure that messages of this type begin with. */
  readonly body: Buffer;
  readonly attributes: readonly NetlinkAttribute[];
}

/** An answer of the kernel to the request with this sequence number. */
export type NetlinkAnswer =
  | { readonly kind: 'data'; readonly sequence: number; readonly payload: Buffer }
  /** The last answer. `errorNumber` is 0 on success, otherwise the reason. */
  | { readonly kind: 'end'; readonly sequence: number; readonly errorNumber: number };

/** Writes a request to the beginning of `into`. Returns its length. @throws RangeError if there is no room. */
export function writeRequest(into: Buffer, { type, flags = 0, body, attributes }: NetlinkRequest, sequence: number): number {
  const content = encodeAttributes(attributes);
  const length = HEADER_LENGTH + body.length + content.length;
  if (length > into.length) throw new RangeError(`a netlink request of ${length} octets, where ${into.length} is the most`);
  into.writeUInt32LE(length, 0);
  into.writeUInt16LE(type, 4);
  into.writeUInt16LE(NLM_F_REQUEST | NLM_F_ACK | flags, 6);
  into.writeUInt32LE(sequence, 8);
  into.writeUInt32LE(0, 12);
  body.copy(into, HEADER_LENGTH);
  content.copy(into, HEADER_LENGTH + body.length);
  return length;
}

/** The answers in a datagram, without their headers. An answer that is cut off ends the list; never throws. */
export function* readAnswers(datagram: Buffer): Generator<NetlinkAnswer> {
  for (let at = 0; at + HEADER_LENGTH <= datagram.length; ) {
    const length = datagram.readUInt32LE(at);
    if (length < HEADER_LENGTH || at + length > datagram.length) return;
    yield readAnswer(datagram.subarray(at, at + length));
    at += (length + 3) & ~3;
  }
}

function readAnswer(message: Buffer): NetlinkAnswer {
  const type = message.readUInt16LE(4);
  const sequence = message.readUInt32LE(8);
  const payload = message.subarray(HEADER_LENGTH);
  if (type !== NLMSG_ERROR && type !== NLMSG_DONE) return { kind: 'data', sequence, payload };
  // In old kernels the end of a list has no error number.
  return { kind: 'end', sequence, errorNumber: payload.length < 4 ? 0 : 0 - payload.readInt32LE() };
}
