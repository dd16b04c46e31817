import type { ServedPool } from '../server/served-pool.js';
import { encodedLength, encodeMessage } from '../wire/encode-message.js';
import { HTYPE_ETHERNET, LARGEST_REPLY_LENGTH, MINIMUM_MESSAGE_LENGTH, Offset, OP_REPLY, OptionCode } from '../wire/layout.js';
import type { RequestFields } from './request-fields.js';

/** Templates of one pool; a client whose request list is one too many is answered without a template. */
const MOST_TEMPLATES = 128;

/** A reply without the fields that repeat the request, and without those of one client. */
export interface ReplyTemplate {
  /** Zeros behind the last option, up to the shortest message. */
  readonly octets: Uint8Array;
  /** Where the next option goes. */
  readonly end: number;
  /** Parameter request list; empty: the client sends none. */
  readonly requestList: Uint8Array;
  readonly hasRequestList: boolean;
  readonly wantsHostName: boolean;
  readonly architecture: number;
  readonly kind: 'offer' | 'ack';
}

/** The replies of one pool, one for each request list, each built on first use. */
export class ReplyTemplates {
  readonly #served: ServedPool;
  readonly #byHash = new Map<number, ReplyTemplate>();

  constructor(served: ServedPool) {
    this.#served = served;
  }

  /** Undefined if there is no template, and never will be. */
  find(kind: 'offer' | 'ack', fields: RequestFields, packet: Uint8Array): ReplyTemplate | undefined {
    const key = hash(kind, fields, packet);
    const known = this.#byHash.get(key);
    if (known !== undefined) return known.kind === kind && isFor(known, fields, packet) ? known : undefined;
    if (this.#byHash.size >= MOST_TEMPLATES) return undefined;
    const template = this.#make(kind, fields, packet);
    if (template !== undefined) this.#byHash.set(key, template);
    return template;
  }

  #make(kind: 'offer' | 'ack', fields: RequestFields, packet: Uint8Array): ReplyTemplate | undefined {
    const { requestListStart: start, requestListLength: length, architecture } = fields;
    const hasRequestList = start > 0;
    const requestList = packet.slice(start, start + length);
    const wishes = {
      ...(hasRequestList && { requestList }),
      ...(architecture >= 0 && { architecture }),
    };
    const { nextServer, bootFile, options } = this.#served.composer.shared(kind, wishes);
    const end = options.reduce((sum, [, value]) => sum + encodedLength(value), Offset.options as number);
    // Larger ones are spread over other fields.
    if (end >= LARGEST_REPLY_LENGTH) return undefined;
    const { bytes } = encodeMessage(
      {
        op: OP_REPLY,
        htype: HTYPE_ETHERNET,
        hlen: 6,
        hops: 0,
        xid: 0,
        secs: 0,
        flags: 0,
        ciaddr: 0,
        yiaddr: 0,
        siaddr: nextServer,
        giaddr: 0,
        chaddr: new Uint8Array(0),
        sname: new Uint8Array(0),
        file: bootFile,
        options,
      },
      { maximumLength: LARGEST_REPLY_LENGTH },
    );
    const octets = new Uint8Array(Math.max(end, MINIMUM_MESSAGE_LENGTH));
    octets.set(bytes.subarray(0, end));
    const wantsHostName = !hasRequestList || requestList.includes(OptionCode.hostName);
    return { octets, end, requestList, hasRequestList, wantsHostName, architecture, kind };
  }
}

/** FNV-1a over everything that a template depends on. */
function hash(kind: 'offer' | 'ack', fields: RequestFields, packet: Uint8Array): number {
  const { requestListStart: start, requestListLength: length, architecture } = fields;
  let value = (kind === 'ack' ? 0x811c9dc5 : 0x1000193) ^ architecture;
  if (start > 0) value = Math.imul(value ^ length, 0x1000193);
  for (let at = start; at < start + length; at++) value = Math.imul(value ^ (packet[at] as number), 0x1000193);
  return (value ^ (value >>> 16)) >> 1;
}

function isFor(template: ReplyTemplate, fields: RequestFields, packet: Uint8Array): boolean {
  const { requestList, hasRequestList, architecture } = template;
  const { requestListStart: start, requestListLength: length } = fields;
  if (architecture !== fields.architecture || hasRequestList !== start > 0 || requestList.length !== length) return false;
  for (let index = 0; index < length; index++) {
    if (requestList[index] !== packet[start + index]) return false;
  }
  return true;
}
