import { formatIpv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { DhcpServer } from '../server/dhcp-server.js';
import { LeaseEventLog } from '../server/lease-event-log.js';
import { FollowedPools } from './followed-pools.js';

const KEY = 'default/net';
const [A, B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];
const address = (text: string) => parseIpv4Address(text) as number;
const HOUR_MS = 3_600_000;

class Story {
  readonly clock = new FakeClock();
  readonly objects = new MemoryResource<KubernetesObject>(this.clock);
  readonly fresh: string[] = [];
  /** Server addresses that the pod needs, and for what. */
  readonly needed = new Map<number, string>();
  readonly server: DhcpServer;
  readonly pools: FollowedPools;

  constructor() {
    const { clock } = this;
    const logger = pino({ level: 'silent' });
    const events = new LeaseEventLog(logger, clock.nowMs);
    this.server = new DhcpServer({
      logger,
      events,
      nowMs: clock.nowMs,
      whoUses: () => Promise.resolve({ byClient: false, others: [] }),
      onDeclined: () => undefined,
      onBindingChanged: () => undefined,
    });
    const config = { interfaceName: 'net1', serverIP: '', cidr: '', ipPoolName: KEY, ipPoolRef: KEY, nadName: '' };
    this.pools = new FollowedPools([config], {
      server: this.server,
      logger,
      clock,
      nowMs: clock.nowMs,
      clientOf: () => this.objects,
      ntpNames: () => ({ known: new Map(), want: () => undefined, stop: () => undefined }),
      errorForLog: String,
      whoseAddress: (serverAddress) => this.needed.get(serverAddress),
      onChange: () => undefined,
      onFresh: (_, leases) => this.fresh.push(...leases.map(({ macAddress }) => macAddress)),
    });
  }

  async record(allocated: Readonly<Record<string, string>>, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
    this.objects.put({
      apiVersion: 'network.harvesterhci.io/v1alpha1',
      kind: 'IPPool',
      metadata: { namespace: 'default', name: 'net', uid: 'u', generation: 1 },
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
