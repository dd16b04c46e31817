import { spawn } from 'node:child_process';

const MOST_RUNNING = 8;
const MOST_WAITING = 100;
const TIME_LIMIT_MS = 30_000;
/** The amount of error output that is logged. */
const MOST_ERROR_TEXT = 500;
/** How long commands may run on when the agent ends. */
const END_MS = 5_000;

export type CommandOutcome = { readonly ok: true } | { readonly ok: false; readonly why: string };

export interface WakeCommandLimits {
  /** Commands at the same time. */
  readonly running: number;
  /** Wake-ups that wait for one of them to end; more are refused. */
  readonly waiting: number;
  /** A command is killed after this time. */
  readonly timeLimitMs: number;
  /** When the agent ends, a running command is killed after this time. */
  readonly endMs: number;
}

const NOT_RUN = 'it was not run, because the agent is ending';

/** Runs the user's command for each wake-up, a few at a time. */
export class WakeCommand {
  readonly #command: string;
  readonly #limits: WakeCommandLimits;
  readonly #waiting: (() => void)[] = [];
  /** Functions that kill each running command. */
  readonly #kills = new Set<() => void>();
  #running = 0;
  #isStopped = false;
  #onIdle: () => void = () => {};

  /** @param command - a shell command. */
  constructor(
    command: string,
    limits: WakeCommandLimits = { running: MOST_RUNNING, waiting: MOST_WAITING, timeLimitMs: TIME_LIMIT_MS, endMs: END_MS },
  ) {
    this.#command = command;
    this.#limits = limits;
  }

  /**
   * Resolves when the command has ended; never rejects. @param variables - its environment, in addition to that of this process.
   */
  async run(variables: Readonly<Record<string, string>>): Promise<CommandOutcome> {
    if (this.#isStopped) return { ok: false, why: NOT_RUN };
    if (this.#running >= this.#limits.running) {
      if (this.#waiting.length >= this.#limits.waiting) return { ok: false, why: 'too many commands wait' };
      // The command that ends passes its slot to this one.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running++;
    try {
      return this.#isStopped ? { ok: false, why: NOT_RUN } : await this.#start(variables);
    } finally {
      this.#leave();
    }
  }

  /** Refuses waiting commands, and lets running ones end; resolves when nothing runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#running === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    for (const next of this.#waiting.splice(0)) {
      this.#running++;
      next();
    }
    const timer = setTimeout(() => {
      for (const kill of this.#kills) kill();
    }, this.#limits.endMs);
    await idle;
    clearTimeout(timer);
  }

  /** A command that ends passes its slot to a waiting one. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next();
      return;
    }
    this.#running--;
    if (this.#running === 0) this.#onIdle();
  }

  #start(variables: Readonly<Record<string, string>>): Promise<CommandOutcome> {
    const { timeLimitMs, endMs } = this.#limits;
    return new Promise((resolve) => {
      // A separate process group: its children are killed with it.
      const child = spawn('/bin/sh', ['-c', this.#command], {
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true,
        env: { ...process.env, ...variables },
      });
      let errorText = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        errorText = (errorText + text).slice(-MOST_ERROR_TEXT);
      });
      let killedAs: string | undefined;
      const killAs = (why: string): void => {
        killedAs = why;
        killGroup(child.pid);
      };
      const timer = setTimeout(() => killAs(`it took more than ${timeLimitMs / 1000} s`), timeLimitMs);
      const kill = (): void => killAs(`the agent is ending, and it took more than ${endMs / 1000} s`);
      this.#kills.add(kill);
      const end = (why: string | undefined): void => {
        clearTimeout(timer);
        this.#kills.delete(kill);
        child.stderr.destroy();
        resolve(why === undefined ? { ok: true } : { ok: false, why });
      };
      child.on('error', (error) => end(error.message));
      child.on('exit', (code, signal) => {
        const how = killedAs ?? `it ended with ${signal ?? `exit code ${code}`}`;
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
