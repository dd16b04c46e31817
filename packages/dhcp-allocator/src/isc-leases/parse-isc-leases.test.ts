import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseIpv4Address } from '../address/ipv4-address.js';
import { formatIscLeases, type IscLease, type IscLeaseEntry, isBrokenFile, parseIscLeases } from './index.js';
import { anyIscLeases, DHCPD_FILE } from './isc-lease-fixtures.js';

const at = (text: string) => parseIpv4Address(text) as number;
const textOf = (leases: readonly IscLease[]) => [...formatIscLeases(leases)].join('');
function withoutLine({ line: _line, ...lease }: IscLeaseEntry): IscLease {
  return lease;
}

/** One entry with these statements. */
const entry = (...statements: readonly string[]) => `lease 10.0.0.9 {\n${statements.map((each) => `  ${each}\n`).join('')}}\n`;
const only = (text: string) => {
  const { leases, problems } = parseIscLeases(text);
  expect(problems).toEqual([]);
  expect(leases).toHaveLength(1);
  return leases[0];
};

describe('a file that dhcpd 4.4.3 wrote', () => {
  it('yields each lease once, as in its last entry, and the line of each part that was left out', () => {
    const { leases, problems, entryCount, skipped } = parseIscLeases(DHCPD_FILE);
    expect(entryCount).toBe(4);
    expect(leases).toEqual([
      {
        ...{ line: 16, address: at('192.168.48.11'), state: 'active', nextState: 'free', rewindState: 'free' },
        ...{ startsAtMs: Date.UTC(2026, 10, 23, 16, 30), endsAtMs: Date.UTC(2026, 10, 23, 16, 40) },
        ...{ clientLastSeenAtMs: Date.UTC(2026, 10, 23, 16, 30), macAddress: '02:00:00:00:48:02', uid: 'ff00485c0001' },
      },
      {
        ...{ line: 31, address: at('192.168.48.10'), state: 'free', tstpMs: Date.UTC(2026, 10, 23, 16, 20) },
        ...{ startsAtMs: Date.UTC(2026, 10, 23, 16, 10), endsAtMs: Date.UTC(2026, 10, 23, 16, 20) },
        ...{ clientLastSeenAtMs: Date.UTC(2026, 10, 23, 16, 10), macAddress: '02:00:00:00:48:01', uid: '01020000004801' },
        hostname: 'vm-a',
      },
      { line: 41, address: at('192.168.48.12'), state: 'abandoned', nextState: 'free', endsAtMs: Number.POSITIVE_INFINITY },
    ]);
    expect(problems.map(({ reason, line }) => [reason, line])).toEqual([
      ['failover-state', 47],
      ['ipv6-lease', 51],
      ['host-declaration', 58],
    ]);
    expect(problems.some(isBrokenFile)).toBe(false);
    expect(Object.fromEntries(skipped)).toEqual({ 'authoring-byte-order': 1, 'server-duid': 1, set: 1, option: 1, on: 1 });
  });
});

describe('an entry as dhcpd reads it', () => {
  const statements = 'ends never; binding state active; hardware ethernet 02:00:00:00:00:21; }\n';
  it.each([
    ['its bracket on the next line', `lease 10.0.0.9\n{\n  ${statements}`],
    ['its address on the next line, and a comment', `lease # of a\n10.0.0.9 # b\n\t{${statements}`],
    ['capitals', `LEASE 10.0.0.9 {\n${statements.toUpperCase()}`],
    ['a byte order mark', `\uFEFFlease 10.0.0.9 {\n${statements}`],
    ['a byte order mark, read as octets', `\u00EF\u00BB\u00BFlease 10.0.0.9 {\n${statements}`],
    ['CRLF', `lease 10.0.0.9\r\n{\r\n${statements}`],
  ])('%s', (_, text) => {
    expect(only(text)).toMatchObject({ line: 1, address: at('10.0.0.9'), state: 'active', macAddress: '02:00:00:00:00:21' });
  });

  it('counts lines after the opening bracket', () => {
    const { problems } = parseIscLeases(`lease 10.0.0.9\n\n{\n  ends soon;\n}\n`);
    expect(problems).toMatchObject([{ reason: 'statement-malformed', line: 4 }]);
  });
});

describe('an address whose last entry cannot be read', () => {
  const before = entry('binding state free;', 'hardware ethernet 02:00:00:00:00:01;');
  it.each([
    ['cut', `${before}lease 10.0.0.9 {\n  client-hostname "node`, undefined],
    ['cut after its end', `${before}lease 10.0.0.9 {\n  ends never;\n  client-hostname "node`, Number.POSITIVE_INFINITY],
    ['not closed', `${before}lease 10.0.0.9 {\n  ends epoch 1;\n${entry('binding state free;').replace('9', '8')}`, 1_000],
    ['malformed', before + entry('ends soon;'), undefined],
  ])('%s: no earlier entry counts', (_, text, endsAtMs) => {
    const { leases, unreadable } = parseIscLeases(text);
    expect(leases.filter(({ address }) => address === at('10.0.0.9'))).toEqual([]);
    expect(unreadable).toEqual([{ address: at('10.0.0.9'), line: 5, ...(endsAtMs !== undefined && { endsAtMs }) }]);
  });

  it('a later entry that can be read counts', () => {
    const { leases, unreadable } = parseIscLeases(entry('ends soon;') + before);
    expect([leases.length, unreadable]).toEqual([1, []]);
  });
});

describe('statements of an entry', () => {
  it.each<[string, Partial<IscLease>]>([
    ['binding state active;', { state: 'active' }],
    ['binding state free;', { state: 'free' }],
    ['binding state expired;', { state: 'expired' }],
    ['binding state released;', { state: 'released' }],
    ['binding state abandoned;', { state: 'abandoned' }],
    ['binding state reset;', { state: 'reset' }],
    ['binding state backup;', { state: 'backup' }],
    ['binding state active; next binding state free;', { state: 'active', nextState: 'free' }],
    ['next binding state expired; rewind binding state free; binding state active;', { state: 'active', nextState: 'expired' }],
    ['next binding state free;', { state: 'active', nextState: 'free' }],
    ['rewind binding state free;', { state: 'active', rewindState: 'free' }],
    ['abandoned;', { state: 'abandoned' }],
    ['starts 4 2024/12/19 07:14:33;', { startsAtMs: Date.UTC(2024, 11, 19, 7, 14, 33) }],
    ['ends 4 2024/12/19 07:14:33; # a comment; with a mark', { endsAtMs: Date.UTC(2024, 11, 19, 7, 14, 33) }],
    ['ends never;', { endsAtMs: Number.POSITIVE_INFINITY }],
    ['ends epoch 1734592473; # Thu Dec 19 07:14:33 2024', { endsAtMs: 1_734_592_473_000 }],
    ['tstp 0 2024/02/29 00:00:00;', { tstpMs: Date.UTC(2024, 1, 29) }],
    ['tsfp never; atsfp epoch 0;', { tsfpMs: Number.POSITIVE_INFINITY, atsfpMs: 0 }],
    ['cltt 4 2024/12/19 07:14:33;', { clientLastSeenAtMs: Date.UTC(2024, 11, 19, 7, 14, 33) }],
    ['hardware ethernet 2:0:5E:10:0:ff;', { macAddress: '02:00:5e:10:00:ff' }],
    [String.raw`uid "\001\002a\"\\;}\000\377";`, { uid: '010261225c3b7d00ff' }],
    ['uid "#no comment";', { uid: '236e6f20636f6d6d656e74' }],
    ['uid 01:2:00:0f;', { uid: '0102000f' }],
    ['uid "";', {}],
    [String.raw`client-hostname "n\303\266de";`, { hostname: 'nÃ¶de' }],
    ['set ddns-rev-name = "9.0.0.10.in-addr.arpa";', {}],
    ['on expiry or release { if exists x { log(info, "}"); } else { set a = "b"; } }', {}],
    ['option agent.circuit-id 0:1:2;\n\toption agent.remote-id "a;}";', {}],
    ['bootp; reserved; billing class "a";', {}],
  ])('%s', (statement, expected) => expect(only(entry(statement))).toMatchObject({ state: 'active', ...expected }));

  it.each([
    ['binding state sleeping;'],
    ['binding state;'],
    ['binding active;'],
    ['next state free;'],
    ['starts 4 2024/13/19 07:14:33;'],
    ['starts 4 2023/02/29 07:14:33;'],
    ['ends 4 2024/12/19 24:14:33;'],
    ['ends 7 2024/12/19 07:14:33;'],
    ['ends soon;'],
    ['ends never again;'],
    ['hardware ethernet 02:00;'],
    ['uid;'],
    ['uid 01:xx;'],
    ['uid "\u{20ac}";'],
    ['client-hostname a b;'],
    ['binding state active\n  hardware ethernet 02:00:00:00:00:01;'],
    ['client-hostname "never closed;'],
    ['"binding" state free;'],
    ['\0\0\0\0'],
  ])('%j is malformed: no entry of the address counts', (statement) => {
    const { leases, unreadable, problems } = parseIscLeases(
      entry('binding state free;') + entry(statement, 'binding state active;'),
    );
    expect([leases, unreadable]).toEqual([[], [{ address: at('10.0.0.9'), line: 4 }]]);
    expect(problems).toMatchObject([{ reason: 'statement-malformed', line: 5, address: at('10.0.0.9') }]);
  });

  it.each([
    ['hardware token-ring 02:00:00:00:00:01;', 'not-ethernet'],
    ['of-a-later-version "x";', 'unknown-statement'],
  ])('%s is reported, and the lease is imported without it', (statement, reason) => {
    const { leases, problems } = parseIscLeases(entry(statement));
    expect(leases).toHaveLength(1);
    expect(problems).toMatchObject([{ reason, line: 2, address: at('10.0.0.9') }]);
  });
});

describe('text between entries', () => {
  it.each([
    ['lease 10.0.0.999 {\n}\n', [['address-invalid', 1]]],
    ['}\n', [['unexpected-text', 1]]],
    [';\n', [['unexpected-text', 1]]],
    ['subclass "a" 1:2:3 { }\n', [['class-declaration', 1]]],
    ['statement "a" { }\n', [['unexpected-text', 1]]],
    ['\n\0\0\0\0\0\n', [['unreadable-octets', 2]]],
    ['lease 10.0.0.1 {\n  binding state free;\n', [['entry-not-closed', 1]]],
    ['lease 10.0.0.1 {\n  on expiry { set a = "b";\n', [['statement-malformed', 2], ['entry-not-closed', 1]]], // biome-ignore format: a row
    ['constructor;\n', [['unexpected-text', 1]]],
  ])('%j does not spoil other entries', (text, expected) => {
    const { leases, problems } = parseIscLeases(text + entry('binding state free;'));
    expect(leases).toMatchObject([{ address: at('10.0.0.9') }]);
    expect(problems.map(({ reason, line }) => [reason, line])).toEqual(
      expected.toSorted(([, a], [, b]) => Number(a) - Number(b)),
    );
  });
});

describe('laws', () => {
  it('law: parse(format(leases)) = leases', () => {
    fc.assert(
      fc.property(anyIscLeases, (leases) => {
        const { leases: read, problems } = parseIscLeases(textOf(leases));
        expect(problems).toEqual([]);
        expect(read.map(withoutLine)).toEqual(leases);
      }),
    );
  });

  it('law: the last of several entries with the same address counts', () => {
    fc.assert(
      fc.property(anyIscLeases, anyIscLeases, (before, after) => {
        const byAddress = new Map([...before, ...after].map((lease) => [lease.address, lease]));
        const { leases, entryCount } = parseIscLeases(textOf(before) + textOf(after));
        expect(entryCount).toBe(before.length + after.length);
        expect(new Map(leases.map((lease) => [lease.address, withoutLine(lease)]))).toEqual(byAddress);
      }),
    );
  });

  it('law: a file that is cut at any octet has the leases before the cut, and one problem that names where', () => {
    fc.assert(
      fc.property(anyIscLeases, fc.nat(), (leases, anywhere) => {
        const text = textOf(leases);
        const before = text.slice(0, anywhere % text.length);
        const { leases: read, problems } = parseIscLeases(before);
        expect(read.map(withoutLine)).toEqual(leases.slice(0, read.length));
        expect(read).toHaveLength(before.match(/^\}/gm)?.length ?? 0);
        const isBetween = /(^|[};\n])\s*(#[^\n]*)?$/.test(before) && (before.match(/^lease/gm)?.length ?? 0) === read.length;
        expect(problems.map(({ reason }) => reason)).toEqual(isBetween ? [] : ['file-cut']);
        if (!isBetween && read.length > 0) expect(problems[0]?.line).toBeGreaterThan(read.at(-1)?.line as number);
      }),
      { numRuns: 200 },
    );
  });

  it.each(['lease', 'lease 10.0.0.9'])('%s, and then blanks without end', (start) => {
    for (const blank of [' ', '\n', '#\n']) {
      const { leases, problems } = parseIscLeases(`${start}${blank.repeat(4_000_000)}`);
      expect([leases.length, problems.map(({ reason }) => reason)]).toEqual([0, ['file-cut']]);
    }
  });

  it('law: reading any text never throws, and the result can be written again', () => {
    const mutated = fc
      .tuple(
        fc.nat(DHCPD_FILE.length),
        fc.nat(40),
        fc.oneof(fc.string(), fc.constantFrom('{', '}', '"', ';', '\0', '\\', 'lease 10.0.0.1 {')),
      )
      .map(([from, length, text]) => DHCPD_FILE.slice(0, from) + text + DHCPD_FILE.slice(from + length));
    const words = fc
      .array(
        fc.constantFrom(
          'lease',
          '10.0.0.1',
          '{',
          '}',
          ';',
          '"',
          '\n',
          ' ',
          '#',
          '\0',
          '\\',
          'ends',
          'never',
          'binding state',
          'free',
        ),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary-ascii' }), mutated, words), (text) => {
        const { leases, problems } = parseIscLeases(text);
        const again = parseIscLeases(textOf(leases));
        expect(again.leases.map(withoutLine)).toEqual(leases.map(withoutLine));
        const lines = text.split('\n').length;
        expect(problems.every(({ line }) => line >= 1 && line <= lines)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('a quote that is never closed and a million octets of zero are one problem each', () => {
    expect(parseIscLeases(`uid "${'\\'.repeat(1_000_001)}`).problems).toMatchObject([{ reason: 'file-cut' }]);
    expect(parseIscLeases('\0'.repeat(1_000_000)).problems).toMatchObject([{ reason: 'unreadable-octets' }]);
  });
});
