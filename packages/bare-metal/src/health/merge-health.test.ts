import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readField } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { factsOf, lease, NOW_MS, StoredHosts } from '../inventory/inventory-fixtures.js';
import { planHostInventory } from '../inventory/plan-host-inventory.js';
import { readFields } from '../object/read-field.js';
import type { BmcLogEntry, HealthReport } from './health-report.js';
import { mergeHealth } from './merge-health.js';
import { entryIdentity, MOST_REMEMBERED_ENTRIES, parseReported } from './reported-entries.js';

const NAME = 'agent-10-0-0-10';
const LATER_MS = NOW_MS + 60_000;
const entry = (id: number, others: Partial<BmcLogEntry> = {}): BmcLogEntry => ({
  id: String(id),
  time: '2026-01-01T00:00:00Z',
  severity: 'OK',
  message: `message ${id}`,
  ...others,
});
const healthy = (log?: readonly BmcLogEntry[], info: Record<string, string> = { PowerState: 'On' }): HealthReport => ({
  kind: 'healthy',
  info,
  log,
});
const UNHEALTHY: HealthReport = { kind: 'unhealthy', message: 'connect ETIMEDOUT 10.0.0.10:443' };

/** A host, polled with these reports. */
function polled(...reports: readonly HealthReport[]): StoredHosts {
  const stored = new StoredHosts();
  stored.settle(factsOf({ leases: [lease(10)] }));
  for (const report of reports) poll(stored, report);
  return stored;
}

/** Reason and message of the Events. */
function poll(stored: StoredHosts, report: HealthReport): string[] {
  const { events, patch } = mergeHealth({ hostStatus: stored.get(NAME) as KubernetesObject, report, nowMs: LATER_MS });
  if (patch !== undefined) stored.edit(NAME, patch as Record<string, unknown>);
  return events.map(({ event: { type, reason, message } }) => `${type} ${reason}: ${message}`);
}

const update = (stored: StoredHosts, report: HealthReport) =>
  mergeHealth({ hostStatus: stored.get(NAME) as KubernetesObject, report, nowMs: LATER_MS });

describe('the health of a host', () => {
  it('answers for the first time', () => {
    const stored = polled();
    expect(poll(stored, healthy([entry(1), entry(2, { severity: 'Critical', message: 'fan 1 failed' })]))).toEqual([
      'Normal HostHealthy: the management controller answers',
      'Normal BMCLogEntry: 2026-01-01T00:00:00Z OK message 1',
      'Warning BMCLogEntry: 2026-01-01T00:00:00Z Critical fan 1 failed',
    ]);
    expect(stored.get(NAME)?.status).toMatchObject({
      healthy: true,
      healthReady: true,
      lastUpdateTime: '2026-01-01T00:01:00Z',
      info: { PowerState: 'On' },
      log: {
        totalLogAccount: 2,
        warningLogAccount: 1,
        lastestLog: { time: '2026-01-01T00:00:00Z', message: 'fan 1 failed' },
        lastestWarningLog: { time: '2026-01-01T00:00:00Z', message: 'fan 1 failed' },
      },
    });
  });

  const log = [entry(1)];
  it.each<[what: string, before: HealthReport[], report: HealthReport, events: string[], status: object | undefined]>([
    ['nothing changed', [healthy(log)], healthy(log), [], undefined],
    ['it never answered', [], UNHEALTHY, [], undefined],
    [
      'it answers no more',
      [healthy(log)],
      UNHEALTHY,
      ['Warning HostUnhealthy: connect ETIMEDOUT 10.0.0.10:443'],
      { healthy: false, healthReady: false, info: { PowerState: null } },
    ],
    ['it still does not answer', [healthy(log), UNHEALTHY], UNHEALTHY, [], undefined],
    [
      'it answers again',
      [healthy(log), UNHEALTHY],
      healthy(log),
      ['Normal HostHealthy: the management controller answers'],
      { healthy: true, healthReady: true, info: { PowerState: 'On' } },
    ],
    [
      'information changed',
      [healthy(log)],
      healthy(log, { PowerState: 'Off', Cpu: 'x' }),
      [],
      { info: { PowerState: 'Off', Cpu: 'x' } },
    ],
    ['information is gone', [healthy(log)], healthy(log, {}), [], { info: { PowerState: null } }],
    ['the log cannot be read', [healthy(log)], healthy(), [], undefined],
    [
      'the log was cleared',
      [healthy(log)],
      healthy([]),
      [],
      { log: { totalLogAccount: 0, lastestLog: null, reportedEntries: '' } },
    ],
  ])('%s', (_, before, report, events, status) => {
    const stored = polled(...before);
    const { events: planned, patch } = update(stored, report);
    expect(planned.map(({ event: { type, reason, message } }) => `${type} ${reason}: ${message}`)).toEqual(events);
    expect(patch).toEqual(status && { status: { ...status, lastUpdateTime: '2026-01-01T00:01:00Z' } });
  });

  it('has an Event for a new cause, even if the host never answered', () => {
    const events = (report: HealthReport) =>
      mergeHealth({ hostStatus: polled().get(NAME) as KubernetesObject, report, nowMs: LATER_MS, isNewCause: true }).events.map(
        ({ event }) => event,
      );
    expect(events(UNHEALTHY)).toMatchObject([{ reason: 'HostUnhealthy', message: 'connect ETIMEDOUT 10.0.0.10:443' }]);
    expect(events(healthy([]))).toMatchObject([{ reason: 'HostHealthy' }]);
  });

  it('is written once, and the inventory leaves it unchanged', () => {
    const stored = polled(healthy([entry(1)]));
    expect(update(stored, healthy([entry(1)])).patch).toBeUndefined();
    expect(planHostInventory(factsOf({ leases: [lease(10)], hostStatuses: stored.all })).actions).toEqual([]);
  });

  it('is the same in whatever order a server stores the fields', () => {
    const stored = polled(healthy([entry(1, { severity: 'Warning' })]));
    const latest = { message: 'message 1', time: '2026-01-01T00:00:00Z' };
    stored.edit(NAME, { status: { log: { lastestLog: null, lastestWarningLog: null } } });
    stored.edit(NAME, { status: { log: { lastestLog: latest, lastestWarningLog: latest } } });
    expect(update(stored, healthy([entry(1, { severity: 'Warning' })])).patch).toBeUndefined();
  });

  it('names the host in its Events, and omits what an entry lacks', () => {
    const stored = polled();
    const { uid } = stored.get(NAME)?.metadata ?? {};
    const { events } = update(stored, healthy([entry(1, { time: '', severity: ' ok ' })]));
    expect(events.map(({ regarding }) => regarding)).toEqual(events.map(() => ({ kind: 'HostStatus', name: NAME, uid })));
    expect(events.map(({ event: { type, message } }) => `${type} ${message}`)).toEqual([
      'Normal the management controller answers',
      'Normal ok message 1',
    ]);
  });

  it('has the first names of too many, whatever their order', () => {
    const names = Array.from({ length: 300 }, (_, index) => `key ${String(index).padStart(3, '0')}`);
    const info = Object.fromEntries(names.toReversed().map((name) => [name, 'x']));
    const { patch } = update(polled(), healthy(undefined, info));
    expect(Object.keys(readFields(patch, 'status', 'info'))).toEqual(names.slice(0, 256));
  });

  it('waits while the object is not completed yet, or is being deleted', () => {
    for (const hostStatus of [
      { metadata: { name: NAME } },
      { metadata: { name: NAME, deletionTimestamp: 'now' }, status: { clusterAgent: 'agent' } },
    ])
      expect(mergeHealth({ hostStatus, report: healthy([entry(1)]), nowMs: LATER_MS })).toEqual({ events: [], patch: undefined });
  });

  it.each([
    ['only as `healthReady` of the design', { healthReady: true, healthy: null }, { healthy: true }],
    ['only as `healthy`, by an earlier version', { healthy: true, healthReady: null }, { healthReady: true }],
    ['as two different values', { healthy: true, healthReady: false }, { healthReady: true }],
  ])('is corrected by the next poll without an Event if it is stored %s', (_, status, expected) => {
    const stored = polled(healthy(undefined, {}));
    stored.edit(NAME, { status });
    expect(update(stored, healthy(undefined, {}))).toEqual({
      events: [],
      patch: { status: { ...expected, lastUpdateTime: '2026-01-01T00:01:00Z' } },
    });
  });

  it('is bounded if a management controller reports nonsense', () => {
    const stored = polled();
    const odd = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`key ${index}`, '\u0000\u202e'.repeat(3) + 'x'.repeat(9_000)]),
    );
    const info = { ...odd, number: 3, nothing: null, '': 'x' } as unknown as Record<string, string>;
    const events = poll(
      stored,
      healthy([entry(1, { message: 'y\n'.repeat(50_000), severity: 'z'.repeat(1_000), time: 't'.repeat(1_000) })], info),
    );
    expect(JSON.stringify(stored.get(NAME)).length).toBeLessThan(256 * 700);
    expect(Math.max(...events.map((text) => text.length))).toBeLessThan(1_100);
    expect(JSON.stringify(stored.get(NAME))).not.toMatch(/\u202e|\\u0000/);
  });
});

describe('entries of a log', () => {
  it('get a limited number of Events for one poll, oldest first; the others follow', () => {
    const stored = polled();
    const log = Array.from({ length: 45 }, (_, index) => entry(index));
    const counts = [1, 2, 3, 4].map(() => poll(stored, healthy(log)).filter((text) => text.includes('BMCLogEntry')).length);
    expect(counts).toEqual([20, 20, 5, 0]);
  });

  it('are remembered in the status: at most 1,000, in 8,000 characters', () => {
    const log = Array.from({ length: MOST_REMEMBERED_ENTRIES + 50 }, (_, index) => entry(index));
    const stored = polled();
    const { patch, events } = mergeHealth({
      hostStatus: stored.get(NAME) as KubernetesObject,
      report: healthy(log),
      nowMs: LATER_MS,
      mostLogEvents: 5_000,
    });
    expect(events.filter(({ identity }) => identity !== undefined)).toHaveLength(MOST_REMEMBERED_ENTRIES);
    expect(String(readField(patch, 'status', 'log', 'reportedEntries')).length).toBe(8_000);
  });

  it('are new if they reuse a number, or have the same time', () => {
    const stored = polled(healthy([entry(1)]));
    expect(poll(stored, healthy([entry(1, { message: 'another one' })]))).toHaveLength(1);
  });

  it.each([undefined, '', 'odd', 'ÄÄÄÄÄÄÄÄ', 'A'.repeat(9)])('are none if recorded as %j', (text) => {
    expect(parseReported(text).size).toBe(0);
  });

  it('are identified by their content', () => {
    const others = [{ id: '2' }, { time: 'x' }, { severity: 'x' }, { message: 'x' }, { id: '1"', time: '' }];
    const identities = [entry(1), ...others.map((one) => entry(1, one))].map(entryIdentity);
    expect(new Set(identities).size).toBe(6);
    for (const identity of identities) expect(identity).toMatch(/^[\w-]{8}$/);
    const many = Array.from({ length: 100_000 }, (_, index) => entryIdentity(entry(index)));
    expect(new Set(many).size).toBe(many.length);
  });

  type Step =
    | { readonly kind: 'append'; readonly count: number }
    | { readonly kind: 'clear' | 'wrap' | 'poll' | 'lost patch' | 'away' };
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 8 }) }),
    fc
      .constantFrom('clear' as const, 'wrap' as const, 'poll' as const, 'lost patch' as const, 'away' as const)
      .map((kind) => ({ kind })),
  );

  it('law: each entry has exactly one Event, after any order of new entries, polls, lost writes, restarts and cleared logs', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const stored = polled();
        /** By name, as in an API server: an existing Event is not written again. */
        const events = new Map<string, string>();
        let log: BmcLogEntry[] = [];
        let [next, count] = [1, 0];
        const look = (isLost: boolean) => {
          // All knowledge is in the object: each poll may be made by another process.
          const { events: planned, patch } = mergeHealth({
            hostStatus: stored.get(NAME) as KubernetesObject,
            report: healthy(log),
            nowMs: LATER_MS,
            mostLogEvents: 5,
          });
          for (const { identity, event } of planned) if (identity !== undefined) events.set(identity, event.message);
          if (!isLost && patch !== undefined) stored.edit(NAME, patch as Record<string, unknown>);
          return patch;
        };
        for (const one of steps) {
          if (one.kind === 'append') {
            for (let turn = 0; turn < one.count; turn++) log = [...log, entry(next++, { message: `unique ${count++}` })];
          } else if (one.kind === 'clear') [log, next] = [[], 1];
          else if (one.kind === 'wrap') log = log.slice(2);
          else if (one.kind === 'away') poll(stored, UNHEALTHY);
          else look(one.kind === 'lost patch');
        }
        while (look(false) !== undefined);
        const messages = [...events.values()];
        expect(new Set(messages).size).toBe(messages.length);
        for (const { message } of log) expect(messages.filter((text) => text.endsWith(message))).toHaveLength(1);
        expect(readField(stored.get(NAME), 'status', 'log', 'totalLogAccount')).toBe(log.length);
        expect(readField(stored.get(NAME), 'status', 'healthReady')).toBe(readField(stored.get(NAME), 'status', 'healthy'));
      }),
      { numRuns: 300 },
    );
  });
});
