import { formatSuspendedPools, SUSPENDED_POOLS_ANNOTATION, SUSPENDED_POOLS_SEEN_ANNOTATION } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { GROUP, lease, NAMESPACE } from './agents-fixtures.js';
import { LeaseWatch } from './lease-watch.js';

const KEY = `${NAMESPACE}/${GROUP}`;
const SUSPENDED = formatSuspendedPools(['default/a']);

/** Lasts three seconds. */
const renewed = (renewTime: string, serving = true) => lease({ 'default/a': { serving } }, { renewTime });
const withSpec = (spec: Readonly<Record<string, unknown>>): KubernetesObject => {
  const made = renewed('t1');
  return { ...made, spec: { ...(made.spec as object), ...spec } };
};
const annotated = (...annotations: readonly string[]): KubernetesObject => {
  const made = renewed('t2');
  const added = Object.fromEntries(annotations.map((name) => [name, SUSPENDED]));
  return { ...made, metadata: { ...made.metadata, annotations: { ...made.metadata.annotations, ...added } } };
};

function watching() {
  const clock = new FakeClock();
  const watch = new LeaseWatch(clock);
  let expired = 0;
  const note = (object: KubernetesObject | undefined) => watch.note(KEY, object, () => expired++);
  return { clock, watch, note, expired: () => expired };
}

describe('the content of a Lease', () => {
  it.each<[string, readonly [before: KubernetesObject | undefined, after: KubernetesObject | undefined], boolean]>([
    ['is seen for the first time', [undefined, renewed('t1')], true],
    ['is the same after a renewal', [renewed('t1'), renewed('t2')], false],
    ['has another report', [renewed('t1'), renewed('t2', false)], true],
    ['has another leader', [renewed('t1'), withSpec({ holderIdentity: 'other_1' })], true],
    ['suspends a pool', [renewed('t1'), annotated(SUSPENDED_POOLS_ANNOTATION)], true],
    [
      'reports that its leader has seen a suspended pool',
      [annotated(SUSPENDED_POOLS_ANNOTATION), annotated(SUSPENDED_POOLS_ANNOTATION, SUSPENDED_POOLS_SEEN_ANNOTATION)],
      true,
    ],
    ['is gone with the Lease', [renewed('t1'), undefined], true],
  ])('%s', (_, [before, after], isNews) => {
    const { note } = watching();
    note(before);
    expect(note(after)).toBe(isNews);
  });

  it('is news again when a deleted Lease is created again with the same content', () => {
    const { note } = watching();
    note(renewed('t1'));
    note(undefined);
    expect(note(renewed('t1'))).toBe(true);
  });

  it('is read once, as long as it has the same leader', async () => {
    const { clock, note, watch } = watching();
    const one = renewed('t1');
    note(one);
    const read = watch.read(one);
    expect(watch.read(one)).toBe(read);
    await clock.advance(3_000);
    expect(watch.read(one)).not.toBe(read);
    expect(watch.read(one)).toBe(watch.read(one));
  });

  it('has no leader if there is no Lease', () => {
    expect(watching().watch.read(undefined)).toMatchObject({ object: undefined, isLive: false, leader: '' });
  });
});

describe('a leader', () => {
  it.each<[string, Readonly<Record<string, unknown>>, number]>([
    ['for the time that the Lease specifies', {}, 3_000],
    ['for 15 seconds where the Lease specifies none', { leaseDurationSeconds: undefined }, 15_000],
    ['as long as the longest Lease of an agent that renews it rarely', { leaseDurationSeconds: 4_323 }, 4_323_000],
    ['for two hours at most', { leaseDurationSeconds: 1e9 }, 7_200_000],
  ])('is leader %s, by the clock of the reader', async (_, spec, durationMs) => {
    const { clock, note, watch, expired } = watching();
    const one = withSpec(spec);
    await clock.advance(100_000);
    note(one);
    await clock.advance(durationMs - 1);
    expect([watch.read(one).isLive, expired()]).toEqual([true, 0]);
    await clock.advance(1);
    expect(watch.read(one)).toMatchObject({ isLive: false, leader: '' });
    await clock.advance(10);
    expect(expired()).toBe(1);
    await clock.advance(8_000_000);
    expect(expired(), 'it expires once').toBe(1);
  });

  it('is not leader by a Lease without an observed renewal', () => {
    expect(watching().watch.read(renewed('t1')).isLive).toBe(false);
  });

  it('has not renewed a Lease that another client has written', async () => {
    const { clock, note, watch, expired } = watching();
    note(renewed('t1'));
    await clock.advance(2_000);
    const written = renewed('t1', false);
    note(written);
    await clock.advance(1_000);
    expect(watch.read(written).isLive).toBe(false);
    await clock.advance(10);
    expect(expired()).toBe(1);
    note(renewed('t1'));
    await clock.advance(10_000);
    expect([clock.pending, expired()], 'what has expired does not expire again').toEqual([0, 1]);
  });

  it('is news after a late renewal, even with the same report', async () => {
    const { clock, note, watch } = watching();
    note(renewed('t1'));
    await clock.advance(5_000);
    const late = renewed('t2');
    expect(note(late)).toBe(true);
    expect(watch.read(late).isLive).toBe(true);
    expect(note(renewed('t3'))).toBe(false);
  });

  it('is leader by a Lease that was deleted and created again with the earlier time', async () => {
    const { clock, note, watch, expired } = watching();
    note(renewed('t1'));
    note(undefined);
    await clock.advance(5_000);
    expect(expired()).toBe(0);
    const again = renewed('t1');
    note(again);
    expect(watch.read(again).isLive).toBe(true);
  });

  it('does not expire once the watch has stopped', async () => {
    const { clock, note, watch, expired } = watching();
    note(renewed('t1'));
    watch.stop();
    await clock.advance(10_000);
    expect(expired()).toBe(0);
  });
});
