import { expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryLeaseStore } from '../testing/memory-lease-store.js';
import { LeaseElector } from './lease-elector.js';

it('an identity that is empty is refused: in the record it means that there is no leader, and two would lead at once', () => {
  const times = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 500, random: () => 0 };
  const [clock, store] = [new FakeClock(), new MemoryLeaseStore()];
  const calls = { onLeading: () => undefined, onLost: () => undefined };
  expect(() => new LeaseElector({ ...times, ...calls, identity: '', store, clock })).toThrow(/identity/);
});
