import { decodeMessage, type Lease, parseIpv4Address, validatePool } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import type { AddressUse } from '../ports.js';
import { type ClientPacket, encodeClientPacket } from '../probe/client-packet.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { DhcpServer } from './dhcp-server.js';

const VM_A = '02:00:00:00:00:0a';
const SQUATTER = '02:00:00:00:00:66';
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
  const observer = new RecordingObserver();
  const lines = () => observer.of('lease').map(({ event, lease, details }) => ({ event, mac: lease.macAddress, ...details }));
  const declined: (Lease & { usedBy: string })[] = [];
  /** The answer to probes, which arrive on `askedOn`. */
  const network: { use: AddressUse | Error; askedOn: string[] } = { use: { byClient: false, others: [] }, askedOn: [] };
  const clock = { nowMs: 1_000 };
  const nowMs = () => clock.nowMs;
  const server = new DhcpServer({
    observer,
    nowMs,
    findUsers: (interfaceName) => {
      network.askedOn.push(interfaceName);
      return network.use instanceof Error ? Promise.reject(network.use) : Promise.resolve(network.use);
    },
    onDeclined: (lease, usedBy) => declined.push({ ...lease, usedBy }),
    onBindingChanged: () => undefined,
  });
  server.setPool(checked.value, [
    { macAddress: VM_A, address: ip('10.0.0.10') },
    { macAddress: PRINTER, address: ip('10.0.0.20') },
  ]);
  const handle = server.handler('eth1', () => server.poolsNamed(['net']));
  /** The type of the reply, or undefined. */
  const send = (macAddress: string, type: ClientPacket['type'], options: ClientPacket['options'] = []): number | undefined => {
    const bytes = encodeClientPacket({ type, macAddress, xid: 1, options });
    const into = Buffer.alloc(1_472);
    const reply = handle(bytes, into);
    if (reply === undefined) return undefined;
    const decoded = decodeMessage(into.subarray(0, reply.length));
    return decoded.ok ? decoded.message.options.uint8(53) : undefined;
  };
  const decline = async (mac: string, address: string) => {
    send(mac, 'decline', [
      [50, octets(address)],
      [54, octets('10.0.0.1')],
    ]);
    // Lets everything run that waits for the probe's answer.
    await new Promise(setImmediate);
  };
  const release = (macAddress: string, address: string) => {
    const options = [[54, octets('10.0.0.1')]] as const;
    handle(encodeClientPacket({ type: 'release', macAddress, xid: 1, clientAddress: ip(address), options }), Buffer.alloc(1_472));
  };
  return { network, release, server, handle, send, decline, declined, lines, clock };
}

describe('the packet path tells a story', () => {
  it('bound once, renewed without a word, expired', () => {
    const { server, send, lines, clock } = setUp();
    for (let round = 0; round < 3; round++) expect(send(VM_A, 'request', [[50, octets('10.0.0.10')]])).toBe(5);
    clock.nowMs += 40_000_000_000;
    server.expireLeases();
    expect(lines().map(({ event, mac }) => [event, mac])).toEqual([
      ['bound', VM_A],
      ['expired', VM_A],
    ]);
  });

  it('a client whose DECLINE is confirmed has no lease until it gets another one', async () => {
    const { network, send, decline, declined, lines } = setUp();
    network.use = { byClient: false, others: [SQUATTER] };
    await decline(VM_A, '10.0.0.10');
    expect(network.askedOn).toEqual(['eth1']);
    expect(declined).toMatchObject([{ macAddress: VM_A, address: ip('10.0.0.10'), usedBy: SQUATTER }]);
    expect(lines()).toMatchObject([{ event: 'declined', mac: VM_A, believed: true, usedBy: SQUATTER }]);
    expect(send(VM_A, 'discover')).toBeUndefined();
  });

  it.each<[what: string, use: AddressUse | Error, reason: string]>([
    ['the client itself answers', { byClient: true, others: [] }, 'decline-address-in-use-by-client'],
    ['the client and another host answer', { byClient: true, others: [SQUATTER] }, 'decline-address-in-use-by-client'],
    ['no host answers', { byClient: false, others: [] }, 'decline-unconfirmed'],
    ['the network cannot be asked', new Error('EPERM'), 'decline-not-checked'],
  ])('a DECLINE changes nothing if %s: it is counted and logged', async (_what, use, reason) => {
    const { network, server, send, decline, declined, lines } = setUp();
    network.use = use;
    await decline(VM_A, '10.0.0.10');
    expect(declined).toEqual([]);
    expect(lines()).toMatchObject([{ event: 'declined', mac: VM_A, believed: false, reason }]);
    expect([...server.counters.messages()]).toEqual([{ type: 'decline', outcome: 'ignored', reason, count: 1 }]);
    expect(send(VM_A, 'request', [[50, octets('10.0.0.10')]])).toBe(5);
  });

  it('a DECLINE changes nothing until the probe is answered, and does not affect a new address of the client', async () => {
    const { network, server, send, decline, declined } = setUp();
    network.use = { byClient: false, others: [SQUATTER] };
    const checked = decline(VM_A, '10.0.0.10');
    expect(send(VM_A, 'discover')).toBe(2);
    const [served] = server.poolsNamed(['net']);
    if (served === undefined) throw new Error('no pool');
    server.setPool(served.pool, [{ macAddress: VM_A, address: ip('10.0.0.11') }]);
    await checked;
    expect(declined).toEqual([]);
    expect(server.leaseOf('net', VM_A)?.address).toBe(ip('10.0.0.11'));
  });

  it('a thousand DECLINEs cause a few probes and a few log lines', async () => {
    const { network, server, send, decline, lines } = setUp();
    for (let round = 0; round < 1_000; round++) await decline(VM_A, '10.0.0.10');
    for (let round = 0; round < 1_000; round++) await decline(PRINTER, '10.0.0.20');
    expect(network.askedOn).toHaveLength(3);
    expect(lines()).toHaveLength(10);
    expect([...server.counters.messages()].map(({ reason, count }) => [reason, count])).toEqual([
      ['decline-unconfirmed', 3],
      ['decline-limit', 997],
      ['address-reserved', 1_000],
    ]);
    expect(send(VM_A, 'discover')).toBe(2);
  });

  it('a forged RELEASE costs its client nothing: the address stays, and the next renewal binds it again', () => {
    const { server, send, release, lines } = setUp();
    const renew = () => send(VM_A, 'request', [[50, octets('10.0.0.10')]]);
    expect(renew()).toBe(5);
    for (let round = 0; round < 100; round++) release(VM_A, '10.0.0.10');
    expect(server.leaseOf('net', VM_A)).toMatchObject({ address: ip('10.0.0.10') });
    expect(renew()).toBe(5);
    expect(lines().map(({ event }) => event)).toEqual(['bound', 'released', 'bound']);
  });

  it("a reserved address that is declined stays its client's, and is reported", async () => {
    const { server, send, decline, declined, lines } = setUp();
    await decline(PRINTER, '10.0.0.20');
    expect(declined).toEqual([]);
    expect(lines()).toMatchObject([{ event: 'declined', mac: PRINTER, believed: false, reason: 'address-reserved' }]);
    expect([...server.counters.messages()]).toEqual([
      { type: 'decline', outcome: 'ignored', reason: 'address-reserved', count: 1 },
    ]);
    expect(send(PRINTER, 'discover')).toBe(2);
  });
});

describe('a reply to a client that has its address', () => {
  const inform = encodeClientPacket({ type: 'inform', macAddress: VM_A, xid: 1, clientAddress: ip('10.0.0.99') });
  const renew = encodeClientPacket({ type: 'request', macAddress: VM_A, xid: 1, clientAddress: ip('10.0.0.10') });

  it.each([
    ['INFORM', inform],
    ['a renewal', renew],
  ])('to %s goes in a frame, unless the pool has relays: its client may be beyond one', (_, packet) => {
    const { server, handle } = setUp();
    expect(handle(packet, Buffer.alloc(1_472))).toMatchObject({ destination: { kind: 'unicast', port: 68 }, isOnLink: true });
    const [served] = server.poolsNamed(['net']);
    if (served === undefined) throw new Error('no pool');
    const relays = [{ network: ip('10.9.0.0'), prefixLength: 24 }];
    server.setPool({ ...served.pool, relays }, [...server.leases('net')]);
    expect(handle(packet, Buffer.alloc(1_472))).toMatchObject({ destination: { kind: 'unicast', port: 68 }, isOnLink: false });
  });
});
