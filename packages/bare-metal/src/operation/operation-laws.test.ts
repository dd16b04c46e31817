import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { formatTime, readField } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NOW_MS } from '../inventory/inventory-fixtures.js';
import { readFields } from '../object/read-field.js';
import { OperationAttempts } from './operation-attempts.js';
import type { OperationStep } from './operation-plan.js';
import { planHostOperations } from './plan-host-operations.js';

/** Operations in an API server: a write at another version is refused. */
class StoredOperations {
  readonly #objects = new Map<string, KubernetesObject>();
  #version = 0;

  constructor(count: number) {
    for (let index = 0; index < count; index++)
      this.#set({
        metadata: { name: `op-${index}`, uid: `uid-${index}`, creationTimestamp: formatTime(NOW_MS) },
        spec: { action: 'ForceRestart', hostStatusName: `host-${index % 2}` },
      });
  }

  get all(): readonly KubernetesObject[] {
    return [...this.#objects.values()];
  }

  patch(step: Extract<OperationStep, { readonly patch: object }>): void {
    const object = this.#objects.get(step.name);
    if (object === undefined || object.metadata.resourceVersion !== step.resourceVersion) return;
    this.#set({ ...object, status: { ...readFields(object.status), ...readFields(step.patch, 'status') } });
  }

  #set(object: KubernetesObject): void {
    this.#objects.set(object.metadata.name, {
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(++this.#version) },
    });
  }
}

type Step =
  | {
      readonly kind: 'plan';
      readonly agent: number;
      readonly isStale: boolean;
      readonly lost: 'nothing' | 'reply' | 'request';
      readonly steps: number;
    }
  | { readonly kind: 'answer'; readonly agent: number }
  | { readonly kind: 'crash'; readonly agent: number }
  | { readonly kind: 'time'; readonly ms: number };

const agent = fc.nat(1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('plan' as const),
      agent,
      isStale: fc.boolean(),
      lost: fc.constantFrom('nothing' as const, 'nothing' as const, 'reply' as const, 'request' as const),
      steps: fc.integer({ min: 1, max: 3 }),
    }),
  },
  fc.record({ kind: fc.constant('answer' as const), agent }),
  fc.record({ kind: fc.constant('crash' as const), agent }),
  fc.record({ kind: fc.constant('time' as const), ms: fc.constantFrom(1_000, 30_000, 90_000, 700_000) }),
);

it('law: an operation acts at most once, whatever is lost, crashes, is seen late or runs twice; and each ends with its true result', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), fc.integer({ min: 1, max: 3 }), (steps, count) => {
      const stored = new StoredOperations(count);
      const hostStatuses = [0, 1].map((index) => ({
        metadata: { name: `host-${index}` },
        status: { healthy: true, clusterAgent: 'agent' },
      }));
      const acted = new Map<string, number>();
      const answered = new Set<string>();
      let [nowMs, runs] = [NOW_MS, 0];
      /** Two replicas, of which an election would let one act: here both do. */
      const start = () => ({ runId: `run-${++runs}`, attempts: new OperationAttempts(), seen: stored.all, open: [] as string[] });
      const agents = [start(), start()];
      const plan = (index: number, one: Extract<Step, { readonly kind: 'plan' }>) => {
        const own = agents[index] as ReturnType<typeof start>;
        const operations = one.isStale ? own.seen : stored.all;
        own.seen = operations;
        const planned = planHostOperations({
          clusterAgent: 'agent',
          operations,
          hostStatuses,
          runId: own.runId,
          attempts: own.attempts,
          nowMs,
        });
        for (const next of planned.steps.slice(0, one.steps)) {
          if (next.kind !== 'act') {
            if (one.lost !== 'request') stored.patch(next);
            continue;
          }
          own.attempts.begin(next.uid, nowMs);
          acted.set(next.uid, (acted.get(next.uid) ?? 0) + 1);
          own.open.push(next.uid);
        }
      };
      const answer = (index: number) => {
        const own = agents[index] as ReturnType<typeof start>;
        for (const uid of own.open.splice(0)) {
          answered.add(uid);
          own.attempts.end(uid, { isSuccess: true, message: 'accepted' });
        }
      };
      for (const one of steps) {
        if (one.kind === 'time') nowMs += one.ms;
        else if (one.kind === 'crash') agents[one.agent] = start();
        else if (one.kind === 'answer') answer(one.agent);
        else plan(one.agent, one);
      }
      for (let turn = 0; turn < 12; turn++) {
        plan(0, { kind: 'plan', agent: 0, isStale: false, lost: 'nothing', steps: 9 });
        answer(0);
        nowMs += 61_000;
      }
      for (const times of acted.values()) expect(times).toBe(1);
      for (const { metadata, status } of stored.all) {
        const result = readField(status, 'status');
        expect(['success', 'failure']).toContain(result);
        if (result === 'success') expect(answered).toContain(metadata.uid);
        const message = String(readField(status, 'message'));
        if (message.includes('Nothing was done')) expect(acted.has(metadata.uid ?? '')).toBe(false);
      }
    }),
    { numRuns: 1_000 },
  );
});
