/** The leases of a leader: opened when leadership begins, with retries, and closed before another replica may have them. */
import type { Clock } from '@vmdhcp/kube-runtime';
import type { Logger } from '@vmdhcp/service-process';

const RETRY_INTERVAL_MS = 500;

/** What is opened and closed. */
export interface Closable {
  readonly close: () => Promise<void>;
}

export interface TermLeasesPorts<Leases extends Closable> {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
  /** Rejects if they cannot be opened: another replica may still have to close them. */
  readonly open: () => Promise<Leases>;
  /** Called when they are open, or closed again (undefined). */
  readonly onChange: (leases: Leases | undefined) => void;
}

export class TermLeases<Leases extends Closable> {
  readonly #ports: TermLeasesPorts<Leases>;
  #isWanted = false;
  #leases: Leases | undefined;
  #problem: string | undefined;
  /** The problem that was logged, including the one of a former leadership: it is one line until leases are open. */
  #logged: string | undefined;
  #settling: Promise<void> | undefined;
  #wake: () => void = () => undefined;

  constructor(ports: TermLeasesPorts<Leases>) {
    this.#ports = ports;
  }

  /** Undefined if not opened yet, or given back. */
  get current(): Leases | undefined {
    return this.#isWanted ? this.#leases : undefined;
  }

  /** Why they cannot be opened; undefined if they can, or are not wanted. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Opens them as soon as that is possible. */
  open(): void {
    this.#isWanted = true;
    void this.#settle();
  }

  /** Resolves when they are closed. `current` is undefined from this call on. */
  async release(): Promise<void> {
    if (this.#isWanted) this.#ports.onChange(undefined);
    this.#isWanted = false;
    this.#wake();
    await this.#settle();
  }

  #settle(): Promise<void> {
    this.#settling ??= this.#run().finally(() => {
      this.#settling = undefined;
    });
    return this.#settling;
  }

  async #run(): Promise<void> {
    while (this.#isWanted !== (this.#leases !== undefined)) {
      if (this.#isWanted) await this.#open();
      else await this.#close();
    }
    this.#problem = undefined;
  }

  async #open(): Promise<void> {
    try {
      this.#leases = await this.#ports.open();
      this.#problem = undefined;
      this.#logged = undefined;
      if (this.#isWanted) this.#ports.onChange(this.#leases);
    } catch (error) {
      const problem = `leases cannot be opened: ${error instanceof Error ? error.message : String(error)}`;
      if (problem !== this.#logged) this.#ports.logger.warn(`${problem}; no client gets an answer; trying again`);
      this.#problem = problem;
      this.#logged = problem;
      await this.#pause();
    }
  }

  async #close(): Promise<void> {
    const leases = this.#leases;
    this.#leases = undefined;
    try {
      await leases?.close();
    } catch (error) {
      this.#ports.logger.warn({ err: error }, 'leases could not be closed; what was acknowledged is recorded');
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const callOff = this.#ports.clock.after(RETRY_INTERVAL_MS, resolve);
      this.#wake = () => {
        callOff();
        resolve();
      };
    });
  }
}
