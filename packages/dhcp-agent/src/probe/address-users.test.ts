import { describe, expect, it } from 'vitest';
import type { AddressQuestion, AddressUse } from '../ports.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { AddressUsers } from './address-users.js';

const SQUATTER = '02:00:00:00:00:66';
const LIAR = '02:00:00:00:00:77';
const LEASE = { poolName: 'net', macAddress: '02:00:00:00:00:0a', address: 10 };
const DECOYS = [201, 202, 203];
const HOUR_MS = 3_600_000;

/** @param answersFor - the addresses that each host answers for; undefined for all. */
function setUp(answersFor: Record<string, readonly number[] | undefined>, decoys: readonly number[] = DECOYS) {
  const observer = new RecordingObserver();
  const lines = observer.events;
  const clock = { nowMs: 1_000 };
  const asked: number[] = [];
  const probe = async (_interfaceName: string, { address, macAddress }: AddressQuestion): Promise<AddressUse> => {
    asked.push(address);
    const hosts = Object.entries(answersFor).filter(([, addresses]) => addresses?.includes(address) ?? true);
    const answering = hosts.map(([host]) => host);
    return { byClient: answering.includes(macAddress), others: answering.filter((host) => host !== macAddress) };
  };
  const addressUsers = new AddressUsers({ observer, nowMs: () => clock.nowMs, decoysOf: () => decoys, probe });
  return { addressUsers, asked, lines, clock, answersFor };
}

describe('which hosts use an address', () => {
  it('none, or the client itself: no further probes', async () => {
    const { addressUsers, asked } = setUp({ [LEASE.macAddress]: [11] });
    expect(await addressUsers.findUsers('eth1', LEASE)).toEqual({ byClient: false, others: [] });
    expect(await addressUsers.findUsers('eth1', { ...LEASE, address: 11 })).toEqual({ byClient: true, others: [] });
    expect(asked).toEqual([10, 11]);
  });

  it('believes a host that answers only for its own addresses', async () => {
    const { addressUsers, lines } = setUp({ [SQUATTER]: [10, 201, 202] });
    expect(await addressUsers.findUsers('eth1', LEASE)).toEqual({ byClient: false, others: [SQUATTER] });
    expect(lines).toEqual([]);
  });

  it('does not believe a host that answers for every address, for an hour, and reports it', async () => {
    const { addressUsers, asked, lines, clock } = setUp({ [LIAR]: undefined, [SQUATTER]: [12] });
    expect(await addressUsers.findUsers('eth1', LEASE)).toEqual({ byClient: false, others: [] });
    expect(lines).toMatchObject([
      { kind: 'answers-for-every-address', interfaceName: 'eth1', macAddress: LIAR, addresses: DECOYS },
    ]);
    expect(asked).toEqual([10, ...DECOYS]);
    expect(await addressUsers.findUsers('eth1', { ...LEASE, address: 11 })).toEqual({ byClient: false, others: [] });
    expect(asked).toEqual([10, ...DECOYS, 11]);
    // Another host's conflict is still seen.
    expect(await addressUsers.findUsers('eth1', { ...LEASE, address: 12 })).toEqual({ byClient: false, others: [SQUATTER] });
    clock.nowMs += HOUR_MS;
    await addressUsers.findUsers('eth1', LEASE);
    expect(lines).toHaveLength(2);
  });

  it('a thousand simultaneous probes that it answers cost only three more', async () => {
    const { addressUsers, asked, lines } = setUp({ [LIAR]: undefined });
    const uses = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) => addressUsers.findUsers('eth1', { ...LEASE, address: 1_000 + index })),
    );
    expect(uses.every(({ others }) => others.length === 0)).toBe(true);
    expect(asked).toHaveLength(1_003);
    expect(lines).toHaveLength(1);
  });

  it('if one decoy is left, a host that answers for it is not believed, and another is', async () => {
    const { addressUsers, asked } = setUp({ [LIAR]: undefined, [SQUATTER]: [10] }, [201]);
    expect(await addressUsers.findUsers('eth1', LEASE)).toEqual({ byClient: false, others: [SQUATTER] });
    expect(asked).toEqual([10, 201]);
  });

  it('if there are no decoys, every host is believed', async () => {
    const { addressUsers, lines } = setUp({ [LIAR]: undefined }, []);
    expect(await addressUsers.findUsers('eth1', LEASE)).toEqual({ byClient: false, others: [LIAR] });
    expect(lines).toEqual([]);
  });

  it('a host that is not believed on one interface is believed on another', async () => {
    const { addressUsers, asked } = setUp({ [LIAR]: undefined });
    await addressUsers.findUsers('eth1', LEASE);
    await addressUsers.findUsers('eth2', LEASE);
    expect(asked).toEqual([10, ...DECOYS, 10, ...DECOYS]);
  });

  const hosts = (count: number) =>
    Array.from(
      { length: count },
      (_, number) => `02:00:00:01:${(number >> 8).toString(16).padStart(2, '0')}:${(number & 255).toString(16).padStart(2, '0')}`,
    );
  const liars = (names: readonly string[]) => Object.fromEntries(names.map((host) => [host, undefined]));

  it.each([
    [1_000, 0],
    [1_001, 1],
  ])(
    'with %d hosts that answer for every address, the oldest %d are believed again: memory is limited',
    async (count, believed) => {
      const names = hosts(count);
      const { addressUsers, lines } = setUp(liars(names));
      const { others } = await addressUsers.findUsers('eth1', LEASE);
      expect(others).toEqual(names.slice(0, believed));
      expect(lines).toHaveLength(count);
    },
  );

  it('a host that again answers for every address after an hour is no longer the oldest', async () => {
    const [first = '', second = '', ...rest] = hosts(1_001);
    const { addressUsers, clock, answersFor, lines } = setUp(liars([first, second]));
    await addressUsers.findUsers('eth1', LEASE);
    clock.nowMs += HOUR_MS;
    delete answersFor[second];
    await addressUsers.findUsers('eth1', LEASE);
    // The second one makes room for the last of these.
    Object.assign(answersFor, liars(rest));
    await addressUsers.findUsers('eth1', LEASE);
    lines.length = 0;
    expect((await addressUsers.findUsers('eth1', LEASE)).others).toEqual([]);
    expect(lines).toEqual([]);
  });

  it('a host that stops answering for every address is believed after an hour', async () => {
    const { addressUsers, clock, answersFor } = setUp({ [LIAR]: undefined });
    await addressUsers.findUsers('eth1', LEASE);
    answersFor[LIAR] = [10];
    clock.nowMs += HOUR_MS - 1;
    expect((await addressUsers.findUsers('eth1', LEASE)).others).toEqual([]);
    clock.nowMs += 1;
    expect((await addressUsers.findUsers('eth1', LEASE)).others).toEqual([LIAR]);
  });
});
