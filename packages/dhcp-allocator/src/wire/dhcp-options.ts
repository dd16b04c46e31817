/**
 * The options of a message, as octets by code; `options/` knows what they mean.
 *
 * Decoded options are views of the packet. A packet carries ten or so, of which a server looks at half, so nothing is copied or allocated until a
 * caller asks: reading builds only an index of (code, start, end). Options that came in pieces are joined (RFC 3396) while reading.
 */
import { concatenate, readUint16, readUint32 } from './big-endian.js';
import { OptionCode } from './layout.js';

export type OptionsFault = 'option-truncated' | 'option-overload-invalid';

const STRIDE = 3;

/** The options of a message, by code, as views of the packet: nothing is copied until a caller asks for a value. */
export class DhcpOptions {
  static readonly none: DhcpOptions = new DhcpOptions(new Uint8Array(0), []);

  readonly #bytes: Uint8Array;
  /** Flat triples: code, start, end. */
  readonly #index: readonly number[];

  /** For the decoder; others use `DhcpOptions.of`. */
  constructor(bytes: Uint8Array, index: readonly number[]) {
    this.#bytes = bytes;
    this.#index = index;
  }

  /** Options in the given order. A code given twice is joined at its first place. */
  static of(entries: Iterable<readonly [code: number, value: Uint8Array]>): DhcpOptions {
    const pieces = new Map<number, Uint8Array[]>();
    for (const [code, value] of entries) {
      const former = pieces.get(code);
      if (former === undefined) pieces.set(code, [value]);
      else former.push(value);
    }
    const byCode = new Map([...pieces].map(([code, values]) => [code, concatenate(values)]));
    const index: number[] = [];
    let end = 0;
    for (const [code, value] of byCode) {
      index.push(code, end, end + value.length);
      end += value.length;
    }
    return new DhcpOptions(concatenate([...byCode.values()]), index);
  }

  get size(): number {
    return this.#index.length / STRIDE;
  }

  has(code: number): boolean {
    return this.#find(code) >= 0;
  }

  /** The octets of an option: a view, valid as long as the packet's buffer is. */
  get(code: number): Uint8Array | undefined {
    const at = this.#find(code);
    return at < 0 ? undefined : this.#bytes.subarray(this.#index[at + 1], this.#index[at + 2]);
  }

  /** The one octet of an option, or undefined if it is absent or of another length. */
  uint8(code: number): number | undefined {
    const start = this.#startOf(code, 1);
    return start === undefined ? undefined : this.#bytes[start];
  }

  uint16(code: number): number | undefined {
    const start = this.#startOf(code, 2);
    return start === undefined ? undefined : readUint16(this.#bytes, start);
  }

  /** The four octets of an option as an unsigned integer: an address, seconds. */
  uint32(code: number): number | undefined {
    const start = this.#startOf(code, 4);
    return start === undefined ? undefined : readUint32(this.#bytes, start);
  }

  *[Symbol.iterator](): Generator<readonly [code: number, value: Uint8Array]> {
    for (let at = 0; at < this.#index.length; at += STRIDE) {
      yield [this.#index[at] as number, this.#bytes.subarray(this.#index[at + 1], this.#index[at + 2])];
    }
  }

  #find(code: number): number {
    for (let at = 0; at < this.#index.length; at += STRIDE) {
      if (this.#index[at] === code) return at;
    }
    return -1;
  }

  #startOf(code: number, length: number): number | undefined {
    const at = this.#find(code);
    if (at < 0) return undefined;
    const start = this.#index[at + 1] as number;
    return (this.#index[at + 2] as number) - start === length ? start : undefined;
  }
}

/** A stretch of the packet that holds options: the options field, and `file` and `sname` when overloaded. */
export interface OptionField {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads the options of one field after the other as one list.
 *
 * PAD may stand anywhere; a field without END ends where it ends, as some clients leave END out. Source: RFC 2132 §3.1, §3.2.
 */
export function readOptions(bytes: Uint8Array, fields: readonly OptionField[]): DhcpOptions | OptionsFault {
  const index: number[] = [];
  for (const field of fields) {
    if (!indexField(bytes, field, index)) return 'option-truncated';
  }
  const options = new DhcpOptions(bytes, index);
  return hasRepeatedCode(index) ? DhcpOptions.of(options) : options;
}

/** Appends the options of one field to the index; false if the last one runs past its end. */
function indexField(bytes: Uint8Array, { start, end }: OptionField, index: number[]): boolean {
  let at = start;
  while (at < end) {
    const code = bytes[at++] as number;
    if (code === OptionCode.pad) continue;
    if (code === OptionCode.end) break;
    const valueStart = at + 1;
    const valueEnd = valueStart + (bytes[at] ?? 0);
    if (valueStart > end || valueEnd > end) return false;
    index.push(code, valueStart, valueEnd);
    at = valueEnd;
  }
  return true;
}

/** Clients send a dozen options: comparing each with those before it is quicker than a Set, until there are many. */
function hasRepeatedCode(index: readonly number[]): boolean {
  if (index.length > 40 * STRIDE) return new Set(index.filter((_, at) => at % STRIDE === 0)).size * STRIDE < index.length;
  for (let at = STRIDE; at < index.length; at += STRIDE) {
    for (let before = 0; before < at; before += STRIDE) {
      if (index[before] === index[at]) return true;
    }
  }
  return false;
}
