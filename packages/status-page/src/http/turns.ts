/**
 * Answers of which each may take a tenth of a second, in slices of about a millisecond. Users take turns, one slice at a time, and whatever else the
 * process has to do has its turn between two slices: neither many requests of one user nor a large search keeps the others waiting.
 */
import { setImmediate } from 'node:timers/promises';
import type { Pause } from '../lists/pause.js';
import { PageProblem } from './page-problem.js';

/** One who waits for an answer. */
export interface Asker {
  readonly user: string | null;
  /** False: the connection is closed, and what is left of the work is dropped. */
  readonly isWaiting: () => boolean;
}

export class Turns {
  /** What begins the next slices of each user. The user whose turn is next is the first one. */
  readonly #queues = new Map<string | null, (() => void)[]>();
  #isRunning = false;
  #endSlice: () => void = () => undefined;

  /**
   * The result of the work. Slices of one user come in the order in which the work was asked for.
   * @param work - waits for nothing but its pauses: the slice of another user may be needed for it.
   * @throws PageProblem where the answer is of no use any more.
   */
  async take<Result>({ user, isWaiting }: Asker, work: (pause: Pause) => Result | Promise<Result>): Promise<Result> {
    const begin = async (place: 'first' | 'last') => {
      await this.#wait(user, place);
      if (!isWaiting()) throw new PageProblem(503, 'unavailable', 'the connection was closed before the answer');
    };
    try {
      await begin('last');
      return await work(() => {
        this.#endSlice();
        return begin('first');
      });
    } finally {
      this.#endSlice();
    }
  }

  /** Resolves when the slice begins. @param place - `first`: what was begun goes on before other work of the user. */
  #wait(user: string | null, place: 'first' | 'last'): Promise<void> {
    const queue = this.#queues.get(user) ?? [];
    this.#queues.set(user, queue);
    const { promise, resolve } = Promise.withResolvers<void>();
    if (place === 'first') queue.unshift(resolve);
    else queue.push(resolve);
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#queues.size > 0) {
      await setImmediate();
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#endSlice = resolve;
      this.#beginNext();
      await promise;
    }
    this.#isRunning = false;
  }

  /** The user who has this turn is the last one now. */
  #beginNext(): void {
    const [first] = this.#queues;
    if (first === undefined) return;
    const [user, queue] = first;
    this.#queues.delete(user);
    const begin = queue.shift();
    if (queue.length > 0) this.#queues.set(user, queue);
    begin?.();
  }
}
