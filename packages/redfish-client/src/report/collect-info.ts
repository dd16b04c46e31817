import { plainText } from '../resource/describe-answer.js';
import type { Facts } from './host-report.js';

const MOST_KEYS = 1_024;
const MOST_OF_VALUE = 256;

/** The flat information of a host, in the order in which it was added. */
export class CollectedInfo {
  readonly #info = new Map<string, string>();
  readonly #redact: (text: string) => string;

  /** @param redact - removes credentials from a value before it is cut. */
  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  /** Adds facts under a prefix, such as `Cpu[0].`. Each value is on one line of at most 256 characters; keys after the first 1,024 are left out. */
  add(prefix: string, facts: Facts): void {
    for (const [name, value] of Object.entries(facts)) {
      const text = value === undefined ? '' : plainText(this.#redact(value), MOST_OF_VALUE);
      if (text !== '' && this.#info.size < MOST_KEYS) this.#info.set(`${prefix}${name}`, text);
    }
  }

  /** Adds facts of each member, as `Cpu[0].`, `Cpu[1].` and so on. */
  addEach(name: string, members: readonly Facts[]): void {
    members.forEach((facts, index) => {
      this.add(`${name}[${index}].`, facts);
    });
  }

  get info(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#info);
  }
}
