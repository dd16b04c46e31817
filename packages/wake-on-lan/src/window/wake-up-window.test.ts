import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SeenWakeUp, type Sighting, WakeUpWindow } from './wake-up-window.js';

const VM_A = '02:00:00:00:00:0a';
const VM_B = '02:00:00:00:00:0b';

function newSighting(seen: SeenWakeUp): Sighting {
  if (seen.kind !== 'new') throw new Error(`it is ${seen.kind}`);
  return seen.sighting;
}

function windowOf(capacity = 100): WakeUpWindow {
  return new WakeUpWindow({ windowMs: 10_000, capacity });
}

describe('WakeUpWindow', () => {
  it('vm-a is woken; the packet arrives again while the manager decides, and after that; later it is a wake-up again', () => {
    const window = windowOf();
    const first = newSighting(window.see(VM_A, 0));
    expect(window.see(VM_A, 1).kind).toBe('in-progress');
    window.accept(first);
    expect(window.see(VM_A, 9_999).kind).toBe('repeated');
    expect(window.see(VM_A, 10_000).kind).toBe('new');
  });

  it('the window begins at the first sighting, and repeated packets do not prolong it', () => {
    const window = windowOf();
    const first = newSighting(window.see(VM_A, 0));
    window.accept(first);
    for (let ms = 1_000; ms < 10_000; ms += 1_000) expect(window.see(VM_A, ms).kind).toBe('repeated');
    expect(window.see(VM_A, 10_500).kind).toBe('new');
  });

  it('a report that fails, or that is refused, leaves no record', () => {
    const window = windowOf();
    window.refuse(newSighting(window.see(VM_A, 0)));
    expect(window.see(VM_A, 1).kind).toBe('new');
    expect(window.size).toBe(1);
  });

  it('a wake-up that waits for a manager longer than the window stays the same one', () => {
    const window = windowOf();
    const first = newSighting(window.see(VM_A, 0));
    expect(window.see(VM_A, 60_000)).toEqual({ kind: 'in-progress', sighting: first });
    window.accept(first);
    expect(window.see(VM_A, 60_001).kind).toBe('new');
  });

  it('what a manager accepted is a new wake-up for the next manager; what waits for its answer is not', () => {
    const window = windowOf();
    window.accept(newSighting(window.see(VM_A, 0)));
    window.see(VM_B, 0);
    window.forgetAccepted();
    expect(window.see(VM_A, 1).kind).toBe('new');
    expect(window.see(VM_B, 1).kind).toBe('in-progress');
  });

  it('a wake-up without effect is repeated for a shorter time, and never for longer than the window', () => {
    const window = windowOf();
    window.accept(newSighting(window.see(VM_A, 0)), 2_000);
    window.accept(newSighting(window.see(VM_B, 0)), 60_000);
    expect(window.see(VM_A, 1_999).kind).toBe('repeated');
    expect(window.see(VM_A, 2_000).kind).toBe('new');
    expect(window.see(VM_B, 10_000).kind).toBe('new');
  });

  it('a clock that jumps back ends the window: no machine waits for a time that may never come', () => {
    const window = windowOf();
    window.accept(newSighting(window.see(VM_A, 1_000_000)));
    expect(window.see(VM_A, 5).kind).toBe('new');
  });

  it('a first sighting that was accepted before does not end the record of a later one', () => {
    const window = windowOf();
    const [a, b] = [newSighting(window.see(VM_A, 0)), newSighting(window.see(VM_B, 5))];
    window.accept(b);
    window.accept(a);
    expect(window.see(VM_B, 6).kind).toBe('repeated');
  });

  it('a flood of made-up addresses replaces itself: records stay, and memory has a bound', () => {
    const window = windowOf(50);
    window.accept(newSighting(window.see(VM_A, 0)));
    for (let made = 0; made < 10_000; made++) window.see(`made-up-${made}`, 1);
    expect(window.size).toBe(50);
    expect(window.see(VM_A, 2).kind).toBe('repeated');
    expect(window.see(VM_B, 2).kind).toBe('new');
  });

  it('a sighting that was removed is accepted nevertheless, and ends no later one', () => {
    const window = windowOf(1);
    const first = newSighting(window.see(VM_A, 0));
    newSighting(window.see(VM_B, 1));
    const second = newSighting(window.see(VM_A, 2));
    window.refuse(first);
    expect(window.see(VM_A, 3)).toEqual({ kind: 'in-progress', sighting: second });
    window.accept(first);
    expect(window.size).toBe(1);
  });

  it('if every entry is accepted, the one that was accepted longest ago is removed', () => {
    const window = windowOf(2);
    window.accept(newSighting(window.see(VM_A, 0)));
    window.accept(newSighting(window.see(VM_B, 1)));
    window.accept(newSighting(window.see('02:00:00:00:00:0c', 2)));
    expect(window.see(VM_B, 3).kind).toBe('repeated');
    expect(window.see(VM_A, 3).kind).toBe('new');
  });

  it('law: whatever the order of packets, answers and failures, no two wake-ups of a machine are accepted in one window, and none is lost', () => {
    const step = fc.record({
      kind: fc.constantFrom('packet', 'accept', 'refuse'),
      machine: fc.nat(3),
      afterMs: fc.nat(4_000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const window = windowOf();
        const waiting = new Map<number, Sighting>();
        const accepted = new Map<number, number>();
        let nowMs = 0;
        for (const { kind, machine, afterMs } of steps) {
          nowMs += afterMs;
          const sighting = waiting.get(machine);
          if (kind === 'packet') {
            const seen = window.see(String(machine), nowMs);
            const last = accepted.get(machine);
            const isRecorded = last !== undefined && nowMs - last < 10_000;
            expect(seen.kind).toBe(sighting !== undefined ? 'in-progress' : isRecorded ? 'repeated' : 'new');
            if (seen.kind === 'new') waiting.set(machine, seen.sighting);
          } else if (sighting !== undefined) {
            waiting.delete(machine);
            if (kind === 'refuse') window.refuse(sighting);
            else {
              window.accept(sighting);
              accepted.set(machine, sighting.firstSeenMs);
            }
          }
          expect(window.size).toBeLessThanOrEqual(100);
        }
      }),
    );
  });
});
