import type { Logger } from '@vmdhcp/service-process';

/** Logs a line for each problem when it appears, and one when the last one is gone. */
export class ProblemLog {
  readonly #logger: Pick<Logger, 'error' | 'info'>;
  #known: ReadonlySet<string> = new Set();

  constructor(logger: Pick<Logger, 'error' | 'info'>) {
    this.#logger = logger;
  }

  /** Call it whenever problems may have changed, with all of them. */
  report(problems: readonly string[]): void {
    for (const problem of new Set(problems)) {
      if (!this.#known.has(problem)) this.#logger.error(`${problem}; the agent waits for that, and need not be restarted`);
    }
    if (problems.length === 0 && this.#known.size > 0) this.#logger.info('all problems are solved');
    this.#known = new Set(problems);
  }
}
