import { describe, expect, it } from 'vitest';
import { planFinalizer, planFinalizerRemoval } from '../api/finalizer.js';
import type { WriteResult } from '../api/object-client.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import type { ReconcileResult } from './keyed-queue.js';
import { reconcileWithFinalizer } from './reconcile-with-finalizer.js';

const OURS = 'example.com/ours';
const SETTLED: ReconcileResult = { kind: 'settled' };

function setUp(metadata: Partial<KubernetesObject['metadata']> = {}) {
  const clock = new FakeClock();
  const server = new MemoryResource<KubernetesObject>(clock);
  server.put({ metadata: { namespace: 'default', name: 'a', uid: 'u', ...metadata } });
  const calls: string[] = [];
  const run = async (cleanUp: () => Promise<ReconcileResult> = async () => SETTLED, seen = server.objects.get('default/a')) => {
    const result = reconcileWithFinalizer(seen as KubernetesObject, {
      finalizer: OURS,
      client: server,
      onWritten: ({ metadata: { finalizers = [] } }) => calls.push(`written ${finalizers.join(' ')}`.trim()),
      reconcile: async ({ metadata: { finalizers = [] } }) => {
        calls.push(`reconcile with ${finalizers.join(' ')}`);
        return { kind: 'recheck', afterMs: 5 };
      },
      cleanUp: () => {
        calls.push('clean up');
        return cleanUp();
      },
    });
    result.catch(() => undefined);
    await clock.advance(2);
    return await result;
  };
  const delet = async () => {
    const deleted = server.delete('default/a', 'u');
    await clock.advance(2);
    await deleted;
  };
  const finalizers = () => server.objects.get('default/a')?.metadata.finalizers;
  return { server, run, calls, delet, finalizers };
}

describe('fact 21: a finalizer', () => {
  it('is written once, before anything is reconciled, and keeps those of others', async () => {
    const { run, calls, finalizers } = setUp({ finalizers: ['theirs'] });
    expect(await run()).toEqual({ kind: 'recheck', afterMs: 5 });
    await run();
    expect(calls).toEqual([`written theirs ${OURS}`, `reconcile with theirs ${OURS}`, `reconcile with theirs ${OURS}`]);
    expect(finalizers()).toEqual(['theirs', OURS]);
  });

  it('is removed after a successful clean-up, and those of others stay', async () => {
    const { run, calls, delet, finalizers } = setUp({ finalizers: ['theirs', OURS, 'more'] });
    await delet();
    expect(await run()).toEqual(SETTLED);
    expect(calls).toEqual(['clean up', 'written theirs more']);
    expect(finalizers()).toEqual(['theirs', 'more']);
    expect(await run()).toEqual(SETTLED);
    expect(calls).toHaveLength(2);
  });

  it('stays when the clean-up fails, throws, or is not complete', async () => {
    const { run, delet, finalizers } = setUp({ finalizers: [OURS] });
    await delet();
    expect(await run(async () => ({ kind: 'retry', reason: 'busy' }))).toEqual({ kind: 'retry', reason: 'busy' });
    expect(await run(async () => ({ kind: 'recheck', afterMs: 1 }))).toEqual({ kind: 'recheck', afterMs: 1 });
    await expect(
      run(async () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(finalizers()).toEqual([OURS]);
  });

  it('does not overwrite an unseen change: it is retried', async () => {
    const { server, run, delet, calls, finalizers } = setUp();
    const seen = server.objects.get('default/a');
    server.put({ ...(seen as KubernetesObject), metadata: { ...(seen as KubernetesObject).metadata, finalizers: ['new'] } });
    expect(await run(undefined, seen)).toEqual({ kind: 'retry', reason: 'conflict' });
    expect([calls, finalizers()]).toEqual([[], ['new']]);
    await run();
    await delet();
    const before = server.objects.get('default/a');
    server.remove('default/a');
    expect(await run(undefined, before)).toEqual(SETTLED);
    expect(await run(undefined, seen)).toEqual({ kind: 'retry', reason: 'conflict' });
  });

  it('is neither added to an object that is being deleted, nor removed if it is absent', () => {
    const object: KubernetesObject = { metadata: { name: 'a', resourceVersion: '1', finalizers: ['theirs'] } };
    expect(planFinalizerRemoval(object, OURS)).toBeUndefined();
    expect(planFinalizer({ metadata: { ...object.metadata, deletionTimestamp: 't' } }, OURS)).toBeUndefined();
    expect(planFinalizer(object, 'theirs')).toBeUndefined();
    expect(planFinalizer({ metadata: { name: 'a', resourceVersion: '1' } }, OURS)).toEqual({
      target: { key: 'a', resourceVersion: '1' },
      patch: { metadata: { finalizers: [OURS] } },
    });
    expect(() => planFinalizer({ metadata: { namespace: 'x', name: 'a' } }, OURS)).toThrow('x/a has no resourceVersion');
  });
});

it('an object without finalizers has none to be removed, and gets a list of one', () => {
  const object = { metadata: { name: 'a', resourceVersion: '7' } };
  expect(planFinalizerRemoval(object, OURS)).toBeUndefined();
  expect(planFinalizer(object, OURS)).toEqual({
    target: { key: 'a', resourceVersion: '7' },
    patch: { metadata: { finalizers: [OURS] } },
  });
});

it.each<[string, boolean, WriteResult<KubernetesObject> | undefined, ReconcileResult]>([
  ['added', false, undefined, { kind: 'recheck', afterMs: 5 }],
  ['added, in conflict', false, { ok: false, reason: 'conflict', message: 'm' }, { kind: 'retry', reason: 'conflict' }],
  ['removed', true, undefined, SETTLED],
  ['removed, in conflict', true, { ok: false, reason: 'conflict', message: 'm' }, { kind: 'retry', reason: 'conflict' }],
  ['removed from what is gone', true, { ok: false, reason: 'not-found', message: 'm' }, SETTLED],
])('a finalizer that is %s, without a cache', async (_, isDeleted, refusal, expected) => {
  const metadata = { name: 'a', resourceVersion: '7', ...(isDeleted && { deletionTimestamp: 't', finalizers: [OURS] }) };
  const result = await reconcileWithFinalizer(
    { metadata },
    {
      finalizer: OURS,
      client: { patch: async () => refusal ?? { ok: true, object: { metadata } } },
      reconcile: async () => ({ kind: 'recheck', afterMs: 5 }),
      cleanUp: async () => SETTLED,
    },
  );
  expect(result).toMatchObject(expected);
});
