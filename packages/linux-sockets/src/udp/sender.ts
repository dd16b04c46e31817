import type { Ipv4Number } from '../ethernet/mac-address.js';

/** The source of a datagram. */
export interface Sender {
  readonly address: Ipv4Number;
  readonly port: number;
}

/** The sender of the current datagram: one reused object, which reads the address lazily. */
export class CurrentSender implements Sender {
  #source: { readonly address: string; readonly port: number } | Buffer | undefined;

  /** @param source - as dgram reports it, or a `struct sockaddr_in`; undefined for 0.0.0.0, port 0. */
  set(source: { readonly address: string; readonly port: number } | Buffer | undefined): this {
    this.#source = source;
    return this;
  }

  get address(): Ipv4Number {
    const source = this.#source;
    if (source === undefined) return 0;
    if (Buffer.isBuffer(source)) return source.readUInt32BE(4);
    return addressOf(source.address);
  }

  get port(): number {
    const source = this.#source;
    if (source === undefined) return 0;
    return Buffer.isBuffer(source) ? source.readUInt16BE(2) : source.port;
  }
}

const [ZERO, DOT] = [48, 46];

/** Parses dgram's text of an address. It is called for each burst, so it does not split the text, which would create garbage. */
function addressOf(text: string): Ipv4Number {
  let address = 0;
  let octet = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === DOT) {
      address = address * 256 + octet;
      octet = 0;
    } else octet = octet * 10 + code - ZERO;
  }
  return address * 256 + octet;
}
