import { resolve4 } from 'node:dns/promises';

const REFRESH_INTERVAL_MS = 10 * 60_000;
const RETRY_INTERVAL_MS = 15_000;

/**
 * Addresses of NTP servers that pools give by name. Clients only receive what is known at the moment: names are
 * resolved outside of the packet path, and `onChange` is called when that changed something.
 */
export class NtpNames {
  readonly #known = new Map<string, readonly string[]>();
  readonly #onChange: () => void;
  readonly #onFailure: (name: string, error: Error) => void;
  #wanted: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(events: { readonly onChange: () => void; readonly onFailure: (name: string, error: Error) => void }) {
    this.#onChange = events.onChange;
    this.#onFailure = events.onFailure;
  }

  get known(): ReadonlyMap<string, readonly string[]> {
    return this.#known;
  }

  /** Looks up these names from now on, and no others. */
  want(names: ReadonlySet<string>): void {
    const hasNew = [...names].some((name) => !this.#wanted.has(name));
    this.#wanted = names;
    if (hasNew) void this.#lookUp();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #lookUp(): Promise<void> {
    clearTimeout(this.#timer);
    const results = await Promise.all([...this.#wanted].map((name) => this.#lookUpOne(name)));
    if (this.#stopped) return;
    if (results.includes('changed')) this.#onChange();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#lookUp(), results.includes('failed') ? RETRY_INTERVAL_MS : REFRESH_INTERVAL_MS);
    this.#timer.unref();
  }

  async #lookUpOne(name: string): Promise<'changed' | 'same' | 'failed'> {
    try {
      const addresses = (await resolve4(name)).toSorted();
      if (addresses.join() === this.#known.get(name)?.join()) return 'same';
      this.#known.set(name, addresses);
      return 'changed';
    } catch (error) {
      if (!this.#stopped) this.#onFailure(name, error as Error);
      return 'failed';
    }
  }
}
