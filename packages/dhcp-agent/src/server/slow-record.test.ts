import { type BindingRecord, decodeMessage, formatIpv4Address, OpenPool, ServedPool, validatePool } from '@vmdhcp/dhcp-allocator';
import { expect, it } from 'vitest';
import { encodeClientPacket } from '../probe/client-packet.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { DhcpServer } from './dhcp-server.js';

const octets = (text: string) => Uint8Array.from(text.split('.'), Number);
const turn = () => new Promise(setImmediate);

// RFC 2131 §4.1: retransmissions 4, 8, 16, 32 and 64 s (each ±1) after one another.
it('a client gets its lease from a server whose store takes 3.2 s for each record', async () => {
  const checked = validatePool({
    ...{ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', start: '10.0.0.10', end: '10.0.0.99' },
    dynamic: ['10.0.0.100'],
  });
  if (!checked.ok) throw new Error('no pool');
  const clock = { nowMs: 1_000_000_000 };
  const open = new OpenPool(new ServedPool(checked.value), [], clock.nowMs);
  const due: { atMs: number; settle: () => void }[] = [];
  let acks = 0;
  const server = new DhcpServer({
    observer: new RecordingObserver(),
    nowMs: () => clock.nowMs,
    findUsers: async () => ({ byClient: false, others: [] }),
    onDeclined: () => undefined,
    onBindingChanged: () => undefined,
    open: {
      openPoolOf: () => open,
      all: () => [open],
      record: (record: BindingRecord) =>
        new Promise((resolve) => {
          due.push({
            atMs: clock.nowMs + 3_200,
            settle: () => {
              open.recorded(record, clock.nowMs);
              resolve(true);
            },
          });
        }),
      probes: () => false,
      interfacesOf: () => [],
      send: (_, replies) => {
        for (const { bytes } of replies) {
          const decoded = decodeMessage(bytes);
          if (decoded.ok && decoded.message.options.uint8(53) === 5) acks++;
        }
      },
    },
  });
  server.setPool(checked.value, []);
  const handle = server.handler('eth1', () => server.poolsNamed(['net']));
  const send = (type: 'discover' | 'request', options: [number, Uint8Array][] = []) => {
    const into = Buffer.alloc(1_472);
    const reply = handle(encodeClientPacket({ type, macAddress: '02:00:00:00:00:51', xid: 1, options }), into);
    const decoded = reply && decodeMessage(into.subarray(0, reply.length));
    if (decoded?.ok && decoded.message.options.uint8(53) === 5) acks++;
    return decoded?.ok ? formatIpv4Address(decoded.message.yiaddr) : undefined;
  };
  expect(send('discover')).toBe('10.0.0.100');
  for (const waitMs of [4_000, 8_000, 16_000, 32_000, 64_000]) {
    send('request', [
      [50, octets('10.0.0.100')],
      [54, octets('10.0.0.1')],
    ]);
    for (const endMs = clock.nowMs + waitMs; clock.nowMs < endMs; clock.nowMs += 100) {
      for (const one of due.filter(({ atMs }) => atMs <= clock.nowMs)) {
        one.settle();
        due.splice(due.indexOf(one), 1);
      }
      await turn();
    }
  }
  expect(acks).toBeGreaterThan(0);
});
