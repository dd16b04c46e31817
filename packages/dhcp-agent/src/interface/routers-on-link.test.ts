import { parseIpv6Address } from '@vmdhcp/dhcp-allocator/address';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Ipv6Source } from '../ports.js';
import { RoutersOnLink } from './routers-on-link.js';

const MAC = '02:00:00:00:00:01' as Ipv6Source['macAddress'];
const DEFAULT = { isDefaultRouter: true, isManaged: true };

let clock: FakeClock;
let isAnswering: boolean;
let silent: string[];
let asked: number[];
let told: string[];
let routers: RoutersOnLink;

beforeEach(() => {
  clock = new FakeClock();
  [isAnswering, silent, asked, told] = [true, [], [], []];
  routers = new RoutersOnLink({
    clock,
    isAnswering: () => isAnswering,
    silentRouters: () => silent.map((text) => parseIpv6Address(text) ?? 0n),
    isClient: (macAddress) => macAddress.startsWith('02:00:00:00:48:'),
    solicit: () => asked.push(clock.nowMs() / 1_000),
    onChange: (found) => {
      const names = found?.map(
        (one) => ` ${one.address}${one.isDefaultRouter ? ' default' : ''}${one.isManaged ? ' managed' : ''}`,
      );
      told.push(`${clock.nowMs() / 1_000}:${names ?? ' unknown'}`);
    },
  });
});

/** Looks four times a second, as an interface does. */
async function pass(seconds: number): Promise<void> {
  for (let quarter = 0; quarter < 4 * seconds; quarter++) {
    routers.look();
    await clock.advance(250);
  }
}

function hear(address: string, heard = DEFAULT, macAddress: string = MAC): void {
  routers.note({ address: parseIpv6Address(address) ?? 0n, macAddress: macAddress as typeof MAC }, heard);
}

describe('the routers of a network', () => {
  it('are asked three times, and then every four minutes; without an answer there are none', async () => {
    await pass(500);
    expect(asked).toEqual([0, 4, 8, 248, 488]);
    expect(told).toEqual(['12:']);
  });

  it('are told when all had time to answer, in order, and not again while they say the same', async () => {
    hear('fe80::2');
    await pass(5);
    hear('fe80::1', { isDefaultRouter: true, isManaged: false });
    await pass(100);
    for (const address of ['fe80::2', 'fe80::1']) hear(address, { isDefaultRouter: true, isManaged: address === 'fe80::2' });
    await pass(100);
    expect(told).toEqual(['12: fe80::1 default, fe80::2 default managed']);
  });

  it('that come later are told at once, those that say something else too', async () => {
    await pass(60);
    hear('fe80::1');
    await pass(40);
    hear('fe80::1', { isDefaultRouter: false, isManaged: true });
    await pass(1);
    expect(told).toEqual(['12:', '60: fe80::1 default managed', '100: fe80::1 managed']);
  });

  it('that changes all the time is told ever more rarely, and at once again when it was quiet for twenty minutes', async () => {
    for (let second = 0; second < 2_600; second++) {
      hear('fe80::1', { isDefaultRouter: true, isManaged: second % 7 === 0 });
      await pass(1);
    }
    const atSeconds = told.map((one) => Number.parseFloat(one));
    const between = atSeconds.slice(1).map((second, index) => second - (atSeconds[index] ?? 0));
    // Up to seven seconds later it says something else.
    expect(between.map((seconds) => seconds - (seconds % 20))).toEqual([20, 40, 80, 160, 320, 600, 600, 600]);
    told = [];
    await pass(1_900);
    hear('fe80::2');
    await pass(1);
    hear('fe80::3');
    await pass(20);
    expect(told.slice(1)).toEqual(['4500: fe80::2 default managed', '4520: fe80::2 default managed, fe80::3 default managed']);
  });

  it('that has gone is forgotten after ten minutes', async () => {
    hear('fe80::1');
    await pass(619);
    expect(told).toEqual(['12: fe80::1 default managed']);
    await pass(3);
    expect(told.slice(1)).toEqual(['620.25:']);
  });

  it('are sixteen at most: clients of the pools, then those that were heard first', async () => {
    hear('fe80::ffff');
    for (let second = 0; second < 900; second++) {
      if (second % 100 === 0) {
        for (let number = 1; number <= 100; number++) hear(`fe80::${number}`, DEFAULT, `02:00:00:00:00:${second % 90}`);
        hear('fe80::ffff');
        hear('fe80::a', DEFAULT, '02:00:00:00:48:01');
      }
      await pass(1);
    }
    const names = told.at(-1)?.split(': ')[1]?.split(', ') ?? [];
    expect(names).toHaveLength(16);
    expect(names.filter((one) => /::(ffff|a) /.test(one))).toEqual(['fe80::a default managed', 'fe80::ffff default managed']);
  });

  it('are not asked while another agent answers, and anew afterwards; what was heard meanwhile is known', async () => {
    await pass(20);
    isAnswering = false;
    await pass(300);
    hear('fe80::1');
    isAnswering = true;
    await pass(20);
    expect(asked).toEqual([0, 4, 8, 320, 324, 328]);
    expect(told).toEqual(['12:', '20: unknown', '332: fe80::1 default managed']);
  });

  describe('that send no advertisements', () => {
    const ROUTER = { address: parseIpv6Address('fe80::1') ?? 0n, macAddress: MAC };
    const FORGED = { isDefaultRouter: true, isManaged: true };

    it('are known once they have answered; an advertisement in their name proves nothing', async () => {
      silent = ['fe80::1'];
      routers.note(ROUTER, FORGED);
      routers.noteAnswer({ ...ROUTER, address: 9n });
      await pass(20);
      routers.noteAnswer(ROUTER);
      await pass(20);
      expect(told).toEqual(['12:', '32: fe80::1 default managed']);
    });

    it('are asked at once when they are named, others are forgotten, and nothing is told before they could answer', async () => {
      await pass(60);
      silent = ['fe80::1'];
      await pass(1);
      routers.noteAnswer(ROUTER);
      await pass(39);
      silent = ['fe80::2'];
      await pass(60);
      expect(told).toEqual(['12:', '60: unknown', '72: fe80::1 default managed', '100: unknown', '112:']);
      expect(asked).toEqual([0, 4, 8, 60, 64, 68, 100, 104, 108]);
    });

    it('advertise nevertheless that addresses do not come by DHCPv6: that is told, and forgotten', async () => {
      silent = ['fe80::1'];
      await pass(1);
      routers.noteAnswer(ROUTER);
      routers.note(ROUTER, { isDefaultRouter: true, isManaged: false });
      for (let minute = 0; minute < 15; minute++) {
        routers.noteAnswer(ROUTER);
        await pass(60);
      }
      expect(told).toEqual(['12: fe80::1 default', '661: fe80::1 default managed']);
    });
  });
});
