import {
  type Answer,
  answerPacket,
  encodeOption,
  type Lease,
  parseIpv4Address,
  ServedPool,
  validatePool,
} from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import { type ClientPacket, encodeClientPacket } from '../probe/client-packet.js';
import { StandbyGate } from './standby-gate.js';

const MAC = '02:00:00:00:00:01';
/** No test may depend on a clock that begins at 0. */
const START_MS = 5_000_000;
const ADDRESS = parseIpv4Address('10.0.0.10') as number;

const [P, Q] = ['a/p', 'a/q'].map(poolNamed);

function poolNamed(name: string): ServedPool {
  const range = { start: '10.0.0.10', end: '10.0.0.20' };
  const checked = validatePool({ name, cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', ...range });
  if (!checked.ok) throw new Error('the pool is wrong');
  return new ServedPool(checked.value);
}

interface Fields {
  readonly xid?: number;
  readonly secs?: number;
  readonly giaddr?: string;
  readonly requested?: string;
  readonly server?: string;
  readonly clientAddress?: number;
  readonly macAddress?: string;
  readonly pool?: string;
  /** False: the client has no lease. */
  readonly isKnown?: boolean;
}

function packet(type: ClientPacket['type'], fields: Fields): Answer {
  const { xid = 1, secs = 0, giaddr = '0.0.0.0', requested, server, clientAddress = 0, macAddress = MAC, pool = 'a/p' } = fields;
  const bytes = encodeClientPacket({
    type,
    macAddress,
    xid,
    secs,
    clientAddress,
    relayAddress: parseIpv4Address(giaddr) as number,
    options: [
      ...(requested === undefined ? [] : [encodeOption('requestedAddress', parseIpv4Address(requested) as number)]),
      ...(server === undefined ? [] : [encodeOption('serverIdentifier', parseIpv4Address(server) as number)]),
    ],
  });
  const lease: Lease = { poolName: pool, macAddress, address: ADDRESS };
  return answerPacket(bytes, {
    pools: [(pool === 'a/p' ? P : Q) as ServedPool],
    leaseOf: () => (fields.isKnown === false ? undefined : lease),
  });
}

const discover = (fields: Fields = {}) => packet('discover', fields);
const request = (fields: Fields = {}) => packet('request', { requested: '10.0.0.10', ...fields });

class Standby {
  nowMs = START_MS;
  leastWaitMs = 0;
  doubt = false;
  readonly asked: string[] = [];
  readonly #gate = new StandbyGate({
    nowMs: () => this.nowMs,
    leastWaitMs: () => this.leastWaitMs,
    isInDoubt: (pool, macAddress) => {
      this.asked.push(`${pool} ${macAddress}`);
      return this.doubt;
    },
  });

  at(seconds: number, answer: Answer): boolean {
    this.pass(seconds);
    return this.#gate.admit(answer, Uint8Array.of(seconds));
  }

  /** The arrival times of the messages that are answered now. */
  recent(pool = 'a/p'): number[] {
    return this.#gate.takeRecent(pool).map(([seconds = 0]) => seconds);
  }

  /** The arrival times of the messages that were left to others. */
  leftToOthers(pool = 'a/p'): number[] {
    return this.#gate.takeLeftToOthers(pool).map(([seconds = 0]) => seconds);
  }

  isUnanswered(pool = 'a/p'): boolean {
    return this.#gate.isUnanswered(pool, MAC);
  }

  pass(seconds: number): void {
    this.nowMs = START_MS + Math.round(seconds * 1000);
  }

  forgetOld(seconds: number): void {
    this.pass(seconds);
    this.#gate.forgetOld();
  }
}

describe('a standby', () => {
  it('is silent the first time, and answers a client that repeats its message', () => {
    const standby = new Standby();
    expect(standby.at(0, discover())).toBe(false);
    expect(standby.at(3, discover())).toBe(true);
    expect(standby.at(3.1, request({ xid: 1 }))).toBe(true);
  });

  it('helps a client through one exchange, not forever', () => {
    const standby = new Standby();
    standby.at(0, discover({ xid: 1 }));
    expect(standby.at(3, discover({ xid: 1 }))).toBe(true);
    expect([4, 7, 10].map((second) => standby.at(second, request({ xid: second })))).toEqual([true, true, true]);
    expect([14, 17].map((second) => standby.at(second, request({ xid: second })))).toEqual([false, false]);
  });

  it('also recognizes a retransmission by increasing seconds, whatever its transaction', () => {
    const standby = new Standby();
    expect(standby.at(0, discover({ xid: 1, secs: 0 }))).toBe(false);
    expect(standby.at(4, discover({ xid: 2, secs: 4 }))).toBe(true);
  });

  it.each<[string, number, Fields]>([
    ['renews every second with another transaction', 1, { xid: 2 }],
    ['repeats itself at once', 0.1, { xid: 1 }],
    ['begins anew after minutes', 100, { xid: 1 }],
    ['sends seconds that have not passed', 1, { xid: 2, secs: 60 }],
  ])('is silent to a client that %s', (_, seconds, fields) => {
    const standby = new Standby();
    standby.at(0, request());
    expect(standby.at(seconds, request(fields))).toBe(false);
  });

  it('never sends a NAK, and never answers a relay', () => {
    const standby = new Standby();
    const wrong = request({ requested: '10.0.0.11' });
    expect(wrong).toMatchObject({ kind: 'reply', decision: { kind: 'nak' } });
    const relayed = discover({ giaddr: '10.0.0.99' });
    expect(relayed).toMatchObject({ kind: 'reply' });
    for (const second of [0, 3, 6]) {
      expect(standby.at(second, wrong)).toBe(false);
      expect(standby.at(second + 0.5, relayed)).toBe(false);
    }
  });

  it('without an API server lets replicas that have one go first', () => {
    const standby = new Standby();
    standby.leastWaitMs = 5_000;
    expect([0, 2, 4, 6].map((second) => standby.at(second, discover()))).toEqual([false, false, false, true]);
  });

  it('becomes leader: a request of a moment ago without a reply gets a reply, once', () => {
    const standby = new Standby();
    standby.at(0, discover({ xid: 1 }));
    standby.at(5, discover({ xid: 2 }));
    expect(standby.recent()).toEqual([5]);
    expect(standby.recent()).toEqual([]);
    standby.at(8, discover({ xid: 2 }));
    expect(standby.recent(), 'it was answered').toEqual([]);
    standby.at(20, discover({ xid: 3 }));
    standby.pass(22);
    expect(standby.recent(), 'its client asks again').toEqual([]);
  });

  it('stays silent as long as it is in doubt', () => {
    const standby = new Standby();
    standby.doubt = true;
    expect([0, 3, 6].map((second) => standby.at(second, discover()))).toEqual([false, false, false]);
    standby.doubt = false;
    expect(standby.at(9, discover())).toBe(true);
  });
});

describe('what a client must do for a standby to answer it', () => {
  interface Turn {
    readonly what: string;
    readonly first?: Fields;
    readonly again?: Fields;
    readonly afterSeconds?: number;
    readonly leastWaitMs?: number;
    readonly isAnswered: boolean;
  }

  it.each<Turn>([
    { what: 'the same transaction after 0.4 s: it waited', afterSeconds: 0.4, isAnswered: true },
    { what: 'the same transaction after 0.399 s: it did not wait', afterSeconds: 0.399, isAnswered: false },
    { what: 'the same transaction after 90 s: it still waits (RFC 2131 §4.4.5)', afterSeconds: 90, isAnswered: true },
    { what: 'the same transaction after 90.001 s: it began anew', afterSeconds: 90.001, isAnswered: false },
    { what: 'the same transaction with seconds that went back', first: { secs: 9 }, again: { secs: 0 }, isAnswered: true },
    { what: 'another transaction, seconds as before', first: { secs: 9 }, again: { xid: 2, secs: 9 }, isAnswered: false },
    { what: 'another transaction, seconds that went back', first: { secs: 9 }, again: { xid: 2, secs: 8 }, isAnswered: false },
    { what: 'another transaction, a second later', first: { secs: 9 }, again: { xid: 2, secs: 10 }, isAnswered: true },
    {
      what: 'another transaction whose seconds are two ahead of the clock: they are rounded on both sides',
      first: { secs: 9 },
      again: { xid: 2, secs: 12 },
      isAnswered: true,
    },
    {
      what: 'another transaction whose seconds are three ahead of the clock',
      first: { secs: 9 },
      again: { xid: 2, secs: 13 },
      isAnswered: false,
    },
    {
      what: 'another transaction whose seconds go on, and it did not wait',
      afterSeconds: 0.3,
      again: { xid: 2, secs: 1 },
      isAnswered: false,
    },
    {
      what: 'another transaction whose seconds go on after 100 s',
      afterSeconds: 100,
      again: { xid: 2, secs: 100 },
      isAnswered: false,
    },
    { what: 'the same after 4.999 s, where 5 s are asked for', afterSeconds: 4.999, leastWaitMs: 5_000, isAnswered: false },
    { what: 'the same after 5 s, where 5 s are asked for', afterSeconds: 5, leastWaitMs: 5_000, isAnswered: true },
    {
      what: 'another transaction whose seconds go on: it has waited since the first one',
      afterSeconds: 5,
      again: { xid: 2, secs: 5 },
      leastWaitMs: 5_000,
      isAnswered: true,
    },
    { what: 'another client sends the same', again: { macAddress: '02:00:00:00:00:02' }, isAnswered: false },
    { what: 'it sends the same on the network of another pool', again: { pool: 'a/q' }, isAnswered: false },
  ])('$what: $isAnswered', ({ first, again, afterSeconds = 1, leastWaitMs = 0, isAnswered }) => {
    const standby = new Standby();
    standby.leastWaitMs = leastWaitMs;
    expect(standby.at(0, discover(first))).toBe(false);
    expect(standby.at(afterSeconds, discover(again))).toBe(isAnswered);
  });

  it.each<[string, Answer, Answer['kind'], boolean]>([
    ['a DISCOVER', discover(), 'reply', true],
    ['a REQUEST after a restart', request(), 'reply', true],
    ['a REQUEST that renews', packet('request', { clientAddress: ADDRESS }), 'reply', true],
    ['an INFORM', packet('inform', { clientAddress: ADDRESS }), 'reply', false],
    ['a REQUEST for an address of another client', request({ requested: '10.0.0.11' }), 'reply', false],
    ['a DISCOVER through a relay', discover({ giaddr: '10.0.0.99' }), 'reply', false],
    ['a REQUEST through a relay', request({ giaddr: '10.0.0.99' }), 'reply', false],
    ['a RELEASE', packet('release', { clientAddress: ADDRESS, server: '10.0.0.1' }), 'noted', false],
    ['a DISCOVER of a client without a lease', discover({ isKnown: false }), 'ignored', false],
    ['octets that are not a message', answerPacket(new Uint8Array(9), { pools: [], leaseOf: () => undefined }), 'dropped', false],
  ])('%s that is sent again is answered only if the pool allows it', (_, answer, kind, isAnswered) => {
    const standby = new Standby();
    expect(answer.kind).toBe(kind);
    expect([0, 1, 2].map((second) => standby.at(second, answer)).includes(true)).toBe(isAnswered);
    standby.pass(2);
    expect(standby.recent(), 'only messages that it could answer wait for a leader').toEqual([]);
  });

  it('is checked for the client and the pool of the message', () => {
    const standby = new Standby();
    standby.at(0, discover({ pool: 'a/q' }));
    standby.at(1, discover({ pool: 'a/q' }));
    expect(standby.asked).toEqual([`a/q ${MAC}`]);
  });
});

describe('a client that a standby has helped', () => {
  const helped = () => {
    const standby = new Standby();
    standby.at(0, discover());
    expect(standby.at(1, discover())).toBe(true);
    return standby;
  };

  it.each<[string, number, Answer, boolean]>([
    ['requests at once', 1.01, request({ xid: 5 }), true],
    ['requests 9.999 s later', 10.999, request({ xid: 5 }), true],
    ['requests 10 s later', 11, request({ xid: 5 }), false],
    ['begins a new DISCOVER at once', 1.01, discover({ xid: 5 }), false],
    ['requests through a relay', 1.01, request({ xid: 5, giaddr: '10.0.0.99' }), false],
    ['requests an address of another client', 1.01, request({ xid: 5, requested: '10.0.0.11' }), false],
    ['requests on the network of another pool', 1.01, request({ xid: 5, pool: 'a/q' }), false],
  ])('%s', (_, seconds, answer, isAnswered) => {
    expect(helped().at(seconds, answer)).toBe(isAnswered);
  });

  it('is no longer helped when doubt arises', () => {
    const standby = helped();
    standby.doubt = true;
    expect(standby.at(1.5, request({ xid: 5 }))).toBe(false);
  });

  it('is helped through its exchange even if old clients are forgotten meanwhile', () => {
    const standby = helped();
    standby.forgetOld(2);
    expect(standby.at(3, request({ xid: 5 }))).toBe(true);
  });

  it('was not helped while in doubt: its request is not answered here', () => {
    const standby = new Standby();
    standby.at(0, discover());
    standby.doubt = true;
    expect(standby.at(1, discover())).toBe(false);
    standby.doubt = false;
    expect(standby.at(1.1, request({ xid: 5 }))).toBe(false);
  });
});

describe('clients that have been silent for a long time', () => {
  it('are forgotten after 90 s, and not before: a client that rebinds is known by then', () => {
    const standby = new Standby();
    standby.at(0, request());
    standby.forgetOld(90);
    expect(standby.at(90, request())).toBe(true);
  });

  it('begin anew', () => {
    const standby = new Standby();
    standby.at(0, request());
    standby.forgetOld(90.001);
    expect([91, 92].map((second) => standby.at(second, request()))).toEqual([false, true]);
  });
});

describe('messages that wait for a leader', () => {
  const macOf = (number: number) =>
    `02:00:00:00:${String(number >> 8).padStart(2, '0')}:${(number & 255).toString(16).padStart(2, '0')}`;

  it('are answered pool by pool; the others wait for theirs', () => {
    const standby = new Standby();
    standby.at(1, discover({ pool: 'a/p' }));
    standby.at(2, discover({ pool: 'a/q' }));
    expect(standby.recent('a/p')).toEqual([1]);
    expect([standby.recent('a/p'), standby.recent('a/q')]).toEqual([[], [2]]);
  });

  it.each([
    [1.5, [0]],
    [1.501, []],
  ])('wait for 1.5 s: after %d s they are %j', (seconds, expected) => {
    const standby = new Standby();
    standby.at(0, discover());
    standby.pass(seconds);
    expect(standby.recent()).toEqual(expected);
  });

  it('exclude those that were answered from here', () => {
    const standby = new Standby();
    standby.at(0, discover());
    standby.at(1, discover());
    expect(standby.recent()).toEqual([]);
  });

  it('are the newest of each client, in order of arrival', () => {
    const standby = new Standby();
    standby.leastWaitMs = 60_000;
    standby.at(1, discover({ macAddress: macOf(1) }));
    standby.at(2, discover({ macAddress: macOf(2) }));
    standby.nowMs += 100;
    standby.at(2, discover({ macAddress: macOf(1) }));
    expect(standby.recent()).toHaveLength(2);
    standby.at(5, discover({ macAddress: macOf(1) }));
    standby.at(6, discover({ macAddress: macOf(2) }));
    expect(standby.recent()).toEqual([5, 6]);
  });

  it('are 256 at most: the oldest make room', () => {
    const standby = new Standby();
    standby.leastWaitMs = 60_000;
    const wait = (from: number, to: number, second: number) => {
      for (let number = from; number < to; number++) standby.at(second, discover({ macAddress: macOf(number) }));
    };
    wait(0, 1, 1);
    wait(1, 256, 1.5);
    expect(standby.recent(), 'all of 256').toHaveLength(256);
    wait(0, 1, 11);
    wait(1, 257, 12);
    expect(standby.recent(), 'without the oldest of 257').toEqual(Array.from({ length: 256 }, () => 12));
  });

  it('move to the end when their client asks again', () => {
    const standby = new Standby();
    standby.leastWaitMs = 60_000;
    for (let number = 0; number < 256; number++) standby.at(1, discover({ macAddress: macOf(number) }));
    standby.at(2, discover({ macAddress: macOf(0) }));
    standby.at(2, discover({ macAddress: macOf(999) }));
    expect(standby.recent().filter((second) => second === 2)).toHaveLength(2);
  });

  it('are kept although the memory of the packet is reused', () => {
    const packets = Uint8Array.of(1);
    const standby = new StandbyGate({ nowMs: () => START_MS, leastWaitMs: () => 0, isInDoubt: () => false });
    standby.admit(discover(), packets);
    packets[0] = 9;
    expect(standby.takeRecent('a/p')).toEqual([Uint8Array.of(1)]);
  });
});

describe('messages that were left to others', () => {
  /** Without news from the API server, and asked twice. */
  function askedTwice(): Standby {
    const standby = new Standby();
    standby.leastWaitMs = 3_000;
    standby.at(0, discover());
    standby.at(1, discover());
    return standby;
  }

  it('come from clients that retransmit, once each', () => {
    const standby = new Standby();
    standby.leastWaitMs = 3_000;
    standby.at(0, discover());
    expect(standby.leftToOthers(), 'not yet').toEqual([]);
    standby.at(1, discover());
    expect(standby.leftToOthers('a/q')).toEqual([]);
    expect(standby.leftToOthers()).toEqual([1]);
    expect(standby.leftToOthers()).toEqual([]);
  });

  it('are answered when they are passed in again at once and others no longer go first', () => {
    const standby = askedTwice();
    expect(standby.leftToOthers()).toEqual([1]);
    standby.leastWaitMs = 0;
    expect(standby.at(1.005, discover())).toBe(true);
  });

  it('expire: after a second and a half the client must retransmit', () => {
    const standby = askedTwice();
    standby.leastWaitMs = 0;
    expect(standby.at(2.6, discover({ xid: 5 })), 'another question').toBe(false);
    standby.pass(2.7);
    expect(standby.leftToOthers()).toEqual([]);
  });

  it('are empty if a standby is silent for another reason', () => {
    const standby = new Standby();
    standby.doubt = true;
    standby.at(0, discover());
    standby.at(1, discover());
    expect(standby.leftToOthers()).toEqual([]);
    expect(standby.isUnanswered()).toBe(true);
  });

  it('are forgotten with time', () => {
    const standby = askedTwice();
    standby.forgetOld(2);
    standby.pass(1.5);
    expect(standby.leftToOthers()).toEqual([1]);
    const other = askedTwice();
    other.forgetOld(3);
    other.pass(1.5);
    expect(other.leftToOthers()).toEqual([]);
  });
});

describe('a client that is not answered', () => {
  it('has retransmitted a moment ago', () => {
    const standby = new Standby();
    standby.doubt = true;
    expect(standby.isUnanswered()).toBe(false);
    standby.at(0, discover());
    expect(standby.isUnanswered(), 'the first time').toBe(false);
    standby.at(1, discover());
    expect([standby.isUnanswered(), standby.isUnanswered('a/q')]).toEqual([true, false]);
    standby.pass(2.4);
    expect(standby.isUnanswered()).toBe(true);
    standby.pass(2.5);
    expect(standby.isUnanswered()).toBe(false);
  });

  it('is not one that was answered from here', () => {
    const standby = new Standby();
    standby.at(0, discover());
    standby.at(1, discover());
    expect(standby.isUnanswered()).toBe(false);
  });
});
