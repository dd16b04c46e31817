import { printableText } from './printable-text.js';

/** Lines in UTF-8 that come in pieces: a piece may end within a character. */
export class PrintableLines {
  readonly #decoder = new TextDecoder();

  push(piece: Uint8Array): Buffer {
    return Buffer.from(printableText(this.#decoder.decode(piece, { stream: true })));
  }
}
