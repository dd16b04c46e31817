/** The time of a world: it jumps to the next timer that is due. */
import type { Clock } from '@vmdhcp/kube-runtime';
import { repeatWithPromises } from '@vmdhcp/kube-runtime/testing';

interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
  isCalledOff: boolean;
}

export class Scheduler implements Clock {
  #nowMs = 0;
  #order = 0;
  /** A binary heap: no child is due before its parent. */
  readonly #heap: Due[] = [];
  /** The number of timers that have fired. */
  events = 0;

  readonly nowMs = (): number => this.#nowMs;

  readonly after = (delayMs: number, run: () => void): (() => void) => {
    const due = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order++, run, isCalledOff: false };
    this.#push(due);
    return () => {
      due.isCalledOff = true;
    };
  };

  /** Resolves after this time. */
  async sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.after(ms, resolve));
  }

  /** Advances by this many milliseconds, and runs everything that is due, one after the other, with all promises that follow. */
  async pass(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await repeatWithPromises(() => {
      const due = this.#take(endMs);
      if (due === undefined) return false;
      this.#nowMs = due.atMs;
      this.events++;
      due.run();
      return true;
    });
    this.#nowMs = endMs;
  }

  /** The next timer until then. */
  #take(endMs: number): Due | undefined {
    for (let due = this.#heap[0]; due !== undefined && due.atMs <= endMs; due = this.#heap[0]) {
      this.#pop();
      if (!due.isCalledOff) return due;
    }
    return undefined;
  }

  #push(due: Due): void {
    const heap = this.#heap;
    let index = heap.push(due) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(due, heap[parent] as Due)) break;
      heap[index] = heap[parent] as Due;
      index = parent;
    }
    heap[index] = due;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Due;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Due, heap[child] as Due)) child++;
      if (!isBefore(heap[child] as Due, last)) break;
      heap[index] = heap[child] as Due;
      index = child;
    }
    heap[index] = last;
  }
}

/** Timers that are due at the same time fire in the order in which they were set, like those of a process. */
function isBefore(one: Due, other: Due): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}
