/**
 * Which entries of a log have an Event, as a text in the status of the host: it survives a restart, and is written together with
 * the counters. An entry is identified by its whole content: its number is reused after the log was cleared, and its time jumps.
 */
import type { BmcLogEntry } from './health-report.js';

/** This many of the newest entries of a log are remembered and get Events. */
export const MOST_REMEMBERED_ENTRIES = 1_000;
const LENGTH = 8;
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Eight characters that represent an entry: 48 bits of its content. They are the same on every machine. */
export function entryIdentity({ id, time, severity, message }: BmcLogEntry): string {
  const [high, low] = hash(JSON.stringify([id, time, severity, message]));
  return digits(high & 0xffffff) + digits(low & 0xffffff);
}

/** The entries that a status records. Invalid text records none. */
export function parseReported(text: string | undefined): ReadonlySet<string> {
  const known = text ?? '';
  const count = known.length % LENGTH === 0 && /^[\w-]*$/.test(known) ? known.length / LENGTH : 0;
  return new Set(Array.from({ length: count }, (_, index) => known.slice(index * LENGTH, (index + 1) * LENGTH)));
}

/** The same as text. */
export function formatReported(identities: readonly string[]): string {
  return identities.join('');
}

export interface NewEntries {
  /** Oldest first, at most as many as requested: the others wait for the next poll. */
  readonly entries: readonly { readonly entry: BmcLogEntry; readonly identity: string }[];
  /** What is recorded once these have their Events: entries that are no longer in the log are forgotten. */
  readonly reported: readonly string[];
}

/** The entries of a log without an Event. @param log - oldest first. @param most - the number of Events for one poll. */
export function newEntries(log: readonly BmcLogEntry[], known: ReadonlySet<string>, most: number): NewEntries {
  const remembered = new Map(log.slice(-MOST_REMEMBERED_ENTRIES).map((entry) => [entryIdentity(entry), entry]));
  const waiting = [...remembered].filter(([identity]) => !known.has(identity)).slice(0, most);
  const now = new Set(waiting.map(([identity]) => identity));
  return {
    entries: waiting.map(([identity, entry]) => ({ entry, identity })),
    reported: [...remembered.keys()].filter((identity) => known.has(identity) || now.has(identity)),
  };
}

/** Two 32-bit numbers that change with each bit of the text. Source: FNV-1a with two primes, then the finalizer of MurmurHash3. */
function hash(text: string): readonly [number, number] {
  let [one, other] = [0x811c9dc5, 0x9747b28c];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ unit, 0x5bd1e995) ^ (other >>> 15);
  }
  return [mixed(one), mixed(other ^ one)];
}

function mixed(number: number): number {
  const first = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return second ^ (second >>> 16);
}

/** 24 bits. */
function digits(bits: number): string {
  return [18, 12, 6, 0].map((shift) => DIGITS[(bits >>> shift) & 63]).join('');
}
