/** The statements of a `lease` entry. Source: dhcpd.leases(5); dhcpd, server/confpars.c `parse_lease_declaration`. */
import { parseMacAddress } from '../address/mac-address.js';
import { ISC_BINDING_STATES, type IscBindingState, type IscLease, type IscLeaseProblem } from './isc-lease.js';
import type { Statement } from './read-statement.js';
import { parseUtcTime } from './utc-time.js';

/** A lease while its statements are read. */
export interface LeaseDraft {
  readonly fields: Partial<Omit<IscLease, 'address'>>;
  readonly problems: IscLeaseProblem[];
}

type Words = Statement['words'];
/** Reads the words after the first one; false if they are malformed. */
type Taking = (words: Words, draft: LeaseDraft) => boolean;
type TimeField = 'startsAtMs' | 'endsAtMs' | 'tstpMs' | 'tsfpMs' | 'atsfpMs' | 'clientLastSeenAtMs';

/** Statements that have no place in a binding. */
const SKIPPED: ReadonlySet<string> = new Set([
  ...['set', 'unset', 'on', 'option', 'billing', 'hostname', 'reserved', 'bootp', 'dynamic-bootp'],
  ...['ddns-text', 'ddns-fwd-name', 'ddns-client-fqdn', 'ddns-rev-name', 'vendor-class-identifier', 'user-class'],
]);

const STATEMENTS: Readonly<Record<string, Taking>> = {
  starts: timeTaking('startsAtMs'),
  ends: timeTaking('endsAtMs'),
  tstp: timeTaking('tstpMs'),
  tsfp: timeTaking('tsfpMs'),
  atsfp: timeTaking('atsfpMs'),
  cltt: timeTaking('clientLastSeenAtMs'),
  // `next binding state` and `rewind binding state` begin with other words: they never change the state itself.
  binding: (words, { fields }) => takeState(['state'], words, (state) => Object.assign(fields, { state })),
  next: (words, { fields }) => takeState(['binding', 'state'], words, (state) => Object.assign(fields, { nextState: state })),
  rewind: (words, { fields }) => takeState(['binding', 'state'], words, (state) => Object.assign(fields, { rewindState: state })),
  // Written by dhcpd before 3.0.
  abandoned: (words, { fields }) => {
    Object.assign(fields, { state: 'abandoned' });
    return words.length === 0;
  },
  hardware: takeHardware,
  uid: takeUid,
  'client-hostname': ([name, ...rest], { fields }) => {
    if (name === undefined || rest.length > 0) return false;
    if (name.text !== '') Object.assign(fields, { hostname: name.text });
    return true;
  },
};

/** Reads one statement of an entry, or notes a problem. @returns its first word if the statement is known and has no place in a binding. */
export function readLeaseStatement(statement: Statement, draft: LeaseDraft): string | undefined {
  const [first] = statement.words;
  const word = first === undefined || first.isQuoted ? '' : first.text.toLowerCase();
  if (statement.ending !== 'closed' || word === '') noteMalformed(statement, draft);
  else if (SKIPPED.has(word)) return word;
  else takeStatement(word, statement, draft);
  return undefined;
}

function takeStatement(word: string, statement: Statement, draft: LeaseDraft): void {
  const { words, line } = statement;
  const take = Object.hasOwn(STATEMENTS, word) ? STATEMENTS[word] : undefined;
  if (take === undefined) {
    const message = `the statement ${word.slice(0, 40)} is not known; the lease was imported without it`;
    draft.problems.push({ reason: 'unknown-statement', line, message });
  } else if (!take(words.slice(1), draft)) {
    noteMalformed(statement, draft);
  } else if (word === 'hardware' && draft.fields.macAddress === undefined) {
    draft.problems.push({ reason: 'not-ethernet', line, message: 'the hardware address is not that of an Ethernet host' });
  }
}

function noteMalformed({ words, line }: Statement, { problems }: LeaseDraft): void {
  const text = words.map((each) => each.text).join(' ');
  const what = text === '' ? 'this text' : JSON.stringify(text.slice(0, 60));
  const message = `${what} is not a statement that dhcpd writes; the entry was left out, and its address is kept from other clients`;
  problems.push({ reason: 'statement-malformed', line, message });
}

function timeTaking(field: TimeField): Taking {
  return (words, { fields }) => {
    const timeMs = readTime(words.map(({ text }) => text));
    if (timeMs !== undefined) Object.assign(fields, { [field]: timeMs });
    return timeMs !== undefined;
  };
}

/** `never`, `epoch 1766000000`, or a day of the week, a date and a time of UTC. */
function readTime(words: readonly string[]): number | undefined {
  const text = words.join(' ').toLowerCase();
  if (text === 'never') return Number.POSITIVE_INFINITY;
  const epoch = /^epoch (\d{1,12})$/.exec(text);
  if (epoch !== null) return Number(epoch[1]) * 1_000;
  const [, date, timeOfDay] = /^[0-6] (\S+) (\S+)$/.exec(text) ?? [];
  return date === undefined || timeOfDay === undefined ? undefined : parseUtcTime(date, timeOfDay);
}

function takeState(before: readonly string[], words: Words, take: (state: IscBindingState) => void): boolean {
  const texts = words.map(({ text }) => text.toLowerCase());
  const state = ISC_BINDING_STATES.find((known) => known === texts.at(-1));
  if (state === undefined || texts.slice(0, -1).join(' ') !== before.join(' ')) return false;
  take(state);
  return true;
}

function takeHardware(words: Words, { fields }: LeaseDraft): boolean {
  const [type, address, ...rest] = words.map(({ text }) => text);
  if (type === undefined || rest.length > 0) return false;
  if (type.toLowerCase() !== 'ethernet') return true;
  const macAddress = address === undefined ? undefined : parseMacAddress(address);
  if (macAddress !== undefined) Object.assign(fields, { macAddress });
  return macAddress !== undefined;
}

/** Quoted octets; or, with `lease-id-format hex`, octets in hexadecimal with colons. */
function takeUid([uid, ...rest]: Words, { fields }: LeaseDraft): boolean {
  if (uid === undefined || rest.length > 0) return false;
  const hex = uid.isQuoted ? hexOf(uid.text) : parseHexOctets(uid.text);
  if (hex !== undefined && hex !== '') Object.assign(fields, { uid: hex });
  return hex !== undefined;
}

function hexOf(octets: string): string | undefined {
  const codes = Array.from({ length: octets.length }, (_, index) => octets.charCodeAt(index));
  return codes.some((code) => code > 0xff) ? undefined : codes.map((code) => code.toString(16).padStart(2, '0')).join('');
}

function parseHexOctets(text: string): string | undefined {
  const octets = text.split(':');
  const isHex = octets.every((octet) => /^[0-9a-f]{1,2}$/i.test(octet));
  return isHex ? octets.map((octet) => octet.toLowerCase().padStart(2, '0')).join('') : undefined;
}
