import { formatIpv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { DhcpServer } from '../server/dhcp-server.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { FollowedPools } from './followed-pools.js';

const KEY = 'default/net';
const [A, B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];
const address = (text: string) => parseIpv4Address(text) as number;
const HOUR_MS = 3_600_000;

class Story {
  readonly clock = new FakeClock();
  readonly objects = new MemoryResource<KubernetesObject>(this.clock);
  readonly observer = new RecordingObserver();
  readonly fresh: string[] = [];
  readonly names = new Map<string, readonly string[]>();
  wantedNames: readonly string[] = [];
  onNames: () => void = () => undefined;
  changes = 0;
  /** Server addresses that the pod needs, and for what. */
  readonly needed = new Map<number, string>();
  readonly server: DhcpServer;
  #generation = 0;
  readonly pools: FollowedPools;

  constructor() {
    const { clock } = this;
    const { observer } = this;
    this.server = new DhcpServer({
      observer,
      nowMs: clock.nowMs,
      findUsers: () => Promise.resolve({ byClient: false, others: [] }),
      onDeclined: () => undefined,
      onBindingChanged: () => undefined,
    });
    const config = { interfaceName: 'net1', serverIP: '', cidr: '', ipPoolName: KEY, ipPoolRef: KEY, nadName: '' };
    this.pools = new FollowedPools([config], {
      server: this.server,
      observer,
      clock,
      random: () => 0,
      poolSource: () => this.objects,
      ntpNames: (onChange) => {
        this.onNames = onChange;
        return {
          known: this.names,
          want: (names) => {
            this.wantedNames = [...names];
          },
          stop: () => {
            this.wantedNames = ['stopped'];
          },
        };
      },
      neededFor: (serverAddress) => this.needed.get(serverAddress),
      onChange: () => this.changes++,
      onFresh: (_, leases) => this.fresh.push(...leases.map(({ macAddress }) => macAddress)),
    });
  }

  async record(
    allocated: Readonly<Record<string, string>>,
    spec: Readonly<Record<string, unknown>> = {},
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    this.objects.put({
      apiVersion: 'network.harvesterhci.io/v1alpha1',
      kind: 'IPPool',
      metadata: { namespace: 'default', name: 'net', uid: 'u', generation: ++this.#generation, annotations },
      spec: {
        networkName: KEY,
        ipv4Config: { cidr: '10.0.0.0/24', serverIP: '10.0.0.2', pool: { start: '10.0.0.10', end: '10.0.0.99' } },
        ...spec,
      },
      status: { ipv4: { allocated, used: 0, available: 0 } },
    });
    await this.clock.advance(100);
  }

  /** MAC address to address, as it is served. */
  served(): Record<string, string> {
    return Object.fromEntries([...this.server.leases()].map((lease) => [lease.macAddress, formatIpv4Address(lease.address)]));
  }
}

describe('pools that are followed', () => {
  it('one whose server address the pod needs itself is not served, as long as it does', async () => {
    const story = new Story();
    await story.record({ '10.0.0.10': A });
    story.needed.set(address('10.0.0.2'), 'the API server');
    story.pools.start();
    await story.clock.advance(100);
    expect(story.pools.get(KEY)).toMatchObject({ kind: 'unserved', reason: 'ServerAddressRefused' });
    expect(story.served()).toEqual({});
    story.needed.clear();
    story.pools.checkServerAddresses();
    expect(story.served()).toEqual({ [A]: '10.0.0.10' });
    story.needed.set(address('10.0.0.2'), 'a gateway of the pod');
    story.pools.checkServerAddresses();
    expect(story.pools.get(KEY)).toMatchObject({
      kind: 'unserved',
      message: expect.stringContaining('10.0.0.2 is that of a gateway'),
    });
    expect(story.served()).toEqual({});
  });

  it('one of which the API server has sent nothing yet is not served, for that reason', async () => {
    const story = new Story();
    await story.record({ '10.0.0.10': A });
    expect(story.pools.get(KEY)).toMatchObject({ kind: 'unserved', reason: 'NotListed' });
    expect(story.pools.unsynced()).toEqual([KEY]);
    story.pools.start();
    await story.clock.advance(100);
    expect(story.pools.get(KEY)).toMatchObject({ kind: 'active' });
    expect(story.pools.unsynced()).toEqual([]);
  });

  it('a client in conflict is silent until it has another address', async () => {
    const story = new Story();
    await story.record({ '10.0.0.10': A, '10.0.0.11': B });
    story.pools.start();
    await story.clock.advance(100);
    expect(story.served()).toEqual({ [A]: '10.0.0.10', [B]: '10.0.0.11' });
    story.pools.noteConflict(KEY, { address: address('10.0.0.10'), macAddress: A, usedBy: '02:00:00:00:00:99' });
    expect(story.served()).toEqual({ [B]: '10.0.0.11' });
    expect(story.pools.conflictsOf(KEY)).toHaveLength(1);
    await story.record({ '10.0.0.12': A, '10.0.0.11': B });
    expect(story.served()).toEqual({ [A]: '10.0.0.12', [B]: '10.0.0.11' });
    expect(story.pools.conflictsOf(KEY)).toEqual([]);
  });

  it('a conflict is believed for an hour, also in a pool where nothing else happens', async () => {
    const story = new Story();
    await story.record({ '10.0.0.10': A });
    story.pools.start();
    await story.clock.advance(100);
    story.pools.noteConflict(KEY, { address: address('10.0.0.10'), macAddress: A });
    await story.clock.advance(HOUR_MS - 1_000);
    story.pools.expireConflicts();
    expect(story.served()).toEqual({});
    await story.clock.advance(2_000);
    story.pools.expireConflicts();
    expect(story.served()).toEqual({ [A]: '10.0.0.10' });
  });

  it('what was there at first is not new; what comes or moves is', async () => {
    const story = new Story();
    await story.record({ '10.0.0.10': A });
    story.pools.start();
    await story.clock.advance(100);
    expect(story.fresh).toEqual([]);
    await story.record({ '10.0.0.10': A, '10.0.0.11': B });
    expect(story.fresh.splice(0)).toEqual([B]);
    await story.record({ '10.0.0.12': A, '10.0.0.11': B });
    expect(story.fresh.splice(0)).toEqual([A]);
    await story.record({ '10.0.0.12': A, '10.0.0.13': B }, { conflictProbe: 'Disabled' });
    expect(story.fresh).toEqual([]);
  });

  it('a pool that is paused or gone is served no more', async () => {
    const story = new Story();
    await story.record({ '10.0.0.10': A });
    story.pools.start();
    await story.clock.advance(100);
    await story.record({ '10.0.0.10': A }, { paused: true });
    expect([story.pools.get(KEY).kind, story.served()]).toEqual(['paused', {}]);
    await story.record({ '10.0.0.10': A });
    expect(story.served()).toEqual({ [A]: '10.0.0.10' });
    story.objects.remove(KEY);
    await story.clock.advance(100);
    expect([story.pools.get(KEY).kind, story.served()]).toEqual(['unserved', {}]);
  });
});

const NTP = {
  ipv4Config: {
    cidr: '10.0.0.0/24',
    serverIP: '10.0.0.2',
    pool: { start: '10.0.0.10', end: '10.0.0.99' },
    ntp: ['ntp.example.org', '10.0.0.7'],
  },
};

describe('what a followed pool tells', () => {
  const start = async (spec: Readonly<Record<string, unknown>> = {}, annotations: Readonly<Record<string, string>> = {}) => {
    const story = new Story();
    await story.record({ '10.0.0.10': A }, spec, annotations);
    story.pools.start();
    await story.clock.advance(100);
    return story;
  };

  it('is unserved and unsynced until it was listed', async () => {
    const story = new Story();
    expect(story.pools.get(KEY)).toMatchObject({ kind: 'unserved', reason: 'NotListed' });
    expect(story.pools.unsynced()).toEqual([KEY]);
    expect(story.pools.versionOf(KEY)).toBeUndefined();
    story.pools.start();
    await story.clock.advance(100);
    expect(story.pools.get(KEY)).toMatchObject({ kind: 'unserved', reason: 'PoolMissing' });
    expect(story.pools.unsynced()).toEqual([]);
  });

  it('is its state, each time that it is another one', async () => {
    const story = await start();
    await story.record({ '10.0.0.10': A, '10.0.0.11': B });
    await story.record({ '10.0.0.10': A }, { paused: true });
    await story.record({ '10.0.0.10': A }, { ipv4Config: { cidr: 'none', serverIP: '10.0.0.2' } });
    expect(story.observer.of('pool').map(({ state }) => state)).toEqual(['active', 'paused', 'unserved']);
    expect(story.pools.get(KEY)).toMatchObject({ reason: 'PoolInvalid', message: expect.stringContaining('cidr') });
  });

  it('is the version that it goes by', async () => {
    const story = await start();
    const before = story.pools.versionOf(KEY);
    await story.record({ '10.0.0.11': A });
    expect([before, story.pools.versionOf(KEY)]).toEqual(['1', '2']);
  });

  it('is every change', async () => {
    const story = await start();
    const before = story.changes;
    await story.record({ '10.0.0.11': A });
    expect(story.changes).toBe(before + 1);
  });

  it.each([
    ['probes conflicts by default', {}, { probesConflicts: true, stopsForRogueServer: false }],
    ['does not where it is disabled', { conflictProbe: 'Disabled' }, { probesConflicts: false }],
    ['stops for rogue servers', { onRogueServer: 'Stop' }, { stopsForRogueServer: true }],
    ['only reports them', { onRogueServer: 'Warn' }, { stopsForRogueServer: false }],
  ])('%s', async (_, spec, expected) => {
    const story = await start(spec);
    expect(story.pools.get(KEY)).toMatchObject({ kind: 'active', ...expected });
  });

  it('is what its annotations set of the log, and once what is wrong with them', async () => {
    const wrong = { 'network.harvesterhci.io/log-level': 'loud', 'network.harvesterhci.io/log-packets': 'true' };
    const story = await start({}, wrong);
    await story.record({ '10.0.0.11': A }, {}, wrong);
    expect(story.observer.of('pool-log-settings').at(-1)?.settings).toEqual({ packets: true });
    expect(story.observer.of('pool-log-annotation-ignored')).toHaveLength(1);
    await story.record({ '10.0.0.11': A });
    await story.record({ '10.0.0.11': A }, {}, wrong);
    expect(story.observer.of('pool-log-annotation-ignored')).toHaveLength(2);
  });

  it('are names of NTP servers, which its clients receive once they are known', async () => {
    const story = await start(NTP);
    const ntp = () => {
      const pool = story.pools.get(KEY);
      return pool.kind === 'active' ? pool.pool.options.ntpServers?.map(formatIpv4Address) : undefined;
    };
    expect(story.wantedNames).toEqual(['ntp.example.org']);
    expect(ntp()).toEqual(['10.0.0.7']);
    story.names.set('ntp.example.org', ['10.0.0.8']);
    story.onNames();
    expect(ntp()).toEqual(['10.0.0.8', '10.0.0.7']);
  });

  it('are no names any more where none is left, nor when it is stopped', async () => {
    const story = await start(NTP);
    await story.record({ '10.0.0.10': A });
    expect(story.wantedNames).toEqual([]);
    story.pools.stop();
    expect(story.wantedNames).toEqual(['stopped']);
  });

  it('is nothing any more when it is stopped', async () => {
    const story = await start();
    story.pools.stop();
    await story.record({ '10.0.0.12': B });
    expect(story.served()).toEqual({ [A]: '10.0.0.10' });
  });

  it('is that it cannot be read; what is known is served', async () => {
    const story = await start();
    story.objects.failNext = 3;
    story.objects.closeWatches('failed');
    await story.clock.advance(2_000);
    expect(story.observer.of('pool-unreadable').length).toBeGreaterThan(0);
    expect(story.served()).toEqual({ [A]: '10.0.0.10' });
  });

  it('is not served while it is being deleted', async () => {
    const story = await start();
    const object = story.objects.objects.get(KEY) as KubernetesObject;
    story.objects.put({ ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
    await story.clock.advance(100);
    expect(story.pools.get(KEY)).toMatchObject({ reason: 'PoolMissing' });
    expect(story.served()).toEqual({});
  });
});

describe('conflicts of a followed pool', () => {
  const start = async () => {
    const story = new Story();
    await story.record({ '10.0.0.10': A, '10.0.0.11': B });
    story.pools.start();
    await story.clock.advance(100);
    return story;
  };
  const conflict = { address: address('10.0.0.10'), macAddress: A };
  const USER = '02:00:00:00:00:99';

  it('the same one is noted once, and its user when it becomes known', async () => {
    const story = await start();
    story.pools.noteConflict(KEY, conflict);
    story.pools.noteConflict(KEY, conflict);
    expect(story.pools.conflictsOf(KEY)).toEqual([conflict]);
    story.pools.noteConflict(KEY, { ...conflict, usedBy: USER });
    story.pools.noteConflict(KEY, conflict);
    expect(story.pools.conflictsOf(KEY)).toEqual([{ ...conflict, usedBy: USER }]);
  });

  it('the same one again does not begin the hour anew', async () => {
    const story = await start();
    story.pools.noteConflict(KEY, conflict);
    await story.clock.advance(HOUR_MS - 1_000);
    story.pools.noteConflict(KEY, conflict);
    await story.clock.advance(1_500);
    story.pools.expireConflicts();
    expect(story.pools.conflictsOf(KEY)).toEqual([]);
  });

  it('of another client stays when one is over', async () => {
    const story = await start();
    story.pools.noteConflict(KEY, conflict);
    await story.clock.advance(HOUR_MS / 2);
    story.pools.noteConflict(KEY, { address: address('10.0.0.11'), macAddress: B });
    await story.clock.advance(HOUR_MS / 2 + 1_000);
    story.pools.expireConflicts();
    expect(story.served()).toEqual({ [A]: '10.0.0.10' });
    expect(story.pools.conflictsOf(KEY)).toHaveLength(1);
  });

  it('none in a pool that has none', async () => {
    const story = await start();
    expect([story.pools.conflictsOf(KEY), story.pools.conflictsOf('other/pool')]).toEqual([[], []]);
  });
});
