import { type Answer, answerPacket, encodeOption, type Lease, ServedPool, validatePool } from '@vmdhcp/dhcp-allocator';
import { settle } from '@vmdhcp/kube-runtime/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AddressUse } from '../ports.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { type ClientPacket, encodeClientPacket } from './client-packet.js';
import { ConflictProbes } from './conflict-probes.js';

const checked = validatePool({ name: 'net', cidr: '10.0.0.0/16', serverAddress: '10.0.0.1' });
if (!checked.ok) throw new Error('no pool');
const POOLS = [new ServedPool(checked.value)];
const SQUATTER = '02:00:00:00:00:66';
const FREE: AddressUse = { byClient: false, others: [] };
const leaseOf = (number: number): Lease => ({
  poolName: 'net',
  macAddress: `02:00:00:00:${(number >> 8).toString(16).padStart(2, '0')}:${(number & 255).toString(16).padStart(2, '0')}`,
  address: 0x0a000000 + 10 + number,
});

let nowMs: number;
let isLeader: boolean;
let probed: string[];
let answers: ((use: AddressUse | Error) => void)[];
let conflicts: string[];
let injected: Uint8Array[];
let observer: RecordingObserver;
let probes: ConflictProbes;

beforeEach(() => {
  nowMs = 0;
  isLeader = true;
  [probed, answers, conflicts, injected] = [[], [], [], []];
  observer = new RecordingObserver();
  probes = new ConflictProbes({
    observer,
    nowMs: () => nowMs,
    isLeader: () => isLeader,
    findUsers: (interfaceName, { macAddress }) =>
      new Promise((resolve, reject) => {
        probed.push(`${interfaceName} ${macAddress}`);
        answers.push((use) => (use instanceof Error ? reject(use) : resolve(use)));
      }),
    onConflict: (pool, { macAddress }) => conflicts.push(`${pool} ${macAddress}`),
    inject: (_, packet) => injected.push(packet),
  });
});

async function answerAll(use: AddressUse | Error): Promise<void> {
  for (const answer of answers.splice(0)) answer(use);
  await settle();
}

function ask(lease: Lease, xid = 1): boolean {
  const packet = encodeClientPacket({ type: 'discover', macAddress: lease.macAddress, xid });
  const answer: Answer = answerPacket(packet, { pools: POOLS, leaseOf: () => lease });
  return probes.defer('net0', answer, packet);
}

describe('a leader', () => {
  it('probes new addresses at once, before their clients ask', async () => {
    probes.noteFresh('net0', [leaseOf(1), leaseOf(2)]);
    expect(probed).toEqual([`net0 ${leaseOf(1).macAddress}`, `net0 ${leaseOf(2).macAddress}`]);
    await answerAll(FREE);
    expect([ask(leaseOf(1)), probes.isFresh(leaseOf(1))]).toEqual([false, false]);
  });

  it('probes no more than 256 at once: the others when their clients ask', () => {
    const many = Array.from({ length: 257 }, (_, number) => leaseOf(number));
    probes.noteFresh('net0', many);
    expect(probed).toEqual([]);
    expect(ask(leaseOf(3))).toBe(true);
    expect(probed).toHaveLength(1);
    probes.noteFresh('net1', many.slice(1));
    expect(probed).toHaveLength(257);
  });

  it('probes an address once, however often its client asks, and answers its newest message', async () => {
    probes.noteFresh('net0', [leaseOf(1)]);
    for (const xid of [1, 2, 3]) expect(ask(leaseOf(1), xid)).toBe(true);
    expect(probed).toHaveLength(1);
    await answerAll(FREE);
    expect(injected).toHaveLength(1);
    expect(injected[0]?.[7]).toBe(3);
  });

  it('answers a deferred client once, and never again', async () => {
    probes.noteFresh('net0', [leaseOf(1)]);
    ask(leaseOf(1));
    await answerAll(FREE);
    probes.noteFresh('net0', [leaseOf(1)]);
    await answerAll(FREE);
    expect(injected).toHaveLength(1);
  });

  it('does not defer clients with an old address', () => {
    probes.noteFresh('net0', [leaseOf(1)]);
    expect(ask(leaseOf(2))).toBe(false);
  });

  it('does not defer a client that has another address by now', () => {
    probes.noteFresh('net0', [leaseOf(1)]);
    expect(ask({ ...leaseOf(1), address: 0x0a000099 })).toBe(false);
  });

  it('reports a conflict, and its client is not answered', async () => {
    probes.noteFresh('net0', [leaseOf(1)]);
    ask(leaseOf(1));
    await answerAll({ byClient: false, others: [SQUATTER] });
    expect([conflicts, injected]).toEqual([[`net ${leaseOf(1).macAddress}`], []]);
    expect(observer.of('address-conflict')).toMatchObject([{ usedBy: SQUATTER, address: leaseOf(1).address }]);
  });

  it('a failed probe is logged, and repeated when the client asks again: it is not deferred forever', async () => {
    probes.noteFresh('net0', [leaseOf(1)]);
    ask(leaseOf(1));
    await answerAll(new Error('EPERM'));
    expect(observer.of('address-not-probed')).toMatchObject([{ interfaceName: 'net0', error: new Error('EPERM') }]);
    expect(injected).toEqual([]);
    expect(ask(leaseOf(1))).toBe(true);
    await answerAll(FREE);
    expect(injected).toHaveLength(1);
    expect(ask(leaseOf(1))).toBe(false);
  });

  it('keeps 16,384 packets of waiting clients; the others retransmit', async () => {
    const many = Array.from({ length: 16_390 }, (_, number) => leaseOf(number));
    probes.noteFresh('net0', many);
    for (const lease of many) ask(lease);
    await answerAll(FREE);
    expect(injected).toHaveLength(16_384);
  });

  it('does not forget new addresses, however long ago they were new', () => {
    probes.noteFresh(
      'net0',
      Array.from({ length: 300 }, (_, number) => leaseOf(number)),
    );
    nowMs = 3_600_000;
    probes.forgetOld();
    expect(probes.isFresh(leaseOf(7))).toBe(true);
  });
});

describe('a standby', () => {
  beforeEach(() => {
    isLeader = false;
  });

  it('probes nothing by itself', () => {
    probes.noteFresh('net0', [leaseOf(1)]);
    expect([probed, probes.isFresh(leaseOf(1))]).toEqual([[], true]);
  });

  it('forgets new addresses after fifteen seconds: the leader has probed them', () => {
    probes.noteFresh('net0', [leaseOf(1)]);
    nowMs = 15_000;
    probes.forgetOld();
    expect(probes.isFresh(leaseOf(1))).toBe(true);
    nowMs = 15_001;
    probes.forgetOld();
    expect(probes.isFresh(leaseOf(1))).toBe(false);
  });
});

describe('a message that waits for a probe', () => {
  it.each<[string, AddressUse | Error]>([
    ['another host uses the address', { byClient: false, others: [SQUATTER] }],
    ['the address cannot be probed', new Error('EPERM')],
  ])('is forgotten if %s: it is not answered when the address is free later', async (_, use) => {
    probes.noteFresh('net0', [leaseOf(1)]);
    ask(leaseOf(1));
    await answerAll(use);
    probes.noteFresh('net0', [leaseOf(1)]);
    await answerAll(FREE);
    expect([injected, probes.isFresh(leaseOf(1))]).toEqual([[], false]);
  });

  it.each<[string, Answer]>([
    ['a RELEASE', answerOf('release', { clientAddress: leaseOf(1).address, server: true })],
    ['a DECLINE', answerOf('decline', { requested: leaseOf(1).address, server: true })],
    ['an INFORM', answerOf('inform', { clientAddress: leaseOf(1).address })],
    ['a NAK', answerOf('request', { requested: leaseOf(2).address })],
    ['what is ignored', answerOf('discover', { isKnown: false })],
    ['octets that are not a message', answerPacket(new Uint8Array(9), { pools: POOLS, leaseOf: () => undefined })],
  ])('is never %s, because it assigns no address', (_, answer) => {
    probes.noteFresh('net0', [leaseOf(1)]);
    probed.length = 0;
    expect([probes.defer('net0', answer, Uint8Array.of(1)), probed]).toEqual([false, []]);
  });

  it.each<[string, Answer]>([
    ['an OFFER', answerOf('discover', {})],
    ['an ACK', answerOf('request', { requested: leaseOf(1).address })],
  ])('may wait for %s', (_, answer) => {
    probes.noteFresh('net0', [leaseOf(1)]);
    expect(probes.defer('net0', answer, Uint8Array.of(1))).toBe(true);
  });

  it('is passed on by a replica that lost the leadership meanwhile: its gate decides', async () => {
    probes.noteFresh('net0', [leaseOf(1)]);
    ask(leaseOf(1));
    isLeader = false;
    await answerAll(FREE);
    expect(injected).toHaveLength(1);
  });
});

describe('a standby that becomes leader while it remembers new addresses', () => {
  it('probes one when its client asks, and not before; it does not forget probed addresses', async () => {
    isLeader = false;
    probes.noteFresh('net0', [leaseOf(1), leaseOf(2)]);
    isLeader = true;
    expect(probed).toEqual([]);
    expect(ask(leaseOf(1))).toBe(true);
    isLeader = false;
    nowMs = 60_000;
    probes.forgetOld();
    expect([probes.isFresh(leaseOf(1)), probes.isFresh(leaseOf(2))]).toEqual([true, false]);
    await answerAll(FREE);
    expect(probes.isFresh(leaseOf(1))).toBe(false);
  });
});

interface Asking {
  readonly clientAddress?: number;
  readonly requested?: number;
  /** True if it names this server. */
  readonly server?: boolean;
  /** False if the client has no lease. */
  readonly isKnown?: boolean;
}

/** The server's answer to the client of lease 1. */
function answerOf(type: ClientPacket['type'], { clientAddress = 0, requested, server, isKnown }: Asking): Answer {
  const packet = encodeClientPacket({
    type,
    macAddress: leaseOf(1).macAddress,
    xid: 1,
    clientAddress,
    options: [
      ...(requested === undefined ? [] : [encodeOption('requestedAddress', requested)]),
      ...(server === true ? [encodeOption('serverIdentifier', 0x0a000001)] : []),
    ],
  });
  return answerPacket(packet, { pools: POOLS, leaseOf: () => (isKnown === false ? undefined : leaseOf(1)) });
}
