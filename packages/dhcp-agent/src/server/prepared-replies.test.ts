/** A server with prepared replies behaves like one without. */
import { type Lease, type Pool, parseIpv4Address, validatePool } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ClientPacket, encodeClientPacket } from '../probe/client-packet.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { AgentTraffic } from '../traffic/agent-traffic.js';
import { type AnswerGate, DhcpServer } from './dhcp-server.js';

const ip = (text: string): number => parseIpv4Address(text) as number;
const octets = (text: string): Uint8Array => Uint8Array.from(text.split('.'), Number);
const MACS = ['02:00:00:00:00:0a', '02:00:00:00:00:0b', '02:00:00:00:00:0c', '02:00:00:00:00:0d'] as const;

function poolWith(mtu: number): Pool {
  const checked = validatePool({
    name: 'net',
    cidr: '10.0.0.0/24',
    serverAddress: '10.0.0.1',
    leaseTimeSeconds: 60,
    options: { mtu },
  });
  if (!checked.ok) throw new Error('no pool');
  return checked.value;
}
const POOLS = [poolWith(1400), poolWith(1500)] as const;

/** Shares the interface, where there are two: the last client is one of it too. */
const OTHER = (() => {
  const checked = validatePool({ name: 'other', cidr: '10.0.1.0/24', serverAddress: '10.0.1.1', leaseTimeSeconds: 90 });
  if (!checked.ok) throw new Error('no pool');
  return checked.value;
})();

function startServer(gate: AnswerGate, names: readonly string[] = ['net']) {
  const observer = new RecordingObserver();
  const clock = { nowMs: 1_000 };
  let changes = 0;
  const traffic = new AgentTraffic({ nowMs: () => clock.nowMs, random: () => 0 });
  const server = new DhcpServer({
    observer,
    nowMs: () => clock.nowMs,
    findUsers: () => Promise.reject(new Error('no DECLINE is sent here')),
    onDeclined: () => undefined,
    onBindingChanged: () => changes++,
    traffic,
  });
  let pools = server.poolsNamed(names);
  const handle = server.handler('eth1', () => (names.length === 1 ? server.poolAlone('net') : pools), gate);
  const setPools = (...parameters: Parameters<DhcpServer['setPool']>) => {
    server.setPool(...parameters);
    pools = server.poolsNamed(names);
  };
  const send = (packet: Uint8Array) => {
    const into = Buffer.alloc(1_472);
    const reply = handle(packet, into);
    server.endBurst();
    if (reply === undefined) return undefined;
    const { length, destination, hardwareAddress, serverAddress, isOnLink } = reply;
    return {
      octets: into.subarray(0, length).toString('hex'),
      destination: { ...destination },
      hardwareAddress: Buffer.from(hardwareAddress.subarray(0, 6)).toString('hex'),
      serverAddress,
      isOnLink,
    };
  };
  const state = () => ({
    leases: [...server.leases()].map((lease) => ({ ...lease })),
    events: observer.of('lease').map(({ event, lease, details }) => ({ event, mac: lease.macAddress, details })),
    messages: new Map(
      [...server.counters.messages()].map(({ type, outcome, reason, count }) => [`${type} ${outcome} ${reason}`, count]),
    ),
    dropped: server.counters.dropped(),
    clients: [...traffic.clients()],
    pools: traffic.pools(),
    changes,
  });
  return { server, setPools, send, state, clock };
}

type Step =
  | { readonly kind: 'send'; readonly packet: ClientPacket }
  | { readonly kind: 'assign'; readonly pool: number; readonly addresses: readonly string[] }
  | { readonly kind: 'wait'; readonly seconds: number };

const ADDRESSES = ['10.0.0.10', '10.0.0.11', '10.0.0.12'];
const options = fc.constantFrom<NonNullable<ClientPacket['options']>>(
  [],
  [[55, Uint8Array.of(1, 3, 26, 12)]],
  [
    [50, octets('10.0.0.10')],
    [54, octets('10.0.0.1')],
  ],
  [[50, octets('10.0.0.11')]],
  [
    [50, octets('10.0.1.13')],
    [54, octets('10.0.1.1')],
  ],
  [
    [50, octets('10.0.0.12')],
    [54, octets('10.0.0.9')],
  ],
);
const packet = fc.record({
  type: fc.constantFrom<ClientPacket['type']>('discover', 'request', 'request', 'release'),
  macAddress: fc.constantFrom(...MACS),
  xid: fc.nat(9),
  options,
});
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: packet.map((one): Step => ({ kind: 'send', packet: one })) },
    {
      weight: 1,
      arbitrary: fc
        .record({ pool: fc.nat(1), addresses: fc.shuffledSubarray(ADDRESSES, { minLength: 1 }) })
        .map((one): Step => ({ kind: 'assign', ...one })),
    },
    { weight: 1, arbitrary: fc.constantFrom(1, 40, 70).map((seconds): Step => ({ kind: 'wait', seconds })) },
  ),
  { maxLength: 40 },
);

it.each([
  ['one pool', ['net']],
  ['two pools on the interface', ['net', 'other']],
])('law: %s: replies, leases, events, counters and client notes are the same, whatever is sent and assigned', (_, names) => {
  fc.assert(
    fc.property(steps, (all) => {
      const quick = startServer({ whyNotSent: () => undefined, isOpenTo: () => true }, names);
      const readable = startServer({ whyNotSent: () => undefined }, names);
      if (names.length > 1) {
        const clients = [
          { macAddress: MACS[2], address: ip('10.0.1.12') },
          { macAddress: MACS[3], address: ip('10.0.1.13') },
        ];
        for (const { setPools } of [quick, readable]) setPools(OTHER, clients);
      }
      for (const step of [{ kind: 'assign', pool: 0, addresses: ADDRESSES } as const, ...all]) {
        const [one, other] = [quick, readable].map(({ server, setPools, send, clock }) => {
          if (step.kind === 'send') return send(encodeClientPacket(step.packet));
          if (step.kind === 'wait') {
            clock.nowMs += step.seconds * 1_000;
            server.expireLeases();
          } else {
            const assignments = step.addresses.map((address, index) => ({
              macAddress: MACS[index] as string,
              address: ip(address),
            }));
            setPools(POOLS[step.pool] as Pool, assignments);
          }
          return undefined;
        });
        expect(one).toEqual(other);
      }
      expect(quick.state()).toEqual(readable.state());
    }),
  );
});

it('a gate sees only the answers of leases that may not bypass it', () => {
  const asked: string[] = [];
  const isOpenTo = (lease: Lease) => lease.macAddress !== MACS[1];
  const { server, send } = startServer({
    isOpenTo,
    whyNotSent: (answer) => {
      if (answer.kind === 'reply') asked.push(answer.client.macAddress);
      return 'address-being-probed';
    },
  });
  server.setPool(
    POOLS[0],
    ADDRESSES.map((address, index) => ({ macAddress: MACS[index] as string, address: ip(address) })),
  );
  const replies = MACS.slice(0, 3).map((macAddress) =>
    send(encodeClientPacket({ type: 'discover', macAddress, xid: 1, options: [] })),
  );
  expect(replies.map((reply) => reply !== undefined)).toEqual([true, false, true]);
  expect(asked).toEqual([MACS[1]]);
});
