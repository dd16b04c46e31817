/** A server's reports on packets and leases: events, counters, the packet log. */
import { type Assignment, type PoolDefinition, parseIpv4Address, validatePool } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import type { AddressUse, LoggedPacket } from '../ports.js';
import { type ClientPacket, encodeClientPacket } from '../probe/client-packet.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { type AnswerGate, DhcpServer } from './dhcp-server.js';

const ip = (text: string): number => parseIpv4Address(text) as number;
const octets = (text: string): Uint8Array => Uint8Array.from(text.split('.'), Number);
const VM_A = '02:00:00:00:00:0a';
const VM_B = '02:00:00:00:00:0b';
const UNKNOWN = '02:00:00:00:00:99';
const US = [54, octets('10.0.0.1')] as const;
const OWN = [50, octets('10.0.0.10')] as const;
const A: Assignment = { macAddress: VM_A, address: ip('10.0.0.10') };
const B: Assignment = { macAddress: VM_B, address: ip('10.0.0.11') };

function poolWith(more: Partial<PoolDefinition> = {}) {
  const checked = validatePool({ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', leaseTimeSeconds: 60, ...more });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.value;
}

function setUp({ gate, isLogging = false }: { readonly gate?: AnswerGate; readonly isLogging?: boolean } = {}) {
  const observer = new RecordingObserver();
  const logged: LoggedPacket[] = [];
  const clock = { nowMs: 1_000 };
  const network: { use: AddressUse | Error } = { use: { byClient: false, others: [] } };
  let changes = 0;
  const server = new DhcpServer({
    observer,
    packetLog: { isActive: isLogging, note: (one) => logged.push(one) },
    nowMs: () => clock.nowMs,
    findUsers: async () => {
      if (network.use instanceof Error) throw network.use;
      return network.use;
    },
    onDeclined: () => undefined,
    onBindingChanged: () => changes++,
  });
  const handle = server.handler('eth1', () => server.poolsNamed(['net']), gate);
  const send = (type: ClientPacket['type'], more: Partial<ClientPacket> = {}) =>
    handle(encodeClientPacket({ type, macAddress: VM_A, xid: 1, ...more }), Buffer.alloc(1_472));
  const leaseEvents = () =>
    observer
      .of('lease')
      .map(({ event, lease, details }) => ({ event, mac: lease.macAddress, address: lease.address, ...details }));
  const counted = () =>
    [...server.counters.messages()].map(({ type, outcome, reason, count }) => [type, outcome, reason, count].join(' ').trim());
  return { server, observer, logged, clock, network, handle, send, leaseEvents, counted, changes: () => changes };
}

describe('leases', () => {
  it('bound and released, each with its interface, and each changes what is saved', () => {
    const { server, send, leaseEvents, changes, counted } = setUp();
    server.setPool(poolWith(), [A, B]);
    send('request', { options: [US, OWN] });
    send('request', { options: [US, OWN] });
    expect(changes()).toBe(1);
    send('release', { clientAddress: ip('10.0.0.10'), options: [US] });
    send('release', { clientAddress: ip('10.0.0.10'), options: [US] });
    expect(changes()).toBe(2);
    expect(leaseEvents()).toEqual([
      { event: 'bound', mac: VM_A, address: A.address, interface: 'eth1' },
      { event: 'released', mac: VM_A, address: A.address, interface: 'eth1' },
    ]);
    expect(counted()).toEqual(['request ack  2', 'release released  2']);
  });

  it('refused: a NAK is reported with the claimed address, if there was one', () => {
    const { server, send, leaseEvents, counted } = setUp();
    server.setPool(poolWith({ authoritative: true }), [A]);
    send('request', { options: [US, [50, octets('10.0.0.77')]] });
    send('request', { clientAddress: ip('10.0.0.78') });
    send('request', { macAddress: UNKNOWN, options: [OWN] });
    expect(leaseEvents()).toEqual([
      { event: 'refused', mac: VM_A, address: ip('10.0.0.77'), interface: 'eth1', reason: 'address-not-its-own' },
      { event: 'refused', mac: VM_A, address: ip('10.0.0.78'), interface: 'eth1', reason: 'address-not-its-own' },
      { event: 'refused', mac: UNKNOWN, address: ip('10.0.0.10'), interface: 'eth1', reason: 'not-authorized-here' },
    ]);
    expect(counted()).toEqual(['request nak address-not-its-own 2', 'request nak not-authorized-here 1']);
  });

  it('changed: with the former address; a new host name alone is not reported', () => {
    const { server, leaseEvents } = setUp();
    server.setPool(poolWith(), [A, B]);
    expect(server.setPool(poolWith(), [{ ...A, hostname: 'vm-a' }, B])).toEqual([]);
    expect(leaseEvents()).toEqual([]);
    const fresh = server.setPool(poolWith(), [{ ...A, address: ip('10.0.0.12') }, B]);
    expect(fresh).toMatchObject([{ macAddress: VM_A, address: ip('10.0.0.12') }]);
    expect(leaseEvents()).toEqual([{ event: 'changed', mac: VM_A, address: ip('10.0.0.12'), previousAddress: '10.0.0.10' }]);
  });

  it('leases that are known when a pool is first served are restored; later ones begin unbound', () => {
    const { server } = setUp();
    const expiryOf = (mac: string) => (mac === VM_A ? 9_000 : undefined);
    expect(server.setPool(poolWith(), [A, B], expiryOf)).toEqual([]);
    expect(server.leaseOf('net', VM_A)).toEqual({ poolName: 'net', ...A, expiresAtMs: 9_000 });
    expect(server.leaseOf('net', VM_B)).toEqual({ poolName: 'net', ...B });
    const third = { macAddress: UNKNOWN, address: ip('10.0.0.13') };
    const fresh = server.setPool(poolWith(), [A, B, third], () => 9_000);
    expect(fresh).toEqual([{ poolName: 'net', ...third }]);
  });

  it('expired: reported once, and the assignment stays', () => {
    const { server, send, clock, leaseEvents } = setUp();
    server.setPool(poolWith(), [A]);
    send('request', { options: [US, OWN] });
    clock.nowMs += 59_999;
    server.expireLeases();
    clock.nowMs += 1;
    server.expireLeases();
    server.expireLeases();
    expect(leaseEvents().map(({ event }) => event)).toEqual(['bound', 'expired']);
    expect(server.leaseOf('net', VM_A)?.address).toBe(A.address);
  });
});

describe('DECLINE', () => {
  const decline = { options: [US, OWN] } as const;
  const settled = () => new Promise(setImmediate);

  it('is confirmed: counted, and the other clients of the pool keep theirs', async () => {
    const { server, send, network, counted, leaseEvents } = setUp();
    server.setPool(poolWith(), [A, B]);
    network.use = { byClient: false, others: [UNKNOWN] };
    send('decline', decline);
    await settled();
    expect([...server.leases('net')].map(({ macAddress }) => macAddress)).toEqual([VM_B]);
    expect(counted()).toEqual(['decline declined  1']);
    expect(leaseEvents()).toEqual([
      { event: 'declined', mac: VM_A, address: A.address, interface: 'eth1', believed: true, usedBy: UNKNOWN },
    ]);
  });

  it('is not believed: with the error if the probe failed, otherwise without', async () => {
    const { server, send, network, leaseEvents } = setUp();
    server.setPool(poolWith(), [A]);
    send('decline', decline);
    await settled();
    network.use = new Error('no such device');
    send('decline', decline);
    await settled();
    expect(leaseEvents().map((one) => [Reflect.get(one, 'reason'), Reflect.get(one, 'err')])).toEqual([
      ['decline-unconfirmed', undefined],
      ['decline-not-checked', expect.stringContaining('no such device')],
    ]);
    expect(Object.keys(leaseEvents()[0] ?? {})).not.toContain('err');
  });

  it('DECLINEs of an address that the client no longer has when the probe is answered are counted as such', async () => {
    const { server, send, network, counted } = setUp();
    server.setPool(poolWith(), [A]);
    network.use = { byClient: false, others: [UNKNOWN] };
    send('decline', decline);
    server.setPool(poolWith(), []);
    await settled();
    expect(counted()).toEqual(['decline ignored address-not-its-own 1']);
  });
});

describe('packets', () => {
  it('that are dropped are counted by their reason', () => {
    const { server, handle, send } = setUp();
    expect(handle(new Uint8Array(9), Buffer.alloc(1_472))).toBeUndefined();
    send('discover');
    expect([...server.counters.dropped()]).toEqual([
      ['message-too-short', 1],
      ['no-pool-here', 1],
    ]);
  });

  it('find no pool after it is removed', () => {
    const { server, send } = setUp();
    server.setPool(poolWith(), [A]);
    expect(send('discover')).toBeDefined();
    server.removePool('net');
    expect(server.poolsNamed(['net'])).toEqual([]);
    expect(server.poolAlone('net')).toEqual([]);
    expect(send('discover')).toBeUndefined();
  });

  it('whose answer throws are dropped, and reported', () => {
    const boom = new Error('boom');
    const gate: AnswerGate = {
      whyNotSent: () => {
        throw boom;
      },
    };
    const { server, observer, send } = setUp({ gate });
    server.setPool(poolWith(), [A]);
    expect(send('discover')).toBeUndefined();
    expect(observer.events).toEqual([{ kind: 'packet-failed', interfaceName: 'eth1', error: boom }]);
    expect([...server.counters.dropped()]).toEqual([['internal-error', 1]]);
  });

  it('are logged with their outcome, only while the log is active', () => {
    const quiet = setUp();
    quiet.server.setPool(poolWith(), [A]);
    quiet.send('discover');
    quiet.send('discover', { macAddress: UNKNOWN });
    expect(quiet.logged).toEqual([]);

    const gate: AnswerGate = { whyNotSent: ({ client }) => (client.type === 'request' ? 'standing-by' : undefined) };
    const { server, send, logged } = setUp({ isLogging: true, gate });
    send('discover');
    server.setPool(poolWith(), [A]);
    send('discover');
    send('request', { options: [US, OWN] });
    expect(
      logged.map(({ packet, answer, interfaceName, poolName, notSent }) => [
        packet.length,
        answer.kind,
        interfaceName,
        poolName,
        notSent,
      ]),
    ).toEqual([
      [300, 'dropped', 'eth1', undefined, undefined],
      [300, 'reply', 'eth1', 'net', undefined],
      [300, 'reply', 'eth1', 'net', 'standing-by'],
    ]);
  });

  it('are counted for each option that did not fit the reply', () => {
    const { server, send } = setUp();
    const dnsServers = Array.from({ length: 60 }, (_, index) => `10.0.0.${index + 100}`);
    const ntpServers = Array.from({ length: 60 }, (_, index) => `10.0.0.${index + 100}`);
    server.setPool(poolWith({ options: { dnsServers, ntpServers } }), [A]);
    send('discover', { options: [[57, Uint8Array.of(2, 64)]] });
    expect(server.counters.omittedOptions).toBe(1);
    send('discover', { options: [[57, Uint8Array.of(5, 220)]] });
    expect(server.counters.omittedOptions).toBe(1);
  });

  it('get their answer in a frame on the link; through a relay, or where the pool has relays elsewhere, they are routed', () => {
    const { server, send } = setUp();
    server.setPool(poolWith(), [A]);
    expect(send('discover')?.isOnLink).toBe(true);
    expect(send('discover', { relayAddress: ip('10.0.0.2') })?.isOnLink).toBe(false);
    server.setPool(poolWith({ relays: ['10.9.0.0/24'] }), [A]);
    expect(send('discover')?.isOnLink).toBe(false);
  });
});

it('decoys are addresses of the subnet that no client has; a pool that is not served has none', () => {
  const { server } = setUp();
  const assignments = Array.from({ length: 250 }, (_, index) => ({
    macAddress: `02:00:00:00:01:${index.toString(16).padStart(2, '0')}`,
    address: ip('10.0.0.2') + index,
  }));
  server.setPool(poolWith(), assignments);
  expect(new Set(server.decoysOf('net', 8, () => 0.5))).toEqual(new Set([ip('10.0.0.252'), ip('10.0.0.253'), ip('10.0.0.254')]));
  expect(server.decoysOf('other', 8, () => 0.5)).toEqual([]);
});
