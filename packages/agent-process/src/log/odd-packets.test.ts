/**
 * Replays every odd packet that was ever interesting, at every log level, each followed by a whole exchange of a good client. To
 * add one, append its octets and its outcome to `odd-packets.json`: `npm run fuzz` prints the octets of a packet that fails.
 */
import { readFileSync } from 'node:fs';
import { DhcpServer, encodeClientPacket } from '@vmdhcp/dhcp-agent/packet-path';
import { decodeMessage, parseIpv4Address, validatePool } from '@vmdhcp/dhcp-allocator';
import { LOG_LEVELS } from '@vmdhcp/service-process';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { AgentLog } from './agent-log.js';
import { LeaseEventLog } from './lease-event-log.js';
import { PacketLog } from './packet-log.js';

interface OddPacket {
  readonly name: string;
  readonly hex: string;
  /** `dropped REASON`, or `TYPE OUTCOME REASON`. */
  readonly outcome: string;
}

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../dhcp-allocator/src/wire/fixtures/${name}.json`, import.meta.url), 'utf8'));
const ODD = fixture('odd-packets') as OddPacket[];
const CAPTURED = fixture('captured-packets') as { hex: string }[];
const octets = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const GOOD = '02:00:00:00:48:01';
const ADDRESS = '192.168.48.10';
const ip = (text: string): number => parseIpv4Address(text) as number;
/** Control characters, line separators and characters that change the writing direction: nothing that a terminal obeys. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

function setUp(level: (typeof LOG_LEVELS)[number], packets: boolean) {
  const checked = validatePool({ name: 'net', cidr: '192.168.48.0/24', serverAddress: '192.168.48.2' });
  if (!checked.ok) throw new Error('no pool');
  const lines: string[] = [];
  const logger = pino({ base: null, level }, { write: (line: string) => void lines.push(line) });
  // The log may write its full number of lines again for each packet.
  const clock = { nowMs: 0 };
  const nowMs = () => {
    clock.nowMs += 60_000;
    return clock.nowMs;
  };
  const packetLog = new PacketLog(logger, { packets, nowMs });
  const server = new DhcpServer({
    observer: new AgentLog({ logger, leaseEvents: new LeaseEventLog(logger, nowMs), packetLog, nowMs }),
    packetLog,
    nowMs,
    findUsers: () => Promise.resolve({ byClient: false, others: [] }),
    onDeclined: () => undefined,
    onBindingChanged: () => undefined,
  });
  server.setPool(checked.value, [
    { macAddress: GOOD, address: ip(ADDRESS) },
    { macAddress: '02:00:00:00:48:02', address: ip('192.168.48.11') },
  ]);
  const handle = server.handler('eth1', () => server.poolsNamed(['net']));
  const into = Buffer.alloc(1_472);
  /** Message type and address of the reply; undefined without one. */
  const send = (packet: Uint8Array): [type: number | undefined, address: number] | undefined => {
    const reply = handle(packet, into);
    const decoded = decodeMessage(into.subarray(0, reply?.length ?? 0));
    return reply === undefined || !decoded.ok ? undefined : [decoded.message.options.uint8(53), decoded.message.yiaddr];
  };
  const exchange = () => [
    send(encodeClientPacket({ type: 'discover', macAddress: GOOD, xid: 1 })),
    send(encodeClientPacket({ type: 'request', macAddress: GOOD, xid: 1, options: [[50, octets('c0a8300a')]] })),
  ];
  const counts = () => {
    const messages = [...server.counters.messages()].map(({ type, outcome, reason, count }): [string, number] => [
      `${type} ${outcome} ${reason}`,
      count,
    ]);
    return new Map([
      ...messages,
      ...[...server.counters.dropped()].map(([why, count]): [string, number] => [`dropped ${why}`, count]),
    ]);
  };
  /** The outcome of one packet, from the counters. */
  const outcomeOf = (packet: Uint8Array) => {
    const before = counts();
    send(packet);
    return [...counts()].flatMap(([outcome, count]) => (count === (before.get(outcome) ?? 0) + 1 ? [outcome] : []));
  };
  return { server, lines, send, exchange, outcomeOf };
}

/** Every text in a log line, at any depth. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsOf(inner)]);
}

const SETTINGS = LOG_LEVELS.flatMap((level) => [false, true].map((packets) => ({ level, packets })));

describe.each(SETTINGS)('at log level $level, with whole packets: $packets', ({ level, packets }) => {
  it('counts every odd packet correctly, and the next client gets its address', () => {
    const { server, exchange, outcomeOf } = setUp(level, packets);
    for (const { name, hex, outcome } of ODD) {
      expect([name, outcomeOf(octets(hex))]).toEqual([name, [outcome]]);
      expect([name, exchange()]).toEqual([
        name,
        [
          [2, ip(ADDRESS)],
          [5, ip(ADDRESS)],
        ],
      ]);
    }
    expect(server.counters.dropped().has('internal-error')).toBe(false);
  });

  it('writes nothing from the wire to the log unescaped', () => {
    const { server, lines, send } = setUp(level, packets);
    for (const { hex } of [...ODD, ...CAPTURED]) send(octets(hex));
    expect(server.counters.dropped().has('internal-error')).toBe(false);
    expect(lines.length > ODD.length).toBe(level === 'trace' || level === 'debug' || (packets && level === 'info'));
    for (const line of lines) {
      const texts = textsOf(JSON.parse(line));
      expect(texts.filter((text) => UNPRINTABLE.test(text))).toEqual([]);
    }
  });
});

describe('the corpus', () => {
  it('has each packet once, under a unique name', () => {
    expect(new Set(ODD.map(({ name }) => name)).size).toBe(ODD.length);
    expect(new Set(ODD.map(({ hex }) => hex)).size).toBe(ODD.length);
  });
});
