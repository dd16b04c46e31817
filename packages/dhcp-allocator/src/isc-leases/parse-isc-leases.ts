/**
 * Reads a `dhcpd.leases` file. dhcpd appends to it, so the last entry of an address counts. A part that is left out becomes a problem with its line,
 * or is counted by its first word. No text makes it throw.
 */
import { type Ipv4Address, parseIpv4Address } from '../address/ipv4-address.js';
import {
  type IscLeaseEntry,
  type IscLeaseProblem,
  type IscLeaseProblemReason,
  isBrokenFile,
  type UnreadableIscLease,
} from './isc-lease.js';
import { LeaseTokens, type Token } from './lease-tokens.js';
import { type LeaseDraft, readLeaseStatement } from './read-lease-statement.js';
import { readStatement, type Statement } from './read-statement.js';

/** The content of a file. */
export interface IscLeaseReading {
  /** One for each address: its last entry, in the order of the file. */
  readonly leases: readonly IscLeaseEntry[];
  /** Addresses whose last entry could not be read. An earlier one does not show who has the address now. */
  readonly unreadable: readonly UnreadableIscLease[];
  /** In the order of the file. */
  readonly problems: readonly IscLeaseProblem[];
  /** How many entries were read, including those that a later entry of the same address replaces. */
  readonly entryCount: number;
  /** Number of statements that have no place in a binding, by first word, such as `set` or `option`. */
  readonly skipped: ReadonlyMap<string, number>;
}

/** Top-level statements that say nothing about leases. Source: dhcpd.leases(5). */
const HEADER: ReadonlySet<string> = new Set(['authoring-byte-order', 'server-duid']);
const NOT_TAKEN: Readonly<Record<string, { readonly reason: IscLeaseProblemReason; readonly message: string }>> = {
  failover: {
    reason: 'failover-state',
    message: 'the state of a failover partner is not imported; stop both servers, and import the file of one',
  },
  host: { reason: 'host-declaration', message: 'a host declaration is not imported; declare the host in the pool' },
  ...Object.fromEntries(
    ['class', 'subclass', 'group'].map((word) => [
      word,
      { reason: 'class-declaration' as const, message: `the declaration of a ${word} is not imported: a pool has no classes` },
    ]),
  ),
  ...Object.fromEntries(
    ['ia-na', 'ia-ta', 'ia-pd'].map((word) => [
      word,
      { reason: 'ipv6-lease' as const, message: `an IPv6 lease (${word}) is not imported: only DHCPv4 is supported` },
    ]),
  ),
};

/** The leases of a `dhcpd.leases` file, and every problem of it. Never throws. @param text - a character for each octet (latin1). */
export function parseIscLeases(text: string): IscLeaseReading {
  const reader = new LeaseFileReader(text);
  reader.read();
  const { leases, unreadable, problems, entryCount, skipped } = reader;
  return { leases, unreadable, problems, entryCount, skipped };
}

class LeaseFileReader implements IscLeaseReading {
  readonly skipped = new Map<string, number>();
  entryCount = 0;
  readonly #found: IscLeaseProblem[] = [];
  readonly #tokens: LeaseTokens;
  readonly #byAddress = new Map<Ipv4Address, IscLeaseEntry>();
  readonly #unreadable = new Map<Ipv4Address, UnreadableIscLease>();

  constructor(text: string) {
    this.#tokens = new LeaseTokens(text);
  }

  get leases(): readonly IscLeaseEntry[] {
    return [...this.#byAddress.values()];
  }

  get unreadable(): readonly UnreadableIscLease[] {
    return [...this.#unreadable.values()];
  }

  get problems(): readonly IscLeaseProblem[] {
    return this.#found.toSorted((one, other) => one.line - other.line);
  }

  read(): void {
    for (let token = this.#tokens.next(); token !== undefined; token = this.#tokens.next()) {
      if (token.kind === 'entry') this.#readEntry(token.text, token.line);
      else this.#readOther(token);
    }
    if (this.#tokens.isCutInText && this.#found.at(-1)?.reason !== 'file-cut') this.#reportCut(this.#tokens.line);
  }

  #readOther(token: Token): void {
    if (token.kind === 'unreadable') {
      this.#reportUnreadable(token.line);
      return;
    }
    const statement = readStatement(token, this.#tokens);
    const { line, ending } = statement;
    if (ending === 'cut') this.#reportCut(line);
    else if (ending === 'unreadable') this.#reportUnreadable(line);
    else this.#takeOther(statement);
  }

  #takeOther({ words, line, ending }: Statement): void {
    const word = words[0]?.text.toLowerCase() ?? '';
    const known = Object.hasOwn(NOT_TAKEN, word) ? NOT_TAKEN[word] : undefined;
    const isWhole = ending === 'closed' && words.length > 0;
    if (known !== undefined) this.#found.push({ ...known, line });
    else if (isWhole && HEADER.has(word)) this.#skip(word);
    else if (isWhole)
      this.#report('unexpected-text', line, `the statement ${shown(word)} does not belong in a lease file and was left out`);
    else this.#report('unexpected-text', line, 'this is not a statement; the text up to the next one was left out');
  }

  #readEntry(addressText: string, line: number): void {
    const address = parseIpv4Address(addressText);
    const draft: LeaseDraft = { fields: {}, problems: [] };
    const isClosed = this.#readStatements(draft, { line, address });
    for (const problem of draft.problems) this.#found.push({ ...problem, ...(address !== undefined && { address }) });
    if (address === undefined)
      this.#report('address-invalid', line, `${shown(addressText)} is not an IPv4 address; the entry was left out`);
    if (address === undefined) return;
    // The lease keeps the place of its last entry in the file.
    this.#byAddress.delete(address);
    this.#unreadable.delete(address);
    const { endsAtMs } = draft.fields;
    if (!isClosed || draft.problems.some(isBrokenFile)) {
      this.#unreadable.set(address, { address, line, ...(endsAtMs !== undefined && { endsAtMs }) });
      return;
    }
    this.entryCount++;
    this.#byAddress.set(address, { address, state: 'active', ...draft.fields, line });
  }

  /** False if the entry is not closed: it is cut, or another one begins in it. */
  #readStatements(draft: LeaseDraft, { line, address }: { line: number; address: Ipv4Address | undefined }): boolean {
    for (let token = this.#tokens.next(); token !== undefined; token = this.#tokens.next()) {
      if (token.kind === '}') return true;
      if (token.kind === 'entry') {
        this.#tokens.giveBack(token);
        const message =
          'the entry does not end before the next one begins; it was left out, and its address is kept from other clients';
        this.#found.push({ reason: 'entry-not-closed', line, message, ...(address !== undefined && { address }) });
        return false;
      }
      const statement = readStatement(token, this.#tokens);
      if (statement.ending === 'cut') break;
      this.#takeStatement(statement, draft);
    }
    this.#reportCut(line, address);
    return false;
  }

  #takeStatement(statement: Statement, draft: LeaseDraft): void {
    const skipped = readLeaseStatement(statement, draft);
    if (skipped !== undefined) this.#skip(skipped);
  }

  #skip(word: string): void {
    this.skipped.set(word, (this.skipped.get(word) ?? 0) + 1);
  }

  #reportCut(line: number, address?: Ipv4Address): void {
    const message = 'the file ends in the middle of what begins here; copy it again while dhcpd is stopped';
    this.#found.push({ reason: 'file-cut', line, message, ...(address !== undefined && { address }) });
  }

  /** A run of such octets is one problem. */
  #reportUnreadable(line: number): void {
    let token = this.#tokens.next();
    while (token?.kind === 'unreadable') token = this.#tokens.next();
    if (token !== undefined) this.#tokens.giveBack(token);
    this.#report('unreadable-octets', line, 'octets that are not text were left out; check the disk');
  }

  #report(reason: IscLeaseProblemReason, line: number, message: string): void {
    this.#found.push({ reason, line, message });
  }
}

const LONGEST_SHOWN = 40;

function shown(text: string): string {
  return JSON.stringify(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text);
}
