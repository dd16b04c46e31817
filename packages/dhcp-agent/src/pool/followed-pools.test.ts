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
  freshCalls = 0;
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
      onFresh: (_, leases) => {
        this.freshCalls++;
        this.fresh.push(...leases.map(({ macAddress }) => macAddress));
      },
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

  /** The served addresses by MAC address. */
  served(): Record<string, string> {
    return Object.fromEntries([...this.server.leases()].map((lease) => [lease.macAddress, formatIpv4Address(lease.address)]));
  }
}

describe('pools that are followed', () => {
  it('a pool is not served as long as the pod itself needs its server address', async () => {
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

  it('a pool that the API server has not sent yet is not served, for that reason', async () => {
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

  it('a conflict lasts for an hour, even in a pool where nothing else happens', async () => {
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

  it('the first leases are not new; later or changed ones are', async () => {
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

  it('a pool that is paused or gone is no longer served', async () => {
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

describe('the notifications of a followed pool', () => {
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

  it('is its state, each time that changes', async () => {
    const story = await start();
    await story.record({ '10.0.0.10': A, '10.0.0.11': B });
    await story.record({ '10.0.0.10': A }, { paused: true });
    await story.record({ '10.0.0.10': A }, { ipv4Config: { cidr: 'none', serverIP: '10.0.0.2' } });
    expect(story.observer.of('pool').map(({ state }) => state)).toEqual(['active', 'paused', 'unserved']);
    expect(story.pools.get(KEY)).toMatchObject({ reason: 'PoolInvalid', message: expect.stringContaining('cidr') });
  });

  it('is the version that is served', async () => {
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
    ['does not if that is disabled', { conflictProbe: 'Disabled' }, { probesConflicts: false }],
    ['stops for rogue servers', { onRogueServer: 'Stop' }, { stopsForRogueServer: true }],
    ['only reports them', { onRogueServer: 'Warn' }, { stopsForRogueServer: false }],
  ])('%s', async (_, spec, expected) => {
    const story = await start(spec);
    expect(story.pools.get(KEY)).toMatchObject({ kind: 'active', ...expected });
  });

  it('is the log settings in its annotations, and once what is wrong with them', async () => {
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

  it('has no names when none is left, nor when it is stopped', async () => {
    const story = await start(NTP);
    await story.record({ '10.0.0.10': A });
    expect(story.wantedNames).toEqual([]);
    story.pools.stop();
    expect(story.wantedNames).toEqual(['stopped']);
  });

  it('ends when it is stopped', async () => {
    const story = await start();
    story.pools.stop();
    await story.record({ '10.0.0.12': B });
    expect(story.served()).toEqual({ [A]: '10.0.0.10' });
  });

  it('is that it cannot be read; the last version is served', async () => {
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

  it('the same conflict is noted once, and its user when it becomes known', async () => {
    const story = await start();
    story.pools.noteConflict(KEY, conflict);
    story.pools.noteConflict(KEY, conflict);
    expect(story.pools.conflictsOf(KEY)).toEqual([conflict]);
    story.pools.noteConflict(KEY, { ...conflict, usedBy: USER });
    story.pools.noteConflict(KEY, conflict);
    expect(story.pools.conflictsOf(KEY)).toEqual([{ ...conflict, usedBy: USER }]);
  });

  it('repeating it does not restart the hour', async () => {
    const story = await start();
    story.pools.noteConflict(KEY, conflict);
    await story.clock.advance(HOUR_MS - 1_000);
    story.pools.noteConflict(KEY, conflict);
    await story.clock.advance(1_500);
    story.pools.expireConflicts();
    expect(story.pools.conflictsOf(KEY)).toEqual([]);
  });

  it('a conflict of another client stays when one is over', async () => {
    const story = await start();
    story.pools.noteConflict(KEY, conflict);
    await story.clock.advance(HOUR_MS / 2);
    story.pools.noteConflict(KEY, { address: address('10.0.0.11'), macAddress: B });
    await story.clock.advance(HOUR_MS / 2 + 1_000);
    story.pools.expireConflicts();
    expect(story.served()).toEqual({ [A]: '10.0.0.10' });
    expect(story.pools.conflictsOf(KEY)).toHaveLength(1);
  });

  it('a pool without conflicts has none', async () => {
    const story = await start();
    expect([story.pools.conflictsOf(KEY), story.pools.conflictsOf('other/pool')]).toEqual([[], []]);
  });

  it.each([
    [HOUR_MS - 1, { [B]: '10.0.0.11' }],
    [HOUR_MS, { [A]: '10.0.0.10', [B]: '10.0.0.11' }],
  ])('%d ms old', async (ageMs, served) => {
    const story = await start();
    story.pools.noteConflict(KEY, conflict);
    const before = story.changes;
    await story.clock.advance(ageMs);
    story.pools.expireConflicts();
    expect(story.served()).toEqual(served);
    expect(story.changes - before, 'the pool is checked again only if a conflict is over').toBe(ageMs < HOUR_MS ? 0 : 1);
    story.pools.expireConflicts();
    expect(story.changes - before).toBe(ageMs < HOUR_MS ? 0 : 1);
  });

  it('a conflict whose hour is over ends with the next change of the pool, before the regular check', async () => {
    const story = await start();
    story.pools.noteConflict(KEY, conflict);
    await story.clock.advance(HOUR_MS);
    await story.record({ '10.0.0.10': A, '10.0.0.11': B, '10.0.0.12': '02:00:00:00:00:0c' });
    expect(story.served()).toMatchObject({ [A]: '10.0.0.10' });
    expect(story.pools.conflictsOf(KEY)).toEqual([]);
  });

  it('a conflict of a client that moved and moves back is over', async () => {
    const story = await start();
    story.pools.noteConflict(KEY, conflict);
    await story.record({ '10.0.0.12': A, '10.0.0.11': B });
    await story.record({ '10.0.0.10': A, '10.0.0.11': B });
    expect(story.served()).toMatchObject({ [A]: '10.0.0.10' });
  });

  it('a conflict of a client that is gone is over', async () => {
    const story = await start();
    story.pools.noteConflict(KEY, conflict);
    await story.record({ '10.0.0.11': B });
    expect(story.pools.conflictsOf(KEY)).toEqual([]);
  });

  it('stays while the pool is paused or refused, and keeps the client silent when it is served again', async () => {
    const story = await start();
    story.pools.noteConflict(KEY, conflict);
    await story.record({ '10.0.0.10': A, '10.0.0.11': B }, { paused: true });
    story.needed.set(address('10.0.0.2'), 'the API server');
    await story.record({ '10.0.0.10': A, '10.0.0.11': B });
    story.needed.clear();
    await story.record({ '10.0.0.10': A, '10.0.0.11': B });
    expect(story.served()).toEqual({ [B]: '10.0.0.11' });
  });

  it('a conflict in a pool that is not followed affects no other', async () => {
    const story = await start();
    story.pools.noteConflict('other/pool', conflict);
    await story.clock.advance(HOUR_MS);
    story.pools.expireConflicts();
    expect(story.served()).toEqual({ [A]: '10.0.0.10', [B]: '10.0.0.11' });
    expect([story.pools.conflictsOf(KEY), story.pools.versionOf('other/pool')]).toEqual([[], undefined]);
  });
});

describe('a check of the server addresses that the pod needs', () => {
  const SERVER = address('10.0.0.2');
  const story = async (spec: Readonly<Record<string, unknown>> = {}, isNeeded = false) => {
    const made = new Story();
    await made.record({ '10.0.0.10': A }, spec);
    if (isNeeded) made.needed.set(SERVER, 'the API server');
    made.pools.start();
    await made.clock.advance(100);
    return made;
  };

  it.each<[string, Readonly<Record<string, unknown>>, [boolean, boolean], string, number]>([
    ['needed neither before nor now', {}, [false, false], 'active', 0],
    ['needed now', {}, [false, true], 'ServerAddressRefused', 1],
    ['needed no more', {}, [true, false], 'active', 1],
    ['needed before and now, maybe for another reason', {}, [true, true], 'ServerAddressRefused', 1],
    ['paused, and needed now', { paused: true }, [false, true], 'paused', 0],
    ['paused, and needed no more', { paused: true }, [true, false], 'paused', 0],
    ['invalid, and needed now', { ipv4Config: { cidr: 'none', serverIP: '10.0.0.2' } }, [false, true], 'PoolInvalid', 0],
    ['invalid, and needed no more', { ipv4Config: { cidr: 'none', serverIP: '10.0.0.2' } }, [true, false], 'PoolInvalid', 0],
  ])('%s: %s', async (_, spec, [before, now], state, changes) => {
    const made = await story(spec, before);
    made.changes = 0;
    if (now) made.needed.set(SERVER, 'a gateway of the pod');
    else made.needed.clear();
    made.pools.checkServerAddresses();
    const pool = made.pools.get(KEY);
    expect([pool.kind === 'unserved' ? pool.reason : pool.kind, made.changes]).toEqual([state, changes]);
  });

  it('before the pool was listed, and when it is gone, changes nothing', async () => {
    const made = new Story();
    made.needed.set(SERVER, 'the API server');
    made.pools.checkServerAddresses();
    expect([made.pools.get(KEY), made.changes]).toMatchObject([{ reason: 'NotListed' }, 0]);
    made.pools.start();
    await made.clock.advance(100);
    expect(made.changes, 'that it does not exist').toBe(1);
    made.pools.checkServerAddresses();
    expect([made.pools.get(KEY), made.changes]).toMatchObject([{ reason: 'PoolMissing' }, 1]);
  });
});

describe('the content of a followed pool', () => {
  const IPV4 = { cidr: '10.0.0.0/24', serverIP: '10.0.0.2', pool: { start: '10.0.0.10', end: '10.0.0.99' } };
  const start = async (
    spec: Readonly<Record<string, unknown>>,
    allocated: Readonly<Record<string, string>> = { '10.0.0.10': A },
  ) => {
    const story = new Story();
    await story.record(allocated, spec);
    story.pools.start();
    await story.clock.advance(100);
    return story;
  };

  it('at first is one change, and reports its state once', async () => {
    const story = await start({});
    expect([story.changes, story.freshCalls]).toEqual([1, 0]);
    expect(story.observer.of('pool')).toStrictEqual([{ kind: 'pool', pool: KEY, state: 'active' }]);
  });

  it('does not report clients if none has come or moved', async () => {
    const story = await start({});
    await story.record({ '10.0.0.10': A }, { onRogueServer: 'Stop' });
    expect(story.freshCalls).toBe(0);
    await story.record({ '10.0.0.10': A, '10.0.0.11': B });
    expect(story.freshCalls).toBe(1);
    await story.record({ '10.0.0.11': B });
    expect(story.freshCalls).toBe(1);
  });

  it('states why it is not served, for a person', async () => {
    const story = await start({ ipv4Config: { ...IPV4, cidr: '10.0.0.0/33' } });
    const pool = story.pools.get(KEY);
    expect(story.observer.of('pool')).toEqual([
      { kind: 'pool', pool: KEY, state: 'unserved', message: pool.kind === 'unserved' ? pool.message : '' },
    ]);
    expect(pool).toMatchObject({ reason: 'PoolInvalid', message: expect.stringContaining('10.0.0.0/33') });
  });

  it('has host names of reservations, and none for other clients', async () => {
    const reservations = [{ macAddress: A, ipAddress: '10.0.0.10', hostname: 'vm-a' }];
    const story = await start({ ipv4Config: { ...IPV4, reservations } }, { '10.0.0.10': A, '10.0.0.11': B });
    expect([...story.server.leases()]).toStrictEqual([
      { poolName: KEY, macAddress: A, address: address('10.0.0.10'), hostname: 'vm-a' },
      { poolName: KEY, macAddress: B, address: address('10.0.0.11') },
    ]);
  });

  it('a setting that is left out is reported once, however often clients change, and again with the next spec', async () => {
    const story = new Story();
    const put = async (generation: number, allocated: Readonly<Record<string, string>>) => {
      story.objects.put({
        apiVersion: 'network.harvesterhci.io/v1alpha1',
        kind: 'IPPool',
        metadata: { namespace: 'default', name: 'net', uid: 'u', generation },
        spec: { networkName: KEY, ipv4Config: { ...IPV4, mtu: -5 } },
        status: { ipv4: { allocated, used: 0, available: 0 } },
      });
      await story.clock.advance(100);
    };
    await put(1, { '10.0.0.10': A });
    story.pools.start();
    await story.clock.advance(100);
    await put(1, { '10.0.0.11': A });
    await put(1, { '10.0.0.12': A });
    expect(story.served()).toEqual({ [A]: '10.0.0.12' });
    const ignored = story.observer.of('pool-field-ignored');
    expect(ignored).toEqual([{ kind: 'pool-field-ignored', pool: KEY, problem: expect.stringContaining('mtu') }]);
    await put(2, { '10.0.0.12': A });
    expect(story.observer.of('pool-field-ignored')).toHaveLength(2);
  });

  it.each([
    [
      ['0.pool.ntp.org', 'ntp-2', 'time.example.org'],
      ['0.pool.ntp.org', 'ntp-2', 'time.example.org'],
    ],
    [['10.0.0.7', '10.0.0.8'], []],
    [['ntp1', '10.0.0.7'], ['ntp1']],
    [[true, null, 7, {}, 'ntp1'], ['ntp1']],
    [[], []],
  ])('names of NTP servers are looked up, and addresses are not: of %j %j', async (ntp, wanted) => {
    expect((await start({ ipv4Config: { ...IPV4, ntp } })).wantedNames).toEqual(wanted);
  });
});
