import { beforeEach, describe, expect, it } from 'vitest';
import type { FoundServer } from '../ports.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { RogueServers } from './rogue-servers.js';

const one: FoundServer = { address: '10.0.0.66', macAddress: '02:00:00:00:00:66' };
const other: FoundServer = { address: '10.0.0.55', macAddress: '02:00:00:00:00:55' };
const MINUTE_MS = 60_000;

let nowMs: number;
let random: number;
let found: readonly FoundServer[] | Error;
let probed: string[];
let changes: number;
let observer: RecordingObserver;
let servers: RogueServers;

beforeEach(() => {
  nowMs = 1_000;
  random = 0.5;
  found = [];
  probed = [];
  changes = 0;
  observer = new RecordingObserver();
  servers = new RogueServers({
    observer,
    nowMs: () => nowMs,
    random: () => random,
    probe: async (interfaceName) => {
      probed.push(interfaceName);
      if (found instanceof Error) throw found;
      return found;
    },
    onChange: () => changes++,
  });
});

async function lookAt(ms: number, ...names: string[]): Promise<number> {
  nowMs = ms;
  const before = probed.length;
  await servers.look(names);
  return probed.length - before;
}

describe('the search for other DHCP servers', () => {
  it('knows nothing before the first search', () => {
    expect(servers.on('net0')).toBeUndefined();
  });

  it('that finds none is reported as a change but not as an event', async () => {
    await lookAt(1_000, 'net0');
    expect([servers.on('net0'), changes, observer.events]).toEqual([[], 1, []]);
  });

  it('reports the servers that it finds, in order of their addresses', async () => {
    found = [one, other];
    await lookAt(1_000, 'net0');
    expect(servers.on('net0')).toEqual([other, one]);
    expect(observer.events).toEqual([{ kind: 'rogue-servers', interfaceName: 'net0', servers: [other, one] }]);
    expect(changes).toBe(1);
  });

  it.each([
    ['in any order', [3, 1, 2]],
    ['in the order of their addresses', [1, 2, 3]],
    ['in the opposite order', [3, 2, 1]],
  ])('three that answer %s are named in the order of their addresses', async (_, order) => {
    found = order.map((number) => ({ ...one, address: `10.0.0.10${number}` }));
    await lookAt(1_000, 'net0');
    expect(servers.on('net0')?.map(({ address }) => address)).toEqual(['10.0.0.101', '10.0.0.102', '10.0.0.103']);
  });

  it('reports two hosts with one address once, whichever of them answers first', async () => {
    const twin = { ...one, macAddress: '02:00:00:00:00:67' };
    found = [one, twin];
    await lookAt(1_000, 'net0');
    found = [twin, one];
    await lookAt(21_000, 'net0');
    expect([observer.kinds(), changes]).toEqual([['rogue-servers'], 1]);
    expect(servers.on('net0')).toEqual([one, twin]);
  });

  it('searches each interface in turn', async () => {
    expect(await lookAt(1_000, 'net0', 'net1')).toBe(2);
    expect(probed).toEqual(['net0', 'net1']);
  });

  it('is repeated after four minutes if there was none, forever', async () => {
    expect(await lookAt(1_000, 'net0')).toBe(1);
    expect(await lookAt(1_000 + 4 * MINUTE_MS - 1, 'net0')).toBe(0);
    for (let round = 1; round <= 5; round++) expect(await lookAt(1_000 + round * 4 * MINUTE_MS, 'net0')).toBe(1);
  });

  it('is repeated after twenty seconds if there was one', async () => {
    found = [one];
    await lookAt(1_000, 'net0');
    expect(await lookAt(20_999, 'net0')).toBe(0);
    expect(await lookAt(21_000, 'net0')).toBe(1);
    expect(observer.events).toHaveLength(1);
  });

  it.each([
    [0, 216_000],
    [0.999_999, 264_000],
  ])('times are spread by a tenth: %d', async (drawn, ms) => {
    random = drawn;
    await lookAt(0, 'net0');
    expect(await lookAt(ms - 100, 'net0')).toBe(0);
    expect(await lookAt(ms + 100, 'net0')).toBe(1);
  });

  it('reports when one is gone', async () => {
    found = [one];
    await lookAt(1_000, 'net0');
    found = [];
    await lookAt(21_000, 'net0');
    expect(observer.kinds()).toEqual(['rogue-servers', 'no-rogue-servers']);
    expect([servers.on('net0'), changes]).toEqual([[], 2]);
  });

  it('reports another one', async () => {
    found = [one];
    await lookAt(1_000, 'net0');
    found = [one, other];
    await lookAt(21_000, 'net0');
    expect(observer.of('rogue-servers').map(({ servers: list }) => list.length)).toEqual([1, 2]);
  });

  it('that fails keeps the former result, and is repeated after twenty seconds', async () => {
    found = [one];
    await lookAt(1_000, 'net0');
    found = new Error('EPERM');
    await lookAt(21_000, 'net0');
    expect(servers.on('net0')).toEqual([one]);
    expect(observer.of('servers-not-probed')).toMatchObject([{ interfaceName: 'net0', error: new Error('EPERM') }]);
    expect(await lookAt(41_000, 'net0')).toBe(1);
    expect(changes).toBe(1);
  });

  it('that fails at first knows nothing', async () => {
    found = new Error('EPERM');
    await lookAt(1_000, 'net0');
    expect([servers.on('net0'), changes]).toEqual([undefined, 0]);
  });

  it('keeps eight: a host can pretend to be any number', async () => {
    found = Array.from({ length: 100 }, (_, index) => ({ ...one, address: `10.0.0.${100 + index}` }));
    await lookAt(1_000, 'net0');
    expect(servers.on('net0')).toHaveLength(8);
  });

  it('does not begin while another one is running', async () => {
    const first = servers.look(['net0']);
    await servers.look(['net0', 'net1']);
    await first;
    expect(probed).toEqual(['net0']);
    expect(await lookAt(1_000, 'net1')).toBe(1);
  });
});

describe('what another leader found', () => {
  it('is newer than what was found here', async () => {
    servers.adopt('net0', [one]);
    expect(servers.on('net0')).toEqual([one]);
    await lookAt(1_000, 'net0');
    expect(servers.on('net0')).toEqual([]);
    servers.adopt('net0', [other]);
    expect(servers.on('net0')).toEqual([other]);
  });

  it('is checked at once by a replica that becomes leader', async () => {
    servers.adopt('net0', [one]);
    expect(await lookAt(1_000, 'net0')).toBe(1);
    expect(servers.on('net0')).toEqual([]);
    expect(observer.kinds()).toEqual(['no-rogue-servers']);
  });
});
