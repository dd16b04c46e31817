/**
 * Replaces the timers, clocks and randomness of a process. Everything in this process, including the simulated API server, then lives in the time of
 * one scheduler, and a seed decides all random numbers: the same seed plays the same story.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { Random } from '@vmdhcp/kube-runtime/testing';
import type { Scheduler } from './scheduler.js';

/** When every world begins: 2026-01-01T00:00:00Z. */
export const EPOCH_MS = Date.UTC(2026, 0, 1);

const RealDate = Date;
let scheduler: Scheduler | undefined;
let random: Random = () => 0;

/** The result of `setTimeout`. */
class Timer {
  #callOff: () => void = () => undefined;

  constructor(delayMs: number, run: () => void, repeats: boolean) {
    const begin = () => {
      this.#callOff = current().after(delayMs, () => {
        if (repeats) begin();
        run();
      });
    };
    begin();
  }

  clear(): void {
    this.#callOff();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

/** Makes this process use the time and the randomness of this scheduler. */
export function liveIn(world: Scheduler, chance: Random): void {
  if (scheduler === undefined) install();
  scheduler = world;
  random = chance;
}

function current(): Scheduler {
  if (scheduler === undefined) throw new Error('this process lives in no world yet');
  return scheduler;
}

function install(): void {
  const clear = (timer: Timer | undefined) => timer?.clear();
  Object.assign(globalThis, {
    setTimeout: (run: (...words: unknown[]) => void, ms = 0, ...words: unknown[]) => new Timer(ms, () => run(...words), false),
    setInterval: (run: (...words: unknown[]) => void, ms = 0, ...words: unknown[]) => new Timer(ms, () => run(...words), true),
    setImmediate: (run: (...words: unknown[]) => void, ...words: unknown[]) => new Timer(0, () => run(...words), false),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
    Date: VirtualDate,
  });
  performance.now = () => current().nowMs();
  Math.random = () => random(2 ** 30) / 2 ** 30;
  Object.assign(crypto, {
    randomUUID: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
    randomInt: (from: number, below?: number) => (below === undefined ? random(from) : from + random(below - from)),
    randomBytes: (length: number) => Buffer.from(hex(2 * length), 'hex'),
  });
  syncBuiltinESMExports();
}

class VirtualDate extends RealDate {
  constructor(...given: readonly [] | readonly [number | string | Date]) {
    const [time] = given;
    super(time ?? VirtualDate.now());
  }

  static override now(): number {
    return Math.floor(EPOCH_MS + current().nowMs());
  }
}

function hex(digits: number): string {
  return Array.from({ length: digits }, () => random(16).toString(16)).join('');
}
