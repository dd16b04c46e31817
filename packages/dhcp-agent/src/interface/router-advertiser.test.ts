import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Ipv6Source } from '../ports.js';
import { RouterAdvertiser } from './router-advertiser.js';

const HOST: Ipv6Source = { address: 1n, macAddress: '02:00:00:00:00:0a' as Ipv6Source['macAddress'] };

let clock: FakeClock;
let random: number;
let mayAdvertise: boolean;
let sent: string[];
let advertiser: RouterAdvertiser;

beforeEach(() => {
  clock = new FakeClock();
  [random, mayAdvertise, sent] = [0, true, []];
  advertiser = new RouterAdvertiser({
    clock,
    random: () => random,
    mayAdvertise: () => mayAdvertise,
    send: (to) => sent.push(`${clock.nowMs()} ${to?.macAddress ?? 'all'}`),
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
});
