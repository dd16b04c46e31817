import { resolve4 } from 'node:dns/promises';
import type { Clock } from '@vmdhcp/kube-runtime';
import { systemClock } from '@vmdhcp/kube-runtime/node';

const REFRESH_INTERVAL_MS = 10 * 60_000;
const RETRY_INTERVAL_MS = 15_000;

export interface NtpNamesSettings {
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** The IPv4 addresses of a name; default: by DNS. Rejects if there are none. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  readonly onChange: () => void;
  readonly onFailure: (name: string, error: Error) => void;
}

/**
 * Resolves the names of NTP servers in pools. Clients receive only the addresses that are known at the moment: names are resolved
 * outside the packet path, and `onChange` is called when an address changed.
 */
export class NtpNames {
  readonly #settings: NtpNamesSettings;
  readonly #known = new Map<string, readonly string[]>();
  #wanted: ReadonlySet<string> = new Set();
  #callOff: () => void = () => undefined;
  /** The last look-up; an earlier one that ends later sets no timer. */
  #round = 0;

  constructor(settings: NtpNamesSettings) {
    this.#settings = settings;
  }

  get known(): ReadonlyMap<string, readonly string[]> {
    return this.#known;
  }

  /** Resolves only these names from now on. */
  want(names: ReadonlySet<string>): void {
    const hasNew = [...names].some((name) => !this.#wanted.has(name));
    this.#wanted = names;
    if (hasNew) void this.#lookUp();
  }

  stop(): void {
    this.#round = Number.POSITIVE_INFINITY;
    this.#callOff();
  }

  async #lookUp(): Promise<void> {
    const { clock = systemClock, onChange } = this.#settings;
    this.#callOff();
    const round = ++this.#round;
    const results = await Promise.all([...this.#wanted].map((name) => this.#lookUpOne(name)));
    if (this.#isStopped) return;
    if (results.includes('changed')) onChange();
    if (round !== this.#round) return;
    const delayMs = results.includes('failed') ? RETRY_INTERVAL_MS : REFRESH_INTERVAL_MS;
    this.#callOff = clock.after(delayMs, () => void this.#lookUp());
  }

  async #lookUpOne(name: string): Promise<'changed' | 'same' | 'failed'> {
    const { resolve = resolve4, onFailure } = this.#settings;
    try {
      const addresses = (await resolve(name)).toSorted();
      if (addresses.join() === this.#known.get(name)?.join()) return 'same';
      this.#known.set(name, addresses);
      return 'changed';
    } catch (error) {
      if (!this.#isStopped) onFailure(name, error as Error);
      return 'failed';
    }
  }

  get #isStopped(): boolean {
    return this.#round === Number.POSITIVE_INFINITY;
  }
}
