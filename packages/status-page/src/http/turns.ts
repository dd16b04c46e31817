/** Answers of which each may take a tenth of a second, so one at a time: whatever else the process has to do has its turn between two of them. */
import { setImmediate } from 'node:timers/promises';
import { PageProblem } from './page-problem.js';

/** As many as there are connections. */
const MOST_WAITING = 256;

export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** The result of the work, which begins after all that came before it has ended. @throws PageProblem where too much waits already. */
  async take<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    if (this.#waiting >= MOST_WAITING)
      throw new PageProblem(429, 'too-many-requests', 'too many requests wait for their answers; try again in a few seconds');
    this.#waiting++;
    const turn = this.#last.then(() => setImmediate()).then(work);
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.#waiting--;
    }
  }
}
