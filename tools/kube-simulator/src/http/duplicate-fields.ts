/**
 * Finds keys that an object of a JSON text has twice: JSON.parse silently keeps the last one. The text is known to be JSON. Returns the paths
 * (`spec.networkName`, `spec.list[0].a`) in the order in which the second ones come.
 */
export function duplicateFields(text: string): readonly string[] {
  return new Scanner(text).scan();
}

const separators = new Set([' ', '\t', '\n', '\r', ',', ':']);
const literalEnd = /[\s,\]}]/g;

class Scanner {
  readonly #text: string;
  readonly #duplicates: string[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): readonly string[] {
    this.#value('');
    return this.#duplicates;
  }

  #value(path: string): void {
    this.#skip();
    const character = this.#text[this.#at];
    if (character === '{') this.#object(path);
    else if (character === '[') this.#array(path);
    else if (character === '"') this.#string();
    else this.#literal();
  }

  #object(path: string): void {
    const seen = new Set<string>();
    this.#at += 1;
    for (this.#skip(); this.#text[this.#at] === '"'; this.#skip()) {
      const key = this.#string();
      const own = path === '' ? key : `${path}.${key}`;
      if (seen.has(key)) this.#duplicates.push(own);
      seen.add(key);
      this.#value(own);
    }
    this.#at += 1;
  }

  #array(path: string): void {
    this.#at += 1;
    this.#skip();
    for (let index = 0; this.#at < this.#text.length && this.#text[this.#at] !== ']'; index += 1) {
      this.#value(`${path}[${index}]`);
      this.#skip();
    }
    this.#at += 1;
  }

  #string(): string {
    const start = this.#at + 1;
    let end = this.#text.indexOf('"', start);
    while (this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1);
    this.#at = end + 1;
    return this.#text.slice(start, end);
  }

  #isEscaped(quote: number): boolean {
    let backslashes = 0;
    while (this.#text[quote - 1 - backslashes] === '\\') backslashes += 1;
    return backslashes % 2 === 1;
  }

  #literal(): void {
    literalEnd.lastIndex = this.#at;
    const match = literalEnd.exec(this.#text);
    this.#at = match === null ? this.#text.length : match.index;
  }

  #skip(): void {
    while (separators.has(this.#text[this.#at] ?? '')) this.#at += 1;
  }
}
