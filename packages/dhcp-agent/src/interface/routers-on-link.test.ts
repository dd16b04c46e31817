import { parseIpv6Address } from '@vmdhcp/dhcp-allocator/address';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Ipv6Source } from '../ports.js';
import { RoutersOnLink } from './routers-on-link.js';

const MAC = '02:00:00:00:00:01' as Ipv6Source['macAddress'];
const DEFAULT = { isDefaultRouter: true, isManaged: true };

let clock: FakeClock;
let isAnswering: boolean;
let asked: number[];
let told: string[];
let routers: RoutersOnLink;

beforeEach(() => {
  clock = new FakeClock();
  [isAnswering, asked, told] = [true, [], []];
  routers = new RoutersOnLink({
    clock,
    isAnswering: () => isAnswering,
    solicit: () => asked.push(clock.nowMs() / 1_000),
    onChange: (found) =>
      told.push(
        `${clock.nowMs() / 1_000}:${found.map((one) => ` ${one.address}${one.isDefaultRouter ? ' default' : ''}${one.isManaged ? ' managed' : ''}`)}`,
      ),
  });
});

/** Looks four times a second, as an interface does. */
async function pass(seconds: number): Promise<void> {
  for (let quarter = 0; quarter < 4 * seconds; quarter++) {
    routers.look();
    await clock.advance(250);
  }
}

function hear(address: string, heard = DEFAULT): void {
  routers.note({ address: parseIpv6Address(address) ?? 0n, macAddress: MAC }, heard);
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
    await pass(30);
    hear('fe80::1', { isDefaultRouter: false, isManaged: true });
    await pass(1);
    expect(told).toEqual(['12:', '60: fe80::1 default managed', '90: fe80::1 managed']);
  });

  it('that changes with each message is told every 20 seconds', async () => {
    for (let second = 0; second < 60; second++) {
      hear('fe80::1', { isDefaultRouter: true, isManaged: second % 3 === 0 });
      await pass(1);
    }
    expect(told.map((one) => one.split(':')[0])).toEqual(['12', '32', '54']);
  });

  it('that has gone is forgotten after ten minutes', async () => {
    hear('fe80::1');
    await pass(619);
    expect(told).toEqual(['12: fe80::1 default managed']);
    await pass(3);
    expect(told.slice(1)).toEqual(['620.25:']);
  });

  it('are eight at most', async () => {
    for (let number = 1; number <= 20; number++) hear(`fe80::${number}`);
    await pass(13);
    expect(told[0]?.split(',')).toHaveLength(8);
  });

  it('are not asked while another agent answers, and anew afterwards; what was heard meanwhile is known', async () => {
    await pass(20);
    isAnswering = false;
    await pass(300);
    hear('fe80::1');
    isAnswering = true;
    await pass(20);
    expect(asked).toEqual([0, 4, 8, 320, 324, 328]);
    expect(told).toEqual(['12:', '332: fe80::1 default managed']);
  });
});
