/** Splits a lease file into tokens. Reading never throws: text that does not belong in a lease file becomes a token too. */

export type Token =
  /** `text` is a word; or a quoted text without its quotes, whose escapes are octets. */
  | { readonly kind: 'word' | 'text'; readonly text: string; readonly line: number }
  /** `lease ADDRESS {`, as a whole: wherever it stands, an entry begins. */
  | { readonly kind: 'entry'; readonly text: string; readonly line: number }
  | { readonly kind: ';' | '{' | '}'; readonly line: number }
  /** Octets that are not text, or a quoted text that its line does not close. */
  | { readonly kind: 'unreadable'; readonly line: number };

const BLANK = /[ \t\r\f\v]+|#[^\n]*/y;
/** Capitals are the same for dhcpd, and blanks may be lines and comments. Source: dhcpd, common/conflex.c. */
const LEASE = /lease(?=[\s#])/iy;
const ADDRESS = /[^\s{};"#]+/y;
/** Editors put it before a file: U+FEFF, or its octets in UTF-8. */
const BYTE_ORDER_MARK = /^(?:\uFEFF|\u00EF\u00BB\u00BF)/;
/** Control characters, which a disk that lost power leaves behind. */
const WORD = /[^\s{};"#\p{Cc}]+/uy;
/** Source: dhcpd, common/conflex.c `read_string`: `\` and up to three octal digits, `\x` and two hexadecimal ones, or a letter. */
const ESCAPE = /\\(?:[0-3][0-7]{0,2}|x[0-9a-f]{1,2}|.)/gis;
const LETTERS: Readonly<Record<string, string>> = { t: '\t', r: '\r', n: '\n', b: '\b' };

export class LeaseTokens {
  readonly #text: string;
  #offset = 0;
  #line = 1;
  #returned: Token | undefined;
  #isCutInText = false;

  constructor(text: string) {
    this.#text = text.replace(BYTE_ORDER_MARK, '');
  }

  /** The line where reading stopped. */
  get line(): number {
    return this.#line;
  }

  /** The text ends inside quotes. */
  get isCutInText(): boolean {
    return this.#isCutInText;
  }

  /** Makes `next` return this token again. */
  giveBack(token: Token): void {
    this.#returned = token;
  }

  next(): Token | undefined {
    const token = this.#returned ?? this.#read();
    this.#returned = undefined;
    return token;
  }

  #read(): Token | undefined {
    this.#skipBlanks();
    if (this.#offset >= this.#text.length) return undefined;
    const line = this.#line;
    const mark = this.#text[this.#offset];
    if (mark === ';' || mark === '{' || mark === '}') {
      this.#offset++;
      return { kind: mark, line };
    }
    return mark === '"' ? this.#readText(line) : this.#readWord(line);
  }

  #readText(line: number): Token | undefined {
    const start = this.#offset + 1;
    let end = start;
    for (; end < this.#text.length && this.#text[end] !== '"' && this.#text[end] !== '\n'; end++)
      if (this.#text[end] === '\\' && this.#text[end + 1] !== '\n') end++;
    this.#offset = Math.min(end, this.#text.length);
    if (end >= this.#text.length) {
      this.#isCutInText = true;
      return undefined;
    }
    if (this.#text[end] === '\n') return { kind: 'unreadable', line };
    this.#offset = end + 1;
    return { kind: 'text', text: decodeEscapes(this.#text.slice(start, end)), line };
  }

  #readWord(line: number): Token {
    const entry = this.#readEntry(line);
    if (entry !== undefined) return entry;
    const word = this.#match(WORD);
    if (word === null) this.#skipUnreadable();
    return word === null ? { kind: 'unreadable', line } : { kind: 'word', text: word[0], line };
  }

  #readEntry(line: number): Token | undefined {
    const start = this.#offset;
    if (this.#match(LEASE) === null) return undefined;
    this.#skipBlanks();
    const address = this.#match(ADDRESS);
    this.#skipBlanks();
    if (address !== null && this.#text[this.#offset] === '{') {
      this.#offset++;
      return { kind: 'entry', text: address[0], line };
    }
    this.#offset = start;
    this.#line = line;
    return undefined;
  }

  #skipUnreadable(): void {
    do this.#offset++;
    while (isControl(this.#text.charCodeAt(this.#offset)));
  }

  #skipBlanks(): void {
    for (;;) {
      if (this.#text[this.#offset] === '\n') {
        this.#offset++;
        this.#line++;
      } else if (this.#match(BLANK) === null) return;
    }
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#offset;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#offset = pattern.lastIndex;
    return found;
  }
}

function isControl(code: number): boolean {
  return code < 0x09 || (code > 0x0d && code < 0x20) || (code >= 0x7f && code < 0xa0);
}

function decodeEscapes(quoted: string): string {
  return quoted.replace(ESCAPE, decodeEscape);
}

/** @param sequence - with its `\`. */
function decodeEscape(sequence: string): string {
  const rest = sequence.slice(1);
  if (/^[0-3]/.test(rest)) return String.fromCharCode(Number.parseInt(rest, 8));
  if (/^x./i.test(rest)) return String.fromCharCode(Number.parseInt(rest.slice(1), 16));
  return LETTERS[rest] ?? rest;
}

/** `"..."`, as dhcpd writes it: octets that are not printable ASCII as `\ooo`. Source: dhcpd, common/print.c `quotify_buf`. */
export function quoteOctets(octets: string): string {
  const inside = octets.replace(/[^ !#-[\]-~]/g, (octet) =>
    octet === '"' || octet === '\\' ? `\\${octet}` : `\\${octet.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return `"${inside}"`;
}
