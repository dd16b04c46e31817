import type { Ipv4Address } from '../ethernet/mac-address.js';

/** Where a datagram came from. */
export interface Sender {
  readonly address: Ipv4Address;
  readonly port: number;
}

/** The sender of the datagram that is being handled: one object for all, which reads the address only when it is asked for. */
export class CurrentSender implements Sender {
  #source: { readonly address: string; readonly port: number } | Buffer | undefined;

  /** @param source - as dgram reports it, or a `struct sockaddr_in`; undefined: 0.0.0.0, port 0. */
  set(source: { readonly address: string; readonly port: number } | Buffer | undefined): this {
    this.#source = source;
    return this;
  }

  get address(): Ipv4Address {
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

/** The number of an address as dgram writes it. It is asked for each burst: pieces of the text would be garbage. */
function addressOf(text: string): Ipv4Address {
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
