import { type BindingRecord, OpenPool, ServedPool, validatePool } from '@vmdhcp/dhcp-allocator';
import { expect, it } from 'vitest';
import { encodeClientPacket } from '../probe/client-packet.js';
import { DhcpServer } from '../server/dhcp-server.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import type { PacketCapture } from './packet-capture.js';
import { PacketCaptures } from './packet-captures.js';
import { PcapngReader } from './read-pcapng.js';

/** A bare host may have the same addresses on two networks that are apart. */
it.each([
  ['an ACK that waits for the disk', false],
  ['an OFFER that waits for the probe of its address, too', true],
])('a delayed reply to an unknown client is captured for its own pool only: %s', async (_, probes) => {
  const pools = ['red', 'blue'].map((name) => {
    const checked = validatePool({ name, cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', dynamic: ['10.0.0.100-10.0.0.101'] });
    if (!checked.ok) throw new Error('no pool');
    return checked.value;
  });
  const open = new Map(pools.map((pool) => [pool.name, new OpenPool(new ServedPool(pool), [], 1_000)]));
  const captures = new PacketCaptures();
  const sent: string[] = [];
  const server = new DhcpServer({
    observer: new RecordingObserver(),
    nowMs: () => 1_000,
    findUsers: async () => ({ byClient: false, others: [] }),
    onDeclined: () => undefined,
    onBindingChanged: () => undefined,
    captures,
    open: {
      openPoolOf: (name) => open.get(name),
      all: () => open.values(),
      record: async (record: BindingRecord) => {
        open.get('red')?.recorded(record, 1_000);
        return true;
      },
      probes: () => probes,
      interfacesOf: (name) => (name === 'red' ? ['eth1'] : ['eth2']),
      send: (name) => sent.push(name),
    },
  });
  for (const pool of pools) server.setPool(pool, []);
  const handle = server.handler('eth1', () => server.poolsNamed(['red']));
  const start = (poolName: string) =>
    captures.start({
      poolName,
      interfaceNames: [],
      mostPackets: 99,
      nowMs: () => 1,
      onReadable: () => undefined,
    }) as PacketCapture;
  const [red, blue] = [start('red'), start('blue')];
  const macAddress = '02:00:00:00:00:51';
  const into = new Uint8Array(1_472);
  handle(encodeClientPacket({ type: 'discover', macAddress, xid: 1, options: [] }), into);
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  const octets = (text: string) => Uint8Array.from(text.split('.'), Number);
  const offered = octets('10.0.0.100');
  handle(
    encodeClientPacket({
      ...{ type: 'request', macAddress, xid: 1 },
      options: [
        [50, offered],
        [54, octets('10.0.0.1')],
      ],
    }),
    into,
  );
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  expect(sent).toEqual(probes ? ['eth1', 'eth1'] : ['eth1']);
  const packets = (one: PacketCapture) =>
    new PcapngReader().read(Buffer.concat(one.take())).flatMap((block) => (block.kind === 'packet' ? [block.isSent] : []));
  // DISCOVER, OFFER, REQUEST, ACK of the red network; nothing happened on the blue one.
  expect([packets(red), packets(blue)]).toEqual([[false, true, false, true], []]);
});
