/**
 * Decisions take turns: one in each turn of the event loop, and of the addresses that wait one after another. After a long one as much time is left to
 * connections. So a host that sends many large requests waits for itself, and others are served in between.
 */
/** What takes less leaves connections time enough. */
const LONG_MS = 5;

export class FairTurns {
  /** By address; the address whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isUnderWay = false;

  /** Resolves when it is the turn of this address. */
  async take(address: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const ofAddress = this.#waiting.get(address) ?? [];
    ofAddress.push(resolve);
    this.#waiting.set(address, ofAddress);
    if (!this.#isUnderWay) setImmediate(() => this.#next());
    this.#isUnderWay = true;
    await promise;
  }

  #next(): void {
    const [first] = this.#waiting;
    this.#isUnderWay = first !== undefined;
    if (first === undefined) return;
    const [address, waiting] = first;
    const resolve = waiting.shift();
    this.#waiting.delete(address);
    if (waiting.length > 0) this.#waiting.set(address, waiting);
    const begunMs = performance.now();
    resolve?.();
    // What is done in a turn is done when this runs.
    setImmediate(() => {
      const tookMs = performance.now() - begunMs;
      if (tookMs < LONG_MS) this.#next();
      else setTimeout(() => this.#next(), tookMs);
    });
  }
}
