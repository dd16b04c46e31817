import { describe, expect, it } from 'vitest';
import { AgentStatus, foundConditions } from './agent-status.js';
import { clusterAgent } from './hosts-fixtures.js';

const NOW = '2026-01-01T00:00:00Z';
const countsOf = (valid: number) => ({
  counts: { size: 10, valid, quarantined: 0, declared: 0, kept: 0, free: 10 - valid },
  conditions: [],
});
const stored = (addresses: object) => ({ ...clusterAgent(), status: { addresses } });

function usage(result: object = { ok: true, object: {} }) {
  const writes: unknown[] = [];
  const targets: unknown[] = [];
  const errors: unknown[] = [];
  const now = { ms: 0 };
  const patchStatus = async (target: unknown, patch: unknown) => {
    targets.push(target);
    writes.push(patch);
    return result as never;
  };
  const client = { patchStatus };
  return {
    writes,
    targets,
    errors,
    now,
    usage: new AgentStatus({ client, nowMs: () => now.ms, now: () => NOW, onError: (error) => errors.push(error) }),
  };
}

describe('the usage of addresses in the status', () => {
  it('is written when it changes, at most every five seconds', async () => {
    const { writes, now, usage: writer } = usage();
    await writer.report(clusterAgent(), countsOf(1));
    expect(writes).toEqual([{ status: { addresses: { total: 10, used: 1, available: 9 } } }]);
    now.ms = 4_999;
    await writer.report(stored({ total: 10, used: 1, available: 9 }), countsOf(2));
    expect(writes).toHaveLength(1);
    now.ms = 5_000;
    await writer.report(stored({ total: 10, used: 2, available: 8 }), countsOf(2));
    expect(writes).toHaveLength(1);
    await writer.report(stored({ total: 10, used: 1, available: 9 }), countsOf(2));
    expect(writes).toHaveLength(2);
  });

  it('a refusal is reported; a deleted object is not', async () => {
    const refused = usage({ ok: false, reason: 'forbidden', message: 'no right' });
    await refused.usage.report(clusterAgent(), countsOf(1));
    expect(refused.errors).toEqual([new Error('no right')]);
    const gone = usage({ ok: false, reason: 'not-found', message: '' });
    await gone.usage.report(clusterAgent(), countsOf(1));
    expect(gone.errors).toEqual([]);
  });

  it('a condition is written at the version that was seen, and conditions of others stay', async () => {
    const { writes, targets, usage: writer } = usage();
    const ready = { type: 'Ready', status: 'True' };
    const object = clusterAgent();
    const seen = {
      ...object,
      metadata: { ...object.metadata, resourceVersion: '7', generation: 3 },
      status: { conditions: [ready] },
    };
    const conditions = foundConditions(
      { isUsed: undefined, problem: 'it cannot be probed' },
      { found: [{ address: '10.0.0.9', macAddress: '02:00:00:00:00:99' }], problem: 'another one answers' },
    );
    await writer.report(seen, { counts: undefined, conditions });
    expect(targets).toEqual([{ key: 'rack', resourceVersion: '7' }]);
    const found = { type: 'RogueServer', status: 'True', reason: 'OtherServerAnswers', message: 'another one answers' };
    expect(writes).toMatchObject([{ status: { conditions: [ready, { ...found, observedGeneration: 3 }] } }]);
  });
});
