const POLL_INTERVAL_MS = 20;

/** Handles what has arrived at a socket, and returns how much it was. */
type Receive = () => number;

/**
 * Reads packet sockets; Node cannot tell when frames have arrived. It reads fifty times a second, and immediately again while
 * frames arrive, so that a flood is read before the kernel has to drop later frames.
 */
export class FramePolling {
  readonly #sockets = new Set<Receive>();
  #timer: NodeJS.Timeout | undefined;
  #isBusy = false;

  /** Reads a socket from now on. Returns a function that ends that. */
  add(receive: Receive): () => void {
    this.#sockets.add(receive);
    this.#timer ??= setInterval(() => this.#poll(), POLL_INTERVAL_MS);
    return () => {
      this.#sockets.delete(receive);
      if (this.#sockets.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #poll(): void {
    if (this.#isBusy) return;
    let frames = 0;
    for (const receive of this.#sockets) frames += receive();
    if (frames === 0) return;
    this.#isBusy = true;
    setImmediate(() => {
      this.#isBusy = false;
      this.#poll();
    });
  }
}
