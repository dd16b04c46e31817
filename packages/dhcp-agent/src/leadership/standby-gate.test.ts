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
import { encodeClientPacket } from '../probe/client-packet.js';
import { StandbyGate } from './standby-gate.js';

const MAC = '02:00:00:00:00:01';
const checked = validatePool({
  name: 'a/p',
  cidr: '10.0.0.0/24',
  serverAddress: '10.0.0.1',
  start: '10.0.0.10',
  end: '10.0.0.20',
});
if (!checked.ok) throw new Error('the pool is wrong');
const pools = [new ServedPool(checked.value)];
const ADDRESS = parseIpv4Address('10.0.0.10') as number;
const lease: Lease = { poolName: 'a/p', macAddress: MAC, address: ADDRESS };

interface Fields {
  readonly xid?: number;
  readonly secs?: number;
  readonly giaddr?: string;
  readonly requested?: string;
}

function packet(type: 'discover' | 'request', { xid = 1, secs = 0, giaddr = '0.0.0.0', requested }: Fields): Answer {
  const bytes = encodeClientPacket({
    type,
    macAddress: MAC,
    xid,
    secs,
    relayAddress: parseIpv4Address(giaddr) as number,
    options: requested === undefined ? [] : [encodeOption('requestedAddress', parseIpv4Address(requested) as number)],
  });
  return answerPacket(bytes, { pools, leaseOf: () => lease });
}

const discover = (fields: Fields = {}) => packet('discover', fields);
const request = (fields: Fields = {}) => packet('request', { requested: '10.0.0.10', ...fields });

class Standby {
  nowMs = 0;
  leastWaitMs = 0;
  doubt = false;
  readonly #gate = new StandbyGate({
    nowMs: () => this.nowMs,
    leastWaitMs: () => this.leastWaitMs,
    isInDoubt: () => this.doubt,
  });

  at(seconds: number, answer: Answer): boolean {
    this.nowMs = seconds * 1000;
    return this.#gate.admit(answer, Uint8Array.of(seconds));
  }

  /** When the questions came that are to be answered now. */
  recent(): number[] {
    return this.#gate.takeRecent('a/p').map(([seconds = 0]) => seconds);
  }
}

describe('a standby', () => {
  it('is silent the first time, and answers who asks the same again', () => {
    const standby = new Standby();
    expect(standby.at(0, discover())).toBe(false);
    expect(standby.at(3, discover())).toBe(true);
    expect(standby.at(3.1, request({ xid: 1 }))).toBe(true);
  });

  it('helps a client through one exchange, not for ever', () => {
    const standby = new Standby();
    standby.at(0, discover({ xid: 1 }));
    expect(standby.at(3, discover({ xid: 1 }))).toBe(true);
    expect([4, 7, 10].map((second) => standby.at(second, request({ xid: second })))).toEqual([true, true, true]);
    expect([14, 17].map((second) => standby.at(second, request({ xid: second })))).toEqual([false, false]);
  });

  it('knows a client by growing seconds too, whatever its transaction', () => {
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

  it('never refuses, and never answers a relay', () => {
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

  it('without an API server lets those go first who have one', () => {
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
    standby.nowMs = 22_000;
    expect(standby.recent(), 'its client asks again').toEqual([]);
  });

  it('in doubt it is silent, for as long as it is', () => {
    const standby = new Standby();
    standby.doubt = true;
    expect([0, 3, 6].map((second) => standby.at(second, discover()))).toEqual([false, false, false]);
    standby.doubt = false;
    expect(standby.at(9, discover())).toBe(true);
  });
});
