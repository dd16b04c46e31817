/**
 * Runs answers, each of which may take a tenth of a second, in slices of about a millisecond. Users take turns, one slice at a time, and other work
 * of the process runs between two slices: neither many requests of one user nor a large search delays the others.
 */
import { setImmediate } from 'node:timers/promises';
import type { Pause } from '../lists/pause.js';
import { PageProblem } from './page-problem.js';

/** A user with waiting requests. */
export interface Asker {
  readonly user: string | null;
  /** False if the connection is closed; the rest of the work is dropped then. */
  readonly isWaiting: () => boolean;
}

export class Turns {
  /** The waiting slices of each user; the user whose turn is next comes first. */
  readonly #queues = new Map<string | null, (() => void)[]>();
  #isRunning = false;
  #endSlice: () => void = () => undefined;

  /**
   * The result of the work. The slices of one user run in the order of its requests.
   * @param work - must wait only for its pauses, because it might otherwise wait for the slice of another user.
   * @throws PageProblem if the answer is no longer needed.
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

  /** Resolves when the slice begins. @param place - `first` to continue work before other work of the same user. */
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

  /** This user moves to the end. */
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
