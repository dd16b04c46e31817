/**
 * Makes decisions take turns: one in each turn of the event loop, from one waiting address after another. After a long decision,
 * connections get as much time. So a host that sends many large requests waits only for itself, and others are served in between.
 */
/** A shorter decision leaves enough time for connections. */
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
    // This runs after the work of the turn.
    setImmediate(() => {
      const tookMs = performance.now() - begunMs;
      if (tookMs < LONG_MS) this.#next();
      else setTimeout(() => this.#next(), tookMs);
    });
  }
}
