import { spawn } from 'node:child_process';

const MOST_RUNNING = 8;
const MOST_WAITING = 100;
const TIME_LIMIT_MS = 30_000;
/** Of its error output, for the log. */
const MOST_ERROR_TEXT = 500;

export type CommandOutcome = { readonly ok: true } | { readonly ok: false; readonly why: string };

export interface WakeCommandLimits {
  /** Commands at the same time. */
  readonly running: number;
  /** Wake-ups that wait for one of them to end; more are refused. */
  readonly waiting: number;
  /** After that a command is killed. */
  readonly timeLimitMs: number;
}

/** Runs the command of a person for each wake-up, a few at a time. */
export class WakeCommand {
  readonly #command: string;
  readonly #limits: WakeCommandLimits;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param command - of a shell. */
  constructor(
    command: string,
    limits: WakeCommandLimits = { running: MOST_RUNNING, waiting: MOST_WAITING, timeLimitMs: TIME_LIMIT_MS },
  ) {
    this.#command = command;
    this.#limits = limits;
  }

  /** Resolves when the command has ended; never rejects. @param variables - its environment, besides that of this process. */
  async run(variables: Readonly<Record<string, string>>): Promise<CommandOutcome> {
    if (this.#running >= this.#limits.running) {
      if (this.#waiting.length >= this.#limits.waiting) return { ok: false, why: 'too many commands wait' };
      // The command that ends leaves its place to this one.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running++;
    try {
      return await this.#start(variables);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  #start(variables: Readonly<Record<string, string>>): Promise<CommandOutcome> {
    const { timeLimitMs } = this.#limits;
    return new Promise((resolve) => {
      // A group of its own: what it started is killed with it.
      const child = spawn('/bin/sh', ['-c', this.#command], {
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true,
        env: { ...process.env, ...variables },
      });
      let errorText = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        errorText = (errorText + text).slice(-MOST_ERROR_TEXT);
      });
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        killGroup(child.pid);
      }, timeLimitMs);
      const end = (why: string | undefined): void => {
        clearTimeout(timer);
        child.stderr.destroy();
        resolve(why === undefined ? { ok: true } : { ok: false, why });
      };
      child.on('error', (error) => end(error.message));
      child.on('exit', (code, signal) => {
        const how = isLate ? `it took more than ${timeLimitMs / 1000} s` : `it ended with ${signal ?? `exit code ${code}`}`;
        end(code === 0 ? undefined : [how, errorText.trim()].filter((part) => part !== '').join(': '));
      });
    });
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
