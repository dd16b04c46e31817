import {
  type BindingRecord,
  type DhcpMessage,
  decodeMessage,
  formatIpv4Address,
  messageTypeOf,
  OpenPool,
  parseIpv4Address,
  ServedPool,
  validatePool,
} from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import type { AddressUse } from '../ports.js';
import { type ClientPacket, encodeClientPacket } from '../probe/client-packet.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { DhcpServer } from './dhcp-server.js';

const UNKNOWN = '02:00:00:00:00:51';
const OTHER = '02:00:00:00:00:52';
const DECLARED = '02:00:00:00:00:0a';
const SQUATTER = '02:00:00:00:00:66';
const octets = (text: string): Uint8Array => Uint8Array.from(text.split('.'), Number);
const ip = (text: string): number => parseIpv4Address(text) as number;

/** The next turn of the event loop: what was settled has been passed on. */
const turn = () => new Promise(setImmediate);

function setUp({ probes = false } = {}) {
  const checked = validatePool({
    ...{ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', start: '10.0.0.10', end: '10.0.0.99' },
    dynamic: ['10.0.0.100-10.0.0.101'],
  });
  if (!checked.ok) throw new Error('no pool');
  const clock = { nowMs: 1_000_000 };
  const nowMs = () => clock.nowMs;
  const observer = new RecordingObserver();
  const open = new OpenPool(new ServedPool(checked.value), [], nowMs());
  /** Records that wait for the disk; `settle` ends the wait. */
  const disk: { record: BindingRecord; settle: (isRecorded: boolean) => void }[] = [];
  const sent: string[] = [];
  const network: { use: AddressUse } = { use: { byClient: false, others: [] } };
  const probed: string[] = [];
  const server = new DhcpServer({
    observer,
    nowMs,
    findUsers: async (_, { address }) => {
      probed.push(formatIpv4Address(address));
      return network.use;
    },
    onDeclined: () => undefined,
    onBindingChanged: () => undefined,
    open: {
      openPoolOf: (name) => (name === 'net' ? open : undefined),
      all: () => [open],
      record: (record) =>
        new Promise((resolve) => {
          const settle = (isRecorded: boolean) => {
            if (isRecorded) open.recorded(record, nowMs());
            else open.notRecorded(record, nowMs());
            resolve(isRecorded);
          };
          disk.push({ record, settle });
        }),
      probes: () => probes,
      send: (name, replies) => {
        for (const { bytes, queued } of replies) sent.push(`${name} ${describeReply(bytes.subarray(0, queued.length))}`);
      },
    },
  });
  server.setPool(checked.value, [{ macAddress: DECLARED, address: ip('10.0.0.10') }]);
  const handle = server.handler('eth1', () => server.poolsNamed(['net']));
  /** What is answered at once. */
  const send = (macAddress: string, type: ClientPacket['type'], fields: Partial<ClientPacket> = {}): string | undefined => {
    const into = Buffer.alloc(1_472);
    const reply = handle(encodeClientPacket({ type, macAddress, xid: 1, options: [], ...fields }), into);
    return reply === undefined ? undefined : describeReply(into.subarray(0, reply.length));
  };
  const request = (macAddress: string, address: string) =>
    send(macAddress, 'request', {
      options: [
        [50, octets(address)],
        [54, octets('10.0.0.1')],
      ],
    });
  const settle = async (isRecorded = true) => {
    for (const waiting of disk.splice(0)) waiting.settle(isRecorded);
    await turn();
  };
  const lines = () => observer.of('lease').map(({ event, lease, details }) => ({ event, mac: lease.macAddress, ...details }));
  return { server, open, disk, sent, network, probed, clock, send, request, settle, lines };
}

function describeReply(bytes: Uint8Array): string {
  const decoded = decodeMessage(bytes);
  const message = decoded.ok ? decoded.message : ({} as DhcpMessage);
  return `${messageTypeOf(message.options.uint8(53) ?? 0)} ${formatIpv4Address(message.yiaddr)}`;
}

describe('an unknown client', () => {
  it('has its ACK when the record is on the disk, and one line with what remains', async () => {
    const { send, request, settle, sent, disk, lines } = setUp();
    expect(send(UNKNOWN, 'discover')).toBe('offer 10.0.0.100');
    expect(request(UNKNOWN, '10.0.0.100')).toBeUndefined();
    await turn();
    expect([disk.length, sent]).toEqual([1, []]);
    await settle();
    expect(sent).toEqual(['eth1 ack 10.0.0.100']);
    expect(lines()).toEqual([{ event: 'bound', mac: UNKNOWN, interface: 'eth1', total: 2, remaining: 1 }]);
  });

  it('gets no ACK when the record may be lost, which is counted; declared clients are answered as before', async () => {
    const { send, request, settle, sent, server } = setUp();
    send(UNKNOWN, 'discover');
    request(UNKNOWN, '10.0.0.100');
    expect(request(DECLARED, '10.0.0.10')).toBe('ack 10.0.0.10');
    await settle(false);
    expect(sent).toEqual([]);
    expect([...server.counters.messages()]).toContainEqual({
      ...{ type: 'request', outcome: 'ignored', reason: 'not-recorded', count: 1 },
    });
  });

  it('releases its address: it is free when that is recorded, and one line reports it', async () => {
    const { send, request, settle, lines, open, clock } = setUp();
    send(UNKNOWN, 'discover');
    request(UNKNOWN, '10.0.0.100');
    await settle();
    send(UNKNOWN, 'release', { clientAddress: ip('10.0.0.100'), options: [[54, octets('10.0.0.1')]] });
    expect(open.counts(clock.nowMs).free).toBe(1);
    await settle();
    expect(lines().at(-1)).toEqual({ event: 'released', mac: UNKNOWN, interface: 'eth1', total: 2, remaining: 2 });
  });

  it('is noted when its lease ends without a RELEASE', async () => {
    const { server, send, request, settle, lines, clock } = setUp();
    send(UNKNOWN, 'discover');
    request(UNKNOWN, '10.0.0.100');
    await settle();
    clock.nowMs += 40_000_000_000;
    server.expireLeases();
    expect(lines().at(-1)).toEqual({ event: 'expired', mac: UNKNOWN, total: 2, remaining: 2 });
  });
});

describe('an address that is given for the first time', () => {
  it('is offered when it was probed, and once more without a probe', async () => {
    const { send, sent, probed } = setUp({ probes: true });
    expect(send(UNKNOWN, 'discover')).toBeUndefined();
    await turn();
    expect([sent, probed]).toEqual([['eth1 offer 10.0.0.100'], ['10.0.0.100']]);
    expect(send(UNKNOWN, 'discover')).toBe('offer 10.0.0.100');
    expect(probed).toHaveLength(1);
  });

  it('is quarantined if another host uses it, and the client gets the next one', async () => {
    const { send, sent, network, settle, disk } = setUp({ probes: true });
    network.use = { byClient: false, others: [SQUATTER] };
    send(UNKNOWN, 'discover');
    await turn();
    expect(disk.map(({ record }) => record.kind)).toEqual(['quarantine']);
    await settle();
    network.use = { byClient: false, others: [] };
    send(UNKNOWN, 'discover');
    await turn();
    expect(sent).toEqual(['eth1 offer 10.0.0.101']);
  });
});

describe('a DECLINE of an unknown client', () => {
  it.each([
    { others: [SQUATTER], quarantined: 1, what: 'is quarantined when a host answers for the address' },
    { others: [], quarantined: 0, what: 'changes nothing when none does' },
  ])('$what', async ({ others, quarantined }) => {
    const { send, request, settle, network, open, clock } = setUp();
    send(OTHER, 'discover');
    request(OTHER, '10.0.0.100');
    await settle();
    network.use = { byClient: false, others };
    send(OTHER, 'decline', {
      options: [
        [50, octets('10.0.0.100')],
        [54, octets('10.0.0.1')],
      ],
    });
    await turn();
    await settle();
    expect(open.counts(clock.nowMs).quarantined).toBe(quarantined);
  });
});
