/** A tenant's machine whose start fails with HTTP 500, and the wake-ups of others: an agent's queue in front of a manager. */
import { expect, it } from 'vitest';
import { reconnectPauseMs } from '../following/reconnect-pause.js';
import { type ReportDelivery, ReportQueue } from '../report/report-queue.js';
import type { WakeAnswer } from '../report/wake-report.js';
import { DecisionWorld, MAC_B, VM_B } from './decision-fixtures.js';

const CARDS = 64;
const macOf = (card: number) => `02:00:00:00:66:${card.toString(16).padStart(2, '0')}`;
const STOPPED = { runStrategy: 'Manual', printableStatus: 'Stopped' };

it('machines of a tenant that KubeVirt cannot start (HTTP 500) do not keep the machine of another tenant from being woken', async () => {
  const world = new DecisionWorld();
  const cards = Array.from({ length: CARDS }, (_, card) => macOf(card));
  // One machine of a tenant, with many cards, whose start is denied by an admission webhook: virt-api answers 500.
  world.inventory = [{ namespace: 'lab', name: 'broken', labels: {}, macAddresses: cards }, VM_B];
  world.machines.set('lab/broken', STOPPED);
  world.machines.set('lab/vm-b', STOPPED);
  world.onStart = (key) => {
    if (key === 'lab/broken') return { ok: false, status: 500, message: 'admission webhook denied the request', canRetry: true };
    world.machines.set(key, { runStrategy: 'Manual', printableStatus: 'Starting', phase: 'Scheduling' });
    return { ok: true };
  };
  const ends = new Map<string, string>();
  const queue = new ReportQueue<string, WakeAnswer>(
    { capacity: 10_000, keepMs: 120_000, atOnce: 16 },
    {
      nowMs: () => world.clock.nowMs(),
      after: (delayMs, run) => world.clock.after(delayMs, run),
      pauseMs: (failures) => reconnectPauseMs(failures, 0.5),
      // As over gRPC: not-leading and unavailable are `unavailable`.
      deliver: async ({ sighting: { macAddress, firstSeenMs } }): Promise<ReportDelivery<WakeAnswer>> => {
        const outcome = await world.report(macAddress, { ageMs: world.clock.nowMs() - firstSeenMs });
        if (outcome.kind === 'answered') return outcome;
        return outcome.kind === 'later' ? outcome : { kind: 'unavailable', message: outcome.kind };
      },
      onDelayed: () => undefined,
      onEnd: ({ sighting }, end) => ends.set(sighting.macAddress, end.kind === 'answered' ? end.answer.status : end.reason),
    },
  );
  const hear = (macAddress: string) => queue.add({ sighting: { macAddress, firstSeenMs: world.clock.nowMs() }, facts: 'packet' });

  for (const card of cards.slice(0, CARDS / 2)) hear(card);
  await world.clock.advance(28_000);
  for (const card of cards.slice(CARDS / 2)) hear(card);
  await world.clock.advance(2_000);
  hear(MAC_B);
  await world.clock.advance(10_000);
  const afterTenSeconds = ends.get(MAC_B);
  // The tenant repeats its packets; each is queued again once its wake-up was given up.
  for (let second = 0; second < 180; second++) {
    for (const card of cards) {
      if (ends.get(card) !== 'too-old') continue;
      ends.delete(card);
      hear(card);
    }
    await world.clock.advance(1_000);
  }
  expect({
    afterTenSeconds,
    finally: ends.get(MAC_B),
    starts: world.calls.filter((one) => one === 'start lab/vm-b').length,
  }).toEqual({
    afterTenSeconds: 'vm-start-initiated',
    finally: 'vm-start-initiated',
    starts: 1,
  });
});
