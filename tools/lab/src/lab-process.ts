import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from './deadline.js';
import { SYSTEM_PATH } from './real-program.js';

/**
 * A process ends before its last output is read. The output of a process that leaves children behind, as DHCP clients do, does not end: wait for it
 * no longer than this.
 */
const LAST_OUTPUT_MS = 1_000;

/** Where Node keeps compiled code for the next start of the same program: `npm test` sets it for the time of its run. */
const { NODE_COMPILE_CACHE } = process.env;
const COMPILE_CACHE = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };

export interface ProcessSettings {
  readonly env?: Readonly<Record<string, string>>;
  /** Called for each line of its output, as it comes. */
  readonly onLine?: (line: string) => void;
}

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program that a lab started, and its output so far. */
export class LabProcess {
  /** Standard output and standard error, line by line. */
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ending>;
  readonly #onLine: ((line: string) => void) | undefined;
  #ending: Ending | undefined;
  #rest = '';

  constructor(command: string, parameters: readonly string[], { env, onLine }: ProcessSettings = {}) {
    this.#onLine = onLine;
    // DHCP clients pass their environment to scripts, so keep it small.
    this.#child = spawn(command, [...parameters], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: SYSTEM_PATH, LANG: 'C.UTF-8', ...COMPILE_CACHE, ...env },
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    const closed = once(this.#child, 'close').catch(() => undefined);
    this.#ended = once(this.#child, 'exit').then(async ([code, signal]) => {
      const ending: Ending = { code, signal };
      this.#ending = ending;
      await Promise.race([closed, delay(LAST_OUTPUT_MS, undefined, { ref: false })]);
      return ending;
    });
    // A caller that waits gets the error; no caller has to wait.
    this.#ended.catch(() => undefined);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves when it has ended and its output is read. @throws Error with the last lines if it has not ended by then. */
  async ended(timeoutMs = 40_000): Promise<Ending> {
    await waitFor(
      `the end of ${this.#child.spawnargs.join(' ')}\n${this.lines.slice(-20).join('\n')}`,
      () => this.#ending,
      timeoutMs,
    );
    return this.#ended;
  }

  /** The first line that contains `text`, including earlier lines. */
  async line(text: string, timeoutMs?: number): Promise<string> {
    return this.matching(text, (line) => line.includes(text), timeoutMs);
  }

  async matching(what: string, matches: (line: string) => boolean, timeoutMs = 40_000): Promise<string> {
    try {
      return await waitFor(`a line with ${what}`, () => this.lines.find(matches), timeoutMs);
    } catch (error) {
      throw new Error(`${(error as Error).message}; the last lines are:\n${this.lines.slice(-20).join('\n')}`, { cause: error });
    }
  }

  /** Ends it: asked first, then killed. */
  async stop(): Promise<void> {
    if (this.hasEnded) return;
    this.kill('SIGTERM');
    await this.ended(5_000).catch(() => {
      this.kill('SIGKILL');
      return this.#ended;
    });
  }

  #read(text: string): void {
    const parts = (this.#rest + text).split('\n');
    this.#rest = parts.pop() ?? '';
    for (const line of parts) {
      this.lines.push(line);
      this.#onLine?.(line);
    }
  }
}
