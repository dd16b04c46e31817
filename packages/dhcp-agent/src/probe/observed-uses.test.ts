/** Hosts that use addresses which are not assigned to them, as one network is heard. */
import { type Pool, parseIpv4Address, parseIpv4Cidr } from '@vmdhcp/dhcp-allocator';
import { beforeEach, expect, it } from 'vitest';
import type { AddressUse, HeardAddress } from '../ports.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { ObservedUses } from './observed-uses.js';

const [OWNER, STATIC, LIAR] = ['02:00:00:00:00:0a', '02:00:00:00:00:66', '02:00:00:00:00:77'];
const at = (text: string) => parseIpv4Address(text) as number;
const [OWNED, FREE, ROUTER] = [at('10.0.0.10'), at('10.0.0.50'), at('10.0.0.20')];
const POOL = {
  name: 'default/pool',
  cidr: parseIpv4Cidr('10.0.0.0/24'),
  range: { first: at('10.0.0.10'), last: at('10.0.0.200') },
  unavailable: [{ first: ROUTER, last: ROUTER }],
} as unknown as Pool;

let nowMs: number;
let heard: HeardAddress[];
let opened: string[];
let failure: Error | undefined;
let index: number;
/** By address: who answers. */
let answering: Map<number, string[]>;
let asked: number[];
let changes: number;
let owners: Map<number, string>;
let observer: RecordingObserver;
let uses: ObservedUses;

beforeEach(() => {
  nowMs = 1_000_000;
  [heard, opened, asked, changes, index, failure] = [[], [], [], 0, 7, undefined];
  answering = new Map();
  owners = new Map([[OWNED, OWNER]]);
  observer = new RecordingObserver();
  uses = new ObservedUses({
    observer,
    nowMs: () => nowMs,
    interfaceName: 'net0',
    interfaceIndex: () => index,
    listen: (lowest, highest) => {
      if (failure !== undefined) throw failure;
      opened.push(`${lowest}-${highest}`);
      return { heard: () => heard.splice(0), close: () => opened.pop() };
    },
    findUsers: async (_, { address, macAddress }): Promise<AddressUse> => {
      asked.push(address);
      const hosts = answering.get(address) ?? [];
      return { byClient: hosts.includes(macAddress), others: hosts.filter((host) => host !== macAddress) };
    },
    ownerOf: (_, address) => owners.get(address),
    onChange: () => changes++,
  });
});

async function hear(...packets: readonly (readonly [address: number, macAddress: string])[]): Promise<void> {
  heard.push(...packets.map(([address, macAddress]) => ({ address, macAddress })));
  await pass(1_000);
}
async function pass(ms: number): Promise<void> {
  nowMs += ms;
  uses.look(POOL);
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

it('a host with a fixed address that nobody has', async () => {
  answering.set(FREE, [STATIC]);
  await hear([FREE, STATIC]);
  expect([uses.uses(), changes]).toEqual([[{ address: FREE, usedBy: STATIC }], 1]);
  expect(observer.of('observed-use')).toEqual([
    { kind: 'observed-use', pool: 'default/pool', address: FREE, usedBy: STATIC, assignedTo: undefined },
  ]);
  await hear([FREE, STATIC]);
  expect([asked, changes], 'known').toEqual([[FREE], 1]);
});

it('a host with the address of another client', async () => {
  answering.set(OWNED, [OWNER, STATIC]);
  await hear([OWNED, STATIC]);
  expect(uses.uses()).toEqual([{ address: OWNED, usedBy: STATIC, assignedTo: OWNER }]);
});

it('clients with their own addresses, the router, and hosts that only claim to have an address are not reported', async () => {
  answering.set(OWNED, [OWNER]).set(ROUTER, [STATIC]);
  await hear([OWNED, OWNER], [ROUTER, STATIC]);
  expect(asked).toEqual([]);
  await hear([FREE, LIAR], [OWNED, LIAR]);
  expect([asked, uses.uses()]).toEqual([[FREE, OWNED], []]);
  await hear([FREE, LIAR]);
  expect(asked, 'asked once a minute').toHaveLength(2);
  await pass(60_000);
  await hear([FREE, LIAR]);
  expect(asked).toHaveLength(3);
});

it('is asked about again every ten minutes, and forgotten when nobody answers', async () => {
  answering.set(FREE, [STATIC]);
  await hear([FREE, STATIC]);
  await pass(599_000);
  expect(asked).toHaveLength(1);
  await pass(1_000);
  expect([asked.length, uses.uses().length]).toEqual([2, 1]);
  answering.clear();
  await pass(600_000);
  expect([uses.uses(), changes]).toEqual([[], 2]);
});

it('names the client that gets the address meanwhile', async () => {
  answering.set(FREE, [STATIC]);
  await hear([FREE, STATIC]);
  owners.set(FREE, OWNER);
  await pass(1_000);
  expect(uses.uses()).toEqual([{ address: FREE, usedBy: STATIC, assignedTo: OWNER }]);
});

it('an answer about an address that has changed hands meanwhile, or that comes when nobody listens, is ignored', async () => {
  answering.set(FREE, [STATIC]);
  heard.push({ address: FREE, macAddress: STATIC });
  uses.look(POOL);
  owners.set(FREE, STATIC);
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  expect([asked, uses.uses()]).toEqual([[FREE], []]);
  owners.delete(FREE);
  heard.push({ address: FREE, macAddress: STATIC });
  uses.look(POOL);
  uses.look(undefined);
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  expect([asked.length, uses.uses()]).toEqual([2, []]);
});

it('64 at most, four of each host, so that a hostile guest cannot fill the report alone', async () => {
  const addresses = Array.from({ length: 150 }, (_, offset) => at('10.0.0.21') + offset);
  for (const address of addresses) answering.set(address, [LIAR]);
  for (const address of addresses) await hear([address, LIAR]);
  expect(uses.uses()).toHaveLength(4);
  for (const [offset, address] of addresses.entries()) {
    const host = `02:00:00:00:01:${offset.toString(16).padStart(2, '0')}`;
    answering.set(address, [host]);
    await hear([address, host]);
  }
  expect(uses.uses()).toHaveLength(64);
});

it('eight questions at a time, whatever is heard', async () => {
  heard = Array.from({ length: 150 }, (_, offset) => ({ address: at('10.0.0.21') + offset, macAddress: `host-${offset}` }));
  nowMs += 1_000;
  uses.look(POOL);
  expect(asked).toHaveLength(8);
});

it('an agent that stops listening forgets, and closes its socket; it opens another one for another interface or range', async () => {
  answering.set(FREE, [STATIC]);
  await hear([FREE, STATIC]);
  index = 8;
  await pass(1_000);
  uses.look({ ...POOL, range: { first: OWNED, last: OWNED } });
  expect([opened, uses.uses().length]).toEqual([[`${OWNED}-${OWNED}`], 0]);
  uses.look(undefined);
  expect([opened, uses.uses()]).toEqual([[], []]);
});

it('a socket that cannot be opened is reported, and tried again after a minute', async () => {
  failure = new Error('EPERM');
  await pass(1_000);
  await pass(1_000);
  expect(observer.of('addresses-not-heard')).toHaveLength(1);
  failure = undefined;
  await pass(60_000);
  expect(opened).toHaveLength(1);
});

it('is over when a person excludes the address, as the remedy says', async () => {
  answering.set(FREE, [STATIC]);
  await hear([FREE, STATIC]);
  const excluding = { ...POOL, unavailable: [...POOL.unavailable, { first: FREE, last: FREE }] };
  for (let minute = 0; minute < 30; minute++) {
    nowMs += 60_000;
    uses.look(excluding);
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  }
  expect(uses.uses()).toEqual([]);
});

it('is over as soon as the address is assigned to the host: it is not reported as the user of an address of nobody', async () => {
  answering.set(FREE, [STATIC]);
  await hear([FREE, STATIC]);
  owners.set(FREE, STATIC);
  await pass(1_000);
  await pass(1_000);
  expect([uses.uses(), changes]).toEqual([[], 2]);
});

it('what comes in before the socket has its filter, or without it, is heard only if it is of the range', async () => {
  answering.set(at('10.0.0.3'), [STATIC]);
  await hear([at('10.0.0.3'), STATIC]);
  expect([asked, uses.uses()]).toEqual([[], []]);
});

it('is forgotten when nobody answers, even if a flood of others is heard', async () => {
  const host = '02:00:00:00:00:88';
  answering.set(FREE, [host]);
  await hear([FREE, host]);
  expect(uses.uses()).toHaveLength(1);
  answering.clear();
  let next = at('10.0.0.51');
  const wide = { ...POOL, range: { first: POOL.range.first, last: at('10.0.255.0') } };
  for (let second = 0; second < 1_300; second++) {
    heard.push(...Array.from({ length: 20 }, () => ({ address: next++, macAddress: LIAR })));
    nowMs += 1_000;
    uses.look(wide);
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  }
  expect(uses.uses()).toEqual([]);
});

it('two hosts with the same fixed address cost no more than one question a minute', async () => {
  const other = '02:00:00:00:00:67';
  answering.set(FREE, [STATIC, other]);
  for (let second = 0; second < 60; second++) await hear([FREE, STATIC], [FREE, other]);
  expect(asked.length).toBeLessThanOrEqual(2);
});

it('a host that answers with another MAC address each time does not have the report written every second', async () => {
  for (let second = 0; second < 60; second++) {
    const host = `02:00:00:00:02:${second.toString(16).padStart(2, '0')}`;
    answering.set(FREE, [host]);
    await hear([FREE, host]);
  }
  expect(changes).toBeLessThanOrEqual(3);
});
