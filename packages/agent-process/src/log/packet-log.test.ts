import { encodeClientPacket, type SuppressReason } from '@vmdhcp/dhcp-agent/packet-path';
import { type Answer, answerPacket, parseIpv4Address, ServedPool, validatePool } from '@vmdhcp/dhcp-allocator';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { PacketLog } from './packet-log.js';

const MAC = '02:00:00:00:00:0a';

function servedPool(name: string): ServedPool {
  const checked = validatePool({ name, cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', start: '10.0.0.10' });
  if (!checked.ok) throw new Error('the pool is wrong');
  return new ServedPool(checked.value);
}

function setUp({ level = 'info', packets = false } = {}) {
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { base: null, level },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const clock = { nowMs: 0 };
  const log = new PacketLog(logger, { packets, nowMs: () => clock.nowMs });
  const pools = new Map(['a/one', 'a/two'].map((name) => [name, servedPool(name)]));
  const note = (
    poolName = 'a/one',
    packet = encodeClientPacket({ type: 'discover', macAddress: MAC, xid: 7 }),
    notSent?: SuppressReason,
  ) => {
    const address = parseIpv4Address('10.0.0.10') as number;
    const leaseOf = (name: string, macAddress: string) => ({ poolName: name, macAddress, address });
    const answer: Answer = answerPacket(packet, { pools: [pools.get(poolName) as ServedPool], leaseOf });
    log.note({ packet, answer, interfaceName: 'eth1', poolName, notSent });
  };
  const logged = () => lines.splice(0).map(({ pool, msg }) => [pool, msg]);
  return { log, note, lines, logged, clock, logger };
}

describe('the log of packets', () => {
  it('is silent at info', () => {
    const { log, note, logged } = setUp();
    expect(log.isActive).toBe(false);
    note();
    expect(logged()).toEqual([]);
  });

  it('has a summary line for each packet at debug', () => {
    const { log, note, lines } = setUp({ level: 'debug' });
    expect(log.isActive).toBe(true);
    note();
    expect(lines).toMatchObject([
      { level: 20, interface: 'eth1', pool: 'a/one', mac: MAC, xid: '00000007', msg: 'packet: discover offer' },
    ]);
    expect(lines[0]).not.toHaveProperty('packet');
  });

  it('has whole packets at info with the pool they belong to, decoded option by option', () => {
    const { note, lines } = setUp({ packets: true });
    note();
    expect(lines).toMatchObject([
      {
        level: 30,
        pool: 'a/one',
        packet: { op: 'BOOTREQUEST', chaddr: MAC, options: { messageType: 'DISCOVER' } },
        reply: { op: 'BOOTREPLY', yiaddr: '10.0.0.10', options: { messageType: 'OFFER', serverIdentifier: '10.0.0.1' } },
      },
    ]);
  });

  it('says why a reply was not sent, and shows the octets of a packet that is not a message', () => {
    const { note, lines } = setUp({ packets: true });
    note('a/one', undefined, 'standing-by');
    note('a/one', Uint8Array.of(1, 2, 3));
    expect(lines).toMatchObject([
      { msg: 'packet: discover offer notSent', reason: 'standing-by' },
      { msg: 'packet: dropped', pool: 'a/one', octets: 3, packet: '010203' },
    ]);
  });

  it('changes for one pool while the agent runs, and back', () => {
    const { log, note, logged } = setUp();
    log.setPool('a/two', { packets: true });
    note('a/one');
    note('a/two');
    expect(logged()).toEqual([['a/two', 'packet: discover offer']]);
    log.setPool('a/two', {});
    expect(log.isActive).toBe(false);
    note('a/two');
    expect(logged()).toEqual([]);
  });

  it('changes for all pools at run time, except those with their own settings, and back to the command line', () => {
    const { log, note, logged, logger } = setUp();
    log.setPool('a/two', { level: 'warn' });
    log.setGeneral({ level: 'debug' });
    expect(logger.level).toBe('debug');
    note('a/one');
    note('a/two');
    expect(logged()).toEqual([['a/one', 'packet: discover offer']]);
    log.setGeneral({});
    expect([logger.level, log.isActive]).toEqual(['info', false]);
  });

  it('is limited for each pool, and counts the missing lines', () => {
    const { log, note, lines, clock } = setUp({ packets: true });
    for (let count = 0; count < 1_000; count++) note('a/one');
    note('a/two');
    expect(lines.filter(({ pool }) => pool === 'a/one')).toHaveLength(200);
    expect(lines.filter(({ pool }) => pool === 'a/two')).toHaveLength(1);
    lines.length = 0;
    log.reportSuppressed();
    expect(lines).toMatchObject([{ level: 40, pool: 'a/one', suppressed: 800 }]);
    clock.nowMs += 1_000;
    for (let count = 0; count < 1_000; count++) note('a/one');
    expect(lines.filter(({ msg }) => msg === 'packet: discover offer')).toHaveLength(50);
  });
});
