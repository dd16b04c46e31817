/** The stored history of addresses: restarts, crashes, lost writes, limits. */

import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { AUDIT_SLOT_NAMES, AUDIT_STATE_NAME, readStoredAudit } from '../audit/audit-slots.js';
import { parseAuditState } from '../audit/audit-state.js';
import { ownerAt } from '../audit/owner-at.js';
import { toRecordText } from '../audit/record-text.js';
import { memoryApi } from '../fixtures/memory-api-fixtures.js';
import { MemoryCluster } from '../fixtures/memory-cluster-fixtures.js';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { DhcpController } from './dhcp-controller.js';

const START = Date.UTC(2026, 0, 1);
const POOL = 'default/pool-1';

/** A cluster with a pool and a controller; its wall clock is the clock of the test. */
class Audited {
  readonly clock = new FakeClock();
  /** How far the controller's clock is ahead. */
  aheadMs = 0;
  readonly cluster = new MemoryCluster(this.clock);
  readonly errors: string[] = [];
  readonly lines: string[] = [];
  readonly dropped: string[] = [];
  readonly mostOctets: number;
  controller: DhcpController;

  constructor(mostOctets = 1_000_000) {
    this.mostOctets = mostOctets;
    this.controller = this.create();
  }

  static async started(mostOctets?: number): Promise<Audited> {
    const audited = new Audited(mostOctets);
    audited.cluster.networks.put(network());
    audited.cluster.ipPools.put(pool('pool-1'));
    await audited.lead();
    return audited;
  }

  async lead(): Promise<void> {
    this.controller.start();
    this.controller.lead();
    await this.clock.advance(5_000);
  }

  async crash(): Promise<void> {
    this.cluster.configMaps.writeFault = () => 'conflict';
    const stopping = this.controller.stop();
    await this.clock.advance(3_000);
    await stopping;
    this.cluster.configMaps.writeFault = () => 'none';
    this.controller = this.create();
  }

  async stop(): Promise<void> {
    const stopping = this.controller.stop();
    await this.clock.advance(3_000);
    await stopping;
    this.controller = this.create();
  }

  async add(name: string): Promise<void> {
    this.cluster.virtualMachines.put(virtualMachine(name));
    await this.clock.advance(5_000);
  }

  async remove(name: string): Promise<void> {
    this.cluster.virtualMachines.remove(`default/${name}`);
    const collected = this.cluster.collectGarbage();
    await this.clock.advance(5_000);
    await collected;
  }

  now(): string {
    return new Date(START + this.clock.nowMs() + this.aheadMs).toISOString();
  }

  get stored() {
    return readStoredAudit(this.cluster.configMaps.objects.values());
  }

  /** `10.0.0.10 vm-a assigned 5-10 vm-deleted`, times in seconds. */
  records(): string[] {
    const seconds = (text = '') => (text === '' ? '' : (Date.parse(text) - START) / 1_000);
    return [...(this.stored.logs.get(POOL)?.records.values() ?? [])].map((record) => {
      const text = toRecordText(record);
      const [from, to] = [
        [seconds(text.fromNotBefore), seconds(text.from)],
        [seconds(text.toNotBefore), seconds(text.to)],
      ].map((times) => times.filter((time) => time !== '').join('..'));
      const name = text.virtualMachine?.replace('default/', '') ?? '';
      return `${text.address} ${name} ${text.began} ${from}-${to}${text.ended === undefined ? '' : ` ${text.ended}`}`;
    });
  }

  ownerAt(address: string, second: number): string {
    const { logs, state } = this.stored;
    const log = logs.get(POOL);
    const { completeUntilMs, gaps } = parseAuditState(state) ?? { completeUntilMs: 0, gaps: [] };
    const records = {
      records: [...(log?.records.values() ?? [])],
      completeFromMs: log?.completeFromMs ?? 0,
      completeUntilMs,
      gaps,
    };
    const answer = ownerAt(records, parseIpv4Address(address) ?? 0, START + second * 1_000);
    return answer.kind === 'assigned' ? (answer.record.virtualMachine ?? '') : answer.kind === 'free' ? 'free' : answer.reason;
  }

  create(random = () => 0.5): DhcpController {
    return new DhcpController({
      ...memoryApi({ ...this.cluster }, this.clock),
      clock: this.clock,
      now: () => `${this.now().slice(0, 19)}Z`,
      random,
      identity: 'me',
      audit: { namespace: 'vmdhcp-system', mostOctets: this.mostOctets, slotOctets: 2_000 },
      observer: {
        onReadError: (kind, error) => this.errors.push(`${kind}: ${(error as Error).message}`),
        onAuditDropped: (why, count) => this.dropped.push(`${why} ${count}`),
        onAssignmentRecords: (of, records) =>
          this.lines.push(
            ...records.map(({ virtualMachine: vm, end }) => `${of} ${vm} ${end === undefined ? 'began' : 'ended'}`),
          ),
      },
    });
  }
}

describe('the audit', () => {
  it('stores when an assignment began and ended, and why', async () => {
    const audited = await Audited.started();
    await audited.add('vm-a');
    await audited.add('vm-b');
    await audited.remove('vm-a');
    expect(audited.records()).toEqual(['10.0.0.10 vm-a assigned 5-15 vm-deleted', '10.0.0.11 vm-b assigned 10-']);
    expect(audited.lines).toEqual([`${POOL} default/vm-a began`, `${POOL} default/vm-b began`, `${POOL} default/vm-a ended`]);
    await audited.clock.advance(60_000);
    expect([4, 5, 14, 15].map((second) => audited.ownerAt('10.0.0.10', second))).toEqual([
      'free',
      'default/vm-a',
      'default/vm-a',
      'free',
    ]);
    expect(audited.ownerAt('10.0.0.11', 20)).toBe('default/vm-b');
    expect(audited.errors).toEqual([]);
  });

  it('a controller that stops stores pending records, and the next one continues', async () => {
    const audited = await Audited.started();
    await audited.add('vm-a');
    audited.cluster.virtualMachines.put(virtualMachine('vm-b'));
    await audited.clock.advance(1_000);
    await audited.stop();
    expect(audited.records()).toEqual(['10.0.0.10 vm-a assigned 5-', '10.0.0.11 vm-b assigned 10-']);
    await audited.lead();
    await audited.remove('vm-b');
    await audited.clock.advance(60_000);
    expect(audited.records()).toEqual(['10.0.0.10 vm-a assigned 5-', '10.0.0.11 vm-b assigned 10-19 vm-deleted']);
    expect(audited.ownerAt('10.0.0.11', 12), 'while no controller ran').toBe('nothing-recorded');
    expect(audited.ownerAt('10.0.0.11', 18)).toBe('default/vm-b');
  });

  it('a crash before the write does not lose an end silently: it is found, with an interval for its time', async () => {
    const audited = await Audited.started();
    await audited.add('vm-a');
    await audited.clock.advance(60_000);
    audited.cluster.configMaps.writeFault = () => 'conflict';
    await audited.remove('vm-a');
    await audited.crash();
    await audited.lead();
    await audited.clock.advance(60_000);
    expect(audited.records()).toEqual([expect.stringMatching(/^10\.0\.0\.10 vm-a assigned 5-\d+\.\.\d+ not-recorded$/)]);
    expect(audited.ownerAt('10.0.0.10', 30)).toBe('default/vm-a');
    expect(audited.ownerAt('10.0.0.10', 71)).toBe('nothing-recorded');
    expect(audited.ownerAt('10.0.0.10', 100)).toBe('free');
  });

  it('assignments from before the first record are adopted, and nothing is claimed about earlier times', async () => {
    const audited = new Audited();
    audited.cluster.networks.put(network());
    const status = { ipv4: { allocated: { '10.0.0.10': '02:00:00:00:00:0a' } } };
    audited.cluster.ipPools.put({ ...pool('pool-1'), status });
    audited.cluster.virtualMachines.put(virtualMachine('vm-a'));
    await audited.lead();
    await audited.clock.advance(60_000);
    expect(audited.records()).toEqual(['10.0.0.10 vm-a adopted 0-']);
    expect(audited.ownerAt('10.0.0.10', 30)).toBe('default/vm-a');
    expect(audited.ownerAt('10.0.0.11', -1)).toBe('older-than-records');
  });

  it('keeps its limit: the oldest records are deleted, and assignments that have not ended stay', async () => {
    const audited = await Audited.started(1);
    await audited.add('vm-a');
    for (let round = 0; round < 30; round++) {
      audited.cluster.virtualMachines.put(virtualMachine('vm-b'));
      await audited.clock.advance(2_000);
      await audited.remove('vm-b');
    }
    await audited.clock.advance(60_000);
    const { slots, logs } = audited.stored;
    expect([...slots.values()].reduce((sum, { octets }) => sum + octets, 0)).toBeLessThan(3_000);
    expect(audited.records()).toContain('10.0.0.10 vm-a assigned 5-');
    expect(logs.get(POOL)?.records.size).toBeLessThan(15);
    expect(audited.ownerAt('10.0.0.11', 20)).toBe('older-than-records');
    expect(audited.ownerAt('10.0.0.10', 20)).toBe('default/vm-a');
    expect(audited.dropped.length).toBeGreaterThan(0);
    expect(audited.dropped.every((one) => /^limit [1-9]\d*$/.test(one))).toBe(true);
    const facts = audited.controller.auditFacts();
    expect(facts).toMatchObject({ mostOctets: 1, pendingRecords: 0 });
    expect(facts?.reachBackMs.get(POOL)).toBe(logs.get(POOL)?.completeFromMs);
    expect(facts?.storedOctets).toBe([...slots.values()].reduce((sum, { octets }) => sum + octets, 0));
  });

  it('only the leader reports on the records: pending ones, and from when until when they are complete', async () => {
    const audited = new Audited();
    expect(audited.controller.auditFacts()).toBeUndefined();
    audited.cluster.networks.put(network());
    audited.cluster.ipPools.put(pool('pool-1'));
    await audited.lead();
    audited.cluster.configMaps.writeFault = () => 'lost-request';
    await audited.add('vm-a');
    await audited.clock.advance(60_000);
    const facts = audited.controller.auditFacts();
    expect(facts).toMatchObject({ pendingRecords: 1, completeUntilMs: START + 5_000 });
    expect([...(facts?.reachBackMs.keys() ?? [])]).toEqual([POOL]);
    audited.cluster.configMaps.writeFault = () => 'conflict';
    await audited.clock.advance(60_000);
    expect(audited.dropped).toEqual(['not-stored 1']);
    audited.cluster.configMaps.writeFault = () => 'none';
    await audited.clock.advance(60_000);
    expect(audited.controller.auditFacts()).toMatchObject({ pendingRecords: 0 });
  });

  it('a pool that is deleted ends its assignments', async () => {
    const audited = await Audited.started();
    await audited.add('vm-a');
    audited.cluster.ipPools.remove(POOL);
    await audited.clock.advance(5_000);
    expect(audited.records()).toEqual(['10.0.0.10 vm-a assigned 5-10 pool-deleted']);
  });

  it('addresses are assigned even if nothing can be stored, and that is reported', async () => {
    const audited = new Audited();
    audited.cluster.networks.put(network());
    audited.cluster.ipPools.put(pool('pool-1'));
    audited.cluster.configMaps.writeFault = () => 'lost-request';
    await audited.lead();
    await audited.add('vm-a');
    const status = audited.cluster.ipPools.objects.get(POOL)?.status as { ipv4: { allocated: Record<string, string> } };
    expect(status.ipv4.allocated['10.0.0.10']).toBe('02:00:00:00:00:0a');
    expect(audited.errors[0]).toMatch(/^audit: /);
    audited.cluster.configMaps.writeFault = () => 'none';
    await audited.clock.advance(60_000);
    expect(audited.records()).toEqual([expect.stringMatching(/^10\.0\.0\.10 vm-a adopted/)]);
  });

  it('late writes of a former leader are refused, so that they cannot mix with the records of the next one', async () => {
    const audited = await Audited.started();
    await audited.add('vm-a');
    audited.cluster.virtualMachines.put(virtualMachine('vm-b'));
    await audited.clock.advance(1_000);
    const former = audited.controller;
    audited.controller = audited.create(() => 0.7);
    audited.controller.start();
    audited.controller.lead();
    await audited.clock.advance(500);
    const stopping = former.stop();
    await audited.clock.advance(5_000);
    await stopping;
    expect(audited.records()).toEqual([
      '10.0.0.10 vm-a assigned 5-',
      expect.stringMatching(/^10\.0\.0\.11 vm-b not-recorded \d+\.\.\d+-$/),
    ]);
  });

  it('each ConfigMap gets a new version when a leader begins, so late writes of a former leader name an old one', async () => {
    const audited = await Audited.started();
    const names = [AUDIT_STATE_NAME, ...AUDIT_SLOT_NAMES];
    const versionOf = (name: string) => audited.cluster.configMaps.objects.get(`vmdhcp-system/${name}`)?.metadata.resourceVersion;
    // The first leader creates them; every later one must change them.
    audited.controller = audited.create(() => 0.6);
    await audited.lead();
    const before = names.map(versionOf);
    audited.controller = audited.create(() => 0.7);
    await audited.lead();
    const after = names.map(versionOf);
    expect(before).not.toContain(undefined);
    expect(names.filter((_, i) => after[i] === before[i])).toEqual([]);
  });

  it('a write to one pool that is refused does not stop the records of the others, also if the pool is invalid from then on', async () => {
    const audited = await Audited.started();
    const text = { network: 'default/net-2', start: '10.0.0.30', end: '10.0.0.39' };
    audited.cluster.networks.put(network('net-2'));
    audited.cluster.ipPools.put(pool('pool-2', text));
    await audited.clock.advance(5_000);
    await audited.add('vm-a');
    audited.cluster.ipPools.writeFault = () => 'conflict';
    audited.cluster.virtualMachines.put(virtualMachine('vm-c', { interfaces: { nic: ['02:00:00:00:00:cc', 'net-2'] } }));
    await audited.clock.advance(400);
    const { status } = audited.cluster.ipPools.objects.get('default/pool-2') ?? {};
    const invalid = pool('pool-2', { ...text, ipv4Config: { router: '10.9.9.9' } });
    audited.cluster.ipPools.put({ ...invalid, ...(status !== undefined && { status }) });
    await audited.clock.advance(50);
    audited.cluster.ipPools.writeFault = () => 'none';
    await audited.clock.advance(3_600_000);
    expect(audited.ownerAt('10.0.0.10', 1_000)).toBe('default/vm-a');
  });

  it.each(['goes on', 'is followed by another', 'crashes'] as const)(
    'the controller, whose clock is ahead for two minutes, %s: nothing is claimed about these times, and later ones are known',
    async (then) => {
      const audited = await Audited.started();
      await audited.add('vm-a');
      await audited.clock.advance(1_790_000);
      audited.aheadMs = 7_200_000;
      await audited.remove('vm-a');
      await audited.add('vm-b');
      await audited.clock.advance(60_000);
      await audited.remove('vm-b');
      await audited.add('vm-c');
      // The records are stored, and the state that says so is not.
      await audited.clock.advance(10_000);
      if (then === 'is followed by another') await audited.stop();
      if (then === 'crashes') await audited.crash();
      audited.aheadMs = 0;
      if (then !== 'goes on') await audited.lead();
      await audited.clock.advance(3 * 3_600_000);
      const answers = [1_700, 1_850, 3_600, 8_990, 9_040, 9_064, 9_072].map((second) => audited.ownerAt('10.0.0.10', second));
      expect(answers).toEqual(['default/vm-a', ...Array.from({ length: 6 }, () => 'nothing-recorded')]);
      expect(audited.ownerAt('10.0.0.10', 10_000)).toBe('default/vm-c');
    },
  );

  it.each(['none', 'lost-answer'] as const)(
    'a ConfigMap that was deleted takes records with it: nothing is claimed about times before the next leader (its creation: %s)',
    async (fault) => {
      const audited = await Audited.started();
      for (const name of ['vm-a', 'vm-b', 'vm-c', 'vm-d', 'vm-e', 'vm-f', 'vm-g', 'vm-h']) {
        await audited.add(name);
        await audited.clock.advance(95_000);
        await audited.remove(name);
      }
      await audited.clock.advance(100_000);
      expect(audited.ownerAt('10.0.0.10', 50)).toBe('default/vm-a');
      audited.cluster.configMaps.remove('vmdhcp-system/vmdhcp-audit-00');
      await audited.stop();
      let faults = 1;
      audited.cluster.configMaps.writeFault = (what) => (what === 'create' && faults-- > 0 ? fault : 'none');
      await audited.lead();
      await audited.add('vm-z');
      await audited.clock.advance(120_000);
      expect(audited.ownerAt('10.0.0.10', 50)).toBe('nothing-recorded');
      expect(audited.ownerAt('10.0.0.10', audited.clock.nowMs() / 1_000 - 60)).toBe('default/vm-z');
    },
  );

  it('other objects in the namespace are not changed', async () => {
    const other: KubernetesObject = { metadata: { namespace: 'vmdhcp-system', name: 'kube-root-ca.crt', uid: 'u' } };
    const audited = new Audited();
    audited.cluster.configMaps.put(other);
    audited.cluster.networks.put(network());
    audited.cluster.ipPools.put(pool('pool-1'));
    await audited.lead();
    await audited.add('vm-a');
    expect(audited.cluster.configMaps.objects.get('vmdhcp-system/kube-root-ca.crt')).toMatchObject(other);
  });
});
