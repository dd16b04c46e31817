import { parseIpv4Address, validatePool } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ClientPacket, encodeClientPacket } from '../probe/client-packet.js';
import { DhcpServer } from '../server/dhcp-server.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { type CaptureSettings, PacketCapture, type PassingPacket } from './packet-capture.js';
import { PacketCaptures } from './packet-captures.js';
import { encodeInterface, encodePacket, encodeSectionHeader, encodeStatistics } from './pcapng.js';
import { encodeRawIpPacket } from './raw-ip-packet.js';
import { type FiledBlock, PcapngReader } from './read-pcapng.js';

const printable = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
const atMs = fc.integer({ min: 0, max: 4_000_000_000_000_000 }).map((microseconds) => microseconds / 1_000);
const interfaceId = fc.nat(1_000);
const block = fc.oneof(
  printable.map((name) => ({ block: { kind: 'interface', name } as const, octets: encodeInterface(name) })),
  fc
    .record({ interfaceId, atMs, isSent: fc.boolean(), comment: printable, octets: fc.uint8Array({ maxLength: 600 }) })
    .map((packet) => ({ block: { kind: 'packet', ...packet } as const, octets: encodePacket(packet) })),
  fc
    .record({ interfaceId, atMs, received: fc.maxSafeNat(), dropped: fc.maxSafeNat() })
    .map((counts) => ({ block: { kind: 'statistics', ...counts } as const, octets: encodeStatistics(counts) })),
);

describe('a pcapng file', () => {
  it('law: packets are read as they were written, in whatever pieces the file comes', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 12 }), fc.integer({ min: 1, max: 700 }), (blocks, pieceLength) => {
        const file = Buffer.concat([encodeSectionHeader('test'), ...blocks.map(({ octets }) => octets)]);
        const reader = new PcapngReader();
        const read: FiledBlock[] = [];
        for (let at = 0; at < file.length; at += pieceLength) read.push(...reader.read(file.subarray(at, at + pieceLength)));
        expect(read).toEqual([{ kind: 'section' }, ...blocks.map((one) => one.block)]);
      }),
    );
  });

  it('law: every block is a multiple of four octets, with its length at both ends', () => {
    fc.assert(
      fc.property(block, ({ octets }) => {
        const view = new DataView(octets.buffer);
        expect(octets.length % 4).toBe(0);
        expect([view.getUint32(4, true), view.getUint32(octets.length - 4, true)]).toEqual([octets.length, octets.length]);
      }),
    );
  });

  it('law: other octets are refused or unknown, never more', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => {
        try {
          new PcapngReader().read(octets);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});

it('law: the checksum of the header is right, and lengths are', () => {
  const address = fc.nat(0xffff_ffff);
  fc.assert(
    fc.property(fc.tuple(address, address), fc.uint8Array({ maxLength: 1_472 }), ([source, destination], payload) => {
      const packet = encodeRawIpPacket(payload, { source, sourcePort: 67, destination, destinationPort: 68 });
      const view = new DataView(packet.buffer);
      let sum = 0;
      for (let at = 0; at < 20; at += 2) sum += view.getUint16(at);
      while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
      expect(sum).toBe(0xffff);
      expect([view.getUint16(2), view.getUint16(24)]).toEqual([packet.length, packet.length - 20]);
      expect(packet.subarray(28)).toEqual(payload);
    }),
  );
});

const PASSING: PassingPacket = {
  ...{ interfaceName: 'eth1', poolName: 'net', isSent: false, comment: '', payload: new Uint8Array(300) },
  addresses: { source: 0, sourcePort: 68, destination: 0xffff_ffff, destinationPort: 67 },
};

function capture(fields: Partial<CaptureSettings> = {}) {
  let wakes = 0;
  const settings = {
    poolName: 'net',
    interfaceNames: ['eth1'],
    mostPackets: 1_000,
    nowMs: () => 1_000,
    onReadable: () => wakes++,
  };
  const one = new PacketCapture({ ...settings, ...fields });
  const reader = new PcapngReader();
  const take = () => one.take().flatMap((octets) => reader.read(octets));
  return { one, take, wakes: () => wakes };
}

describe('a capture', () => {
  it('without packets is a complete file', () => {
    const { one, take } = capture();
    one.end();
    expect(take()).toMatchObject([{ kind: 'section' }, { kind: 'interface', name: 'eth1' }, { received: 0, dropped: 0 }]);
  });

  it('describes an interface that it did not know before its first packet', () => {
    const { one, take } = capture();
    one.note({ ...PASSING, interfaceName: 'eth2' });
    expect(take().slice(2)).toMatchObject([
      { kind: 'interface', name: 'eth2' },
      { kind: 'packet', interfaceId: 1 },
    ]);
  });

  it('law: a reader that reads nothing costs a bounded number of octets; every packet is in the file or counted as lost', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 20_000 }), fc.array(fc.nat(1_400), { maxLength: 60 }), (mostWaiting, lengths) => {
        const { one, take } = capture({ mostWaiting });
        for (const length of lengths) one.note({ ...PASSING, payload: new Uint8Array(length) });
        one.end();
        const octets = one.take();
        expect(octets.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(mostWaiting + 300);
        const reader = new PcapngReader();
        const blocks = octets.flatMap((piece) => reader.read(piece));
        const packets = blocks.filter(({ kind }) => kind === 'packet').length;
        expect(blocks.at(-1)).toMatchObject({ received: lengths.length, dropped: lengths.length - packets });
        expect(take()).toEqual([]);
      }),
    );
  });

  it('goes on when its reader catches up', () => {
    const { one, take } = capture({ mostWaiting: 1_000 });
    for (let packet = 0; packet < 5; packet++) one.note(PASSING);
    const first = take().filter(({ kind }) => kind === 'packet').length;
    expect(first).toBeLessThan(5);
    one.note(PASSING);
    one.end();
    expect(take()).toMatchObject([{ kind: 'packet' }, { received: 6, dropped: 5 - first }]);
  });

  it('ends after the requested number of packets, and notifies its reader', () => {
    const { one, take, wakes } = capture({ mostPackets: 2 });
    for (let packet = 0; packet < 5; packet++) one.note(PASSING);
    expect(one.hasEnded).toBe(true);
    expect(wakes()).toBe(2);
    expect(take().map(({ kind }) => kind)).toEqual(['section', 'interface', 'packet', 'packet', 'statistics']);
  });

  it('for one client leaves out others, and packets that are too short to name a client', () => {
    const { one, take } = capture({ macAddress: '02:00:00:00:00:0a' });
    for (const macAddress of ['02:00:00:00:00:0a', '02:00:00:00:00:0b'])
      one.note({ ...PASSING, payload: encodeClientPacket({ type: 'discover', macAddress, xid: 1, options: [] }) });
    one.note({ ...PASSING, payload: new Uint8Array(20) });
    expect(take().filter(({ kind }) => kind === 'packet')).toHaveLength(1);
  });
});

describe('a server', () => {
  const ip = (text: string): number => parseIpv4Address(text) as number;
  const [KNOWN, UNKNOWN] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];

  function setUp() {
    const checked = validatePool({ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1' });
    if (!checked.ok) throw new Error('no pool');
    const captures = new PacketCaptures();
    const server = new DhcpServer({
      observer: new RecordingObserver(),
      nowMs: () => 1_000,
      findUsers: () => Promise.reject(new Error('no DECLINE is sent here')),
      onDeclined: () => undefined,
      onBindingChanged: () => undefined,
      captures,
    });
    server.setPool(checked.value, [{ macAddress: KNOWN, address: ip('10.0.0.10') }]);
    const handle = server.handler('eth1', () => server.poolAlone('net'), { whyNotSent: () => undefined, isOpenTo: () => true });
    const send = (packet: Partial<ClientPacket>, sender?: { readonly address: number; readonly port: number }) =>
      handle(
        encodeClientPacket({ type: 'discover', macAddress: KNOWN, xid: 1, options: [], ...packet }),
        new Uint8Array(1_472),
        sender,
      );
    return { server, captures, send };
  }

  /** Addresses, ports and comment of a packet. */
  function described(one: FiledBlock): string {
    if (one.kind !== 'packet') return one.kind;
    const view = new DataView(one.octets.buffer);
    const end = (at: number, port: number) => `${one.octets.subarray(at, at + 4).join('.')}:${view.getUint16(port)}`;
    return [one.isSent ? 'sent' : 'received', end(12, 20), '->', end(16, 22), one.comment].join(' ').trim();
  }

  it('hands over what comes in and what goes out, with addresses as on the wire, and reasons', () => {
    const { captures, send } = setUp();
    const reader = new PcapngReader();
    send({});
    expect(captures.isActive).toBe(false);
    const one = captures.start({
      poolName: 'net',
      interfaceNames: [],
      mostPackets: 100,
      nowMs: () => 1,
      onReadable: () => undefined,
    });
    send({}, { address: 0, port: 68 });
    send({ macAddress: UNKNOWN }, { address: 0, port: 68 });
    send({ type: 'request', clientAddress: ip('10.0.0.10') }, { address: ip('10.0.0.10'), port: 68 });
    send({ relayAddress: ip('10.0.0.254') }, { address: ip('10.0.0.254'), port: 67 });
    send({ type: 'request', options: [[50, Uint8Array.of(10, 0, 0, 77)]] });
    captures.stop(one as PacketCapture);
    send({});
    const blocks = (one as PacketCapture).take().flatMap((octets) => reader.read(octets));
    expect(blocks.map(described)).toEqual([
      'section',
      'interface',
      'received 0.0.0.0:68 -> 255.255.255.255:67',
      'sent 10.0.0.1:67 -> 10.0.0.10:68',
      'received 0.0.0.0:68 -> 255.255.255.255:67 no answer: unknown-client',
      'received 10.0.0.10:68 -> 10.0.0.1:67',
      'sent 10.0.0.1:67 -> 10.0.0.10:68',
      'received 10.0.0.254:67 -> 10.0.0.1:67',
      'sent 10.0.0.1:67 -> 10.0.0.254:67',
      'received 0.0.0.0:68 -> 255.255.255.255:67',
      'sent 10.0.0.1:67 -> 255.255.255.255:68 address-not-its-own',
      'statistics',
    ]);
  });

  it('a packet that is answered twice was received once', () => {
    const { server, captures, send } = setUp();
    const one = captures.start({
      poolName: 'net',
      interfaceNames: [],
      mostPackets: 100,
      nowMs: () => 1,
      onReadable: () => undefined,
    });
    server.again(() => void send({}));
    const blocks = new PcapngReader().read(Buffer.concat((one as PacketCapture).take()));
    expect(blocks.map(described)).toEqual(['section', 'interface', 'sent 10.0.0.1:67 -> 10.0.0.10:68']);
  });

  it('a replica that leaves its clients to another one shows that', () => {
    const { server, captures } = setUp();
    const one = captures.start({
      poolName: 'net',
      interfaceNames: [],
      mostPackets: 100,
      nowMs: () => 1,
      onReadable: () => undefined,
    });
    const packet = encodeClientPacket({ type: 'discover', macAddress: KNOWN, xid: 1, options: [] });
    expect(server.standbyHandler('eth1', () => 'net')(packet, new Uint8Array(0))).toBeUndefined();
    const blocks = new PcapngReader().read(Buffer.concat((one as PacketCapture).take()));
    expect(described(blocks.at(-1) as FiledBlock)).toBe('received 0.0.0.0:68 -> 255.255.255.255:67 no answer: standing-by');
  });
});
