/** A record that takes long: the ACK must not promise the address for longer than what is recorded. */
import {
  type BindingRecord,
  decodeMessage,
  formatIpv4Address,
  OpenPool,
  parseIpv4Address,
  ServedPool,
  validatePool,
} from '@vmdhcp/dhcp-allocator';
import { expect, it } from 'vitest';
import { encodeClientPacket } from '../probe/client-packet.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { DhcpServer } from './dhcp-server.js';

const [A, B] = ['02:00:00:00:00:51', '02:00:00:00:00:52'];
const turn = () => new Promise(setImmediate);
const octets = (text: string) => Uint8Array.from(text.split('.'), Number);

it('an address has one user, by the times that the clients were told, although the disk hangs for three minutes', async () => {
  const checked = validatePool({
    ...{ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', start: '10.0.0.10', end: '10.0.0.99' },
    dynamic: ['10.0.0.100'],
  });
  if (!checked.ok) throw new Error('no pool');
  const clock = { nowMs: 1_000_000_000 };
  const nowMs = () => clock.nowMs;
  const open = new OpenPool(new ServedPool(checked.value), [], nowMs());
  const disk: { record: BindingRecord; settle: (isRecorded: boolean) => void }[] = [];
  /** By client: until when it may use the address, from when it last sent its REQUEST (RFC 2131 §4.4.1). */
  const mayUseUntilMs = new Map<string, number>();
  const requestedAtMs = new Map<string, number>();
  const server = new DhcpServer({
    observer: new RecordingObserver(),
    nowMs,
    findUsers: async () => ({ byClient: false, others: [] }),
    onDeclined: () => undefined,
    onBindingChanged: () => undefined,
    open: {
      openPoolOf: () => open,
      all: () => [open],
      record: (record) =>
        new Promise((resolve) => {
          disk.push({
            record,
            settle: (isRecorded) => {
              if (isRecorded) open.recorded(record, nowMs());
              else open.notRecorded(record, nowMs());
              resolve(isRecorded);
            },
          });
        }),
      // spec.conflictProbe: Disabled, or no CAP_NET_RAW.
      probes: () => false,
      interfacesOf: () => [],
      send: (_, replies) => {
        for (const { bytes } of replies) {
          const decoded = decodeMessage(bytes);
          if (!decoded.ok || decoded.message.options.uint8(53) !== 5) continue;
          const client = [...decoded.message.chaddr.subarray(0, 6)].map((octet) => octet.toString(16).padStart(2, '0')).join(':');
          const leaseMs = 1_000 * (decoded.message.options.uint32(51) ?? 0);
          mayUseUntilMs.set(client, (requestedAtMs.get(client) ?? 0) + leaseMs);
        }
      },
    },
  });
  server.setPool(checked.value, []);
  const handle = server.handler('eth1', () => server.poolsNamed(['net']));
  const send = (macAddress: string, type: 'discover' | 'request', options: [number, Uint8Array][] = []) => {
    const into = Buffer.alloc(1_472);
    const reply = handle(encodeClientPacket({ type, macAddress, xid: 1, options }), into);
    const decoded = reply && decodeMessage(into.subarray(0, reply.length));
    return decoded?.ok ? formatIpv4Address(decoded.message.yiaddr) : undefined;
  };
  const request = (macAddress: string) => {
    requestedAtMs.set(macAddress, nowMs());
    send(macAddress, 'request', [
      [50, octets('10.0.0.100')],
      [54, octets('10.0.0.1')],
    ]);
  };
  const settle = async () => {
    await turn();
    for (const one of disk.splice(0)) one.settle(true);
    await turn();
  };

  expect(send(A, 'discover')).toBe('10.0.0.100');
  request(A);
  await turn();
  expect(disk).toHaveLength(1);
  // The disk hangs; the client retransmits the same message, as RFC 2131 §4.1 says, and is told nothing.
  for (let second = 0; second < 180; second += 60) {
    clock.nowMs += 60_000;
    request(A);
  }
  await settle();
  const recordedUntilMs = open.bindings.at(parseIpv4Address('10.0.0.100') as number)?.endsAtMs ?? 0;
  // By the record the lease is over; A is suspended, or its link is down, so that it did not renew.
  clock.nowMs = recordedUntilMs + 1_000;
  server.expireLeases();
  const offered = send(B, 'discover');
  if (offered !== undefined) {
    request(B);
    await settle();
  }
  const users = [...mayUseUntilMs].filter(([, untilMs]) => untilMs > nowMs()).map(([client]) => client);
  expect({ users, aMayUseForMs: (mayUseUntilMs.get(A) ?? 0) - nowMs() }).toMatchObject({ users: [expect.any(String)] });
});
