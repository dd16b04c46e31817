import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Ipv6Source } from '../ports.js';
import { RouterAdvertiser } from './router-advertiser.js';

const HOST: Ipv6Source = { address: 1n, macAddress: '02:00:00:00:00:0a' as Ipv6Source['macAddress'] };

let clock: FakeClock;
let random: number;
let [mayAdvertise, helpsAt]: [boolean, number | undefined] = [true, undefined];
let message: Uint8Array | undefined;
let routers: readonly bigint[];
let sent: string[];
let advertiser: RouterAdvertiser;

beforeEach(() => {
  clock = new FakeClock();
  [random, mayAdvertise, helpsAt, message, routers, sent] = [0, true, undefined, Uint8Array.of(1), [], []];
  advertiser = new RouterAdvertiser({
    clock,
    random: () => random,
    advertisement: () => message && { message, routers },
    mayAdvertise: () => mayAdvertise,
    helpsAtQuestion: () => helpsAt,
    send: (_, to) => sent.push(`${clock.nowMs()} ${to?.macAddress ?? 'all'}`),
  });
});

/** Looks four times a second, as an interface does. */
async function pass(seconds: number): Promise<void> {
  for (let quarter = 0; quarter < 4 * seconds; quarter++) {
    advertiser.look();
    await clock.advance(250);
  }
}

describe('RFC 4861 §6.2.4: advertisements to all hosts', () => {
  it.each([
    ['after the shortest interval', 0, ['0 all', '16000 all', '32000 all', '232000 all', '432000 all', '632000 all']],
    ['after the longest interval', 0.999_999, ['0 all', '16000 all', '32000 all', '632000 all']],
  ])('three come closely at first, and then one %s', async (_, part, expected) => {
    random = part;
    await pass(640);
    expect(sent).toEqual(expected);
  });

  it('a message that changes is sent soon, and three times closely; one with the same content is not', async () => {
    await pass(40);
    sent = [];
    message = Uint8Array.of(1);
    await pass(60);
    expect(sent).toEqual([]);
    message = Uint8Array.of(2);
    await pass(40);
    expect(sent).toEqual(['100000 all', '116000 all', '132000 all']);
    sent = [];
    routers = [1n];
    await pass(40);
    expect(sent, 'in the name of another router').toEqual(['140000 all', '156000 all', '172000 all']);
    sent = [];
    for (let changes = 0; changes < 40; changes++) {
      message = Uint8Array.of(changes);
      await pass(0.25);
    }
    expect(sent, 'one every three seconds at most').toHaveLength(4);
    message = undefined;
    await pass(40);
    expect(sent, 'nothing to advertise').toHaveLength(4);
  });

  it('none is sent while another agent answers, and three come closely again afterwards', async () => {
    await pass(40);
    mayAdvertise = false;
    sent = [];
    await pass(300);
    expect(sent).toEqual([]);
    mayAdvertise = true;
    await pass(40);
    expect(sent).toEqual(['340000 all', '356000 all', '372000 all']);
  });
});

describe('RFC 4861 §6.2.6: an answer to a host', () => {
  it('goes to that host alone, half a second later at most', async () => {
    await pass(40);
    [random, sent] = [0.5, []];
    advertiser.answer(HOST);
    await clock.advance(249);
    expect(sent).toEqual([]);
    await clock.advance(1);
    expect(sent).toEqual(['40250 02:00:00:00:00:0a']);
  });

  it('goes to all if the host has no address yet, and never more often than every three seconds', async () => {
    await pass(40);
    sent = [];
    advertiser.answer(undefined);
    await pass(1);
    advertiser.answer(undefined);
    await pass(5);
    expect(sent).toEqual(['40000 all', '43000 all']);
  });

  it('is not sent by an agent that does not answer, also not later', async () => {
    mayAdvertise = false;
    advertiser.answer(HOST);
    advertiser.answer(undefined);
    await pass(2);
    mayAdvertise = true;
    random = 0.5;
    advertiser.answer(HOST);
    mayAdvertise = false;
    await clock.advance(1_000);
    expect(sent).toEqual([]);
  });

  it('costs a bounded number of packets when one host asks all the time, and the others get one all the same', async () => {
    await pass(40);
    sent = [];
    for (let asked = 0; asked < 10_000; asked++) advertiser.answer(HOST);
    await pass(1);
    expect(sent.filter((one) => one.endsWith('0a'))).toHaveLength(50);
    expect(sent.filter((one) => one.endsWith('all'))).toEqual(['40000 all']);
  });

  it('takes no timer for each question beyond its budget, and none where nothing is advertised', async () => {
    await pass(40);
    random = 0.5;
    for (let asked = 0; asked < 10_000; asked++) advertiser.answer(HOST);
    expect(clock.pending).toBe(51);
    await pass(1);
    message = undefined;
    for (let asked = 0; asked < 10_000; asked++) advertiser.answer(HOST);
    expect(clock.pending).toBe(0);
  });
});

describe('a standby', () => {
  const answered = async (
    afterMs: number,
    { source }: { source: Ipv6Source | undefined } = { source: HOST },
  ): Promise<number> => {
    sent = [];
    await clock.advance(afterMs);
    advertiser.answer(source);
    await clock.advance(500);
    return sent.length;
  };

  beforeEach(() => {
    [mayAdvertise, helpsAt] = [false, 2];
  });

  it('answers a host that asks again after some seconds, and no other', async () => {
    expect(await answered(0), 'the first question').toBe(0);
    expect(await answered(2_000), 'too soon').toBe(0);
    expect(await answered(3_500)).toBe(1);
    expect(await answered(100_000), 'a new attempt').toBe(0);
    const another = { ...HOST, macAddress: '02:00:00:00:00:0b' as Ipv6Source['macAddress'] };
    expect(await answered(3_500, { source: another }), 'another host').toBe(0);
    for (let times = 0; times < 2; times++)
      expect(await answered(3_500, { source: undefined }), 'a host without an address').toBe(0);
    expect(await answered(3_500)).toBe(1);
    helpsAt = 4;
    expect(await answered(3_500), 'the third question of a host').toBe(0);
    expect(await answered(3_500), 'the fourth').toBe(1);
    helpsAt = undefined;
    expect(await answered(3_500), 'of a pool that it may not serve').toBe(0);
  });

  it('sends nothing to all hosts, and to one no more than its budget', async () => {
    await pass(700);
    expect(sent).toEqual([]);
    const hosts = Array.from({ length: 500 }, (_, index) => ({
      ...HOST,
      macAddress: `host ${index}` as Ipv6Source['macAddress'],
    }));
    for (const host of hosts) advertiser.answer(host);
    await clock.advance(4_000);
    for (const host of hosts) advertiser.answer(host);
    await pass(1);
    expect(sent).toHaveLength(50);
    expect(sent.filter((one) => one.endsWith('all'))).toEqual([]);
  });
});
