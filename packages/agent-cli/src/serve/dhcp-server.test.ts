import { decodeMessage, type Lease, parseIpv4Address, validatePool } from '@vmdhcp/dhcp-allocator';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { type ClientPacket, encodeClientPacket } from '../probe/client-packet.js';
import { DhcpServer } from './dhcp-server.js';
import { LeaseEventLog } from './lease-event-log.js';

const VM_A = '02:00:00:00:00:0a';
const PRINTER = '02:00:00:00:00:0b';
const ip = (text: string): number => parseIpv4Address(text) as number;
const octets = (text: string): Uint8Array => Uint8Array.from(text.split('.'), Number);

function setUp() {
  const checked = validatePool({
    name: 'net',
    cidr: '10.0.0.0/24',
    serverAddress: '10.0.0.1',
    reservations: [{ macAddress: PRINTER, address: '10.0.0.20' }],
  });
  if (!checked.ok) throw new Error('no pool');
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const declined: Lease[] = [];
  const clock = { nowMs: 1_000 };
  const nowMs = () => clock.nowMs;
  const events = new LeaseEventLog(logger, nowMs);
  const server = new DhcpServer({
    logger,
    events,
    nowMs,
    onDeclined: (lease) => declined.push(lease),
    onBindingChanged: () => undefined,
  });
  server.setPool(checked.value, [
    { macAddress: VM_A, address: ip('10.0.0.10') },
    { macAddress: PRINTER, address: ip('10.0.0.20') },
  ]);
  const handle = server.handler('eth1', () => server.poolsNamed(['net']));
  /** The type of the reply, or undefined. */
  const say = (macAddress: string, type: ClientPacket['type'], options: ClientPacket['options'] = []): number | undefined => {
    const bytes = encodeClientPacket({ type, macAddress, xid: 1, options });
    const into = Buffer.alloc(1_472);
    const reply = handle(bytes, into);
    if (reply === undefined) return undefined;
    const decoded = decodeMessage(into.subarray(0, reply.length));
    return decoded.ok ? decoded.message.options.uint8(53) : undefined;
  };
  const decline = (mac: string, address: string) =>
    say(mac, 'decline', [
      [50, octets(address)],
      [54, octets('10.0.0.1')],
    ]);
  return { server, say, decline, declined, lines, clock };
}

describe('the packet path tells a story', () => {
  it('bound once, renewed without a word, expired', () => {
    const { server, say, lines, clock } = setUp();
    for (let round = 0; round < 3; round++) expect(say(VM_A, 'request', [[50, octets('10.0.0.10')]])).toBe(5);
    clock.nowMs += 40_000_000_000;
    server.expireLeases();
    expect(lines.map(({ event, mac }) => [event, mac])).toEqual([
      ['bound', VM_A],
      ['expired', VM_A],
    ]);
  });

  it('who declined has no lease until it is given another one', () => {
    const { say, decline, declined } = setUp();
    decline(VM_A, '10.0.0.10');
    expect(declined).toMatchObject([{ macAddress: VM_A, address: ip('10.0.0.10') }]);
    expect(say(VM_A, 'discover')).toBeUndefined();
  });

  it("a reserved address that is declined stays its client's, and is reported", () => {
    const { server, say, decline, declined, lines } = setUp();
    decline(PRINTER, '10.0.0.20');
    expect(declined).toEqual([]);
    expect(lines).toMatchObject([{ event: 'declined', mac: PRINTER, believed: false, reason: 'address-reserved' }]);
    expect([...server.counters.messages()]).toEqual([
      { type: 'decline', outcome: 'ignored', reason: 'address-reserved', count: 1 },
    ]);
    expect(say(PRINTER, 'discover')).toBe(2);
  });
});
