import type { FrameHandler, FrameSocket } from '@vmdhcp/linux-sockets';

const POLL_INTERVAL_MS = 20;

type PolledSocket = Pick<FrameSocket, 'receive'>;

/**
 * Reads packet sockets; Node cannot tell when frames have arrived. It reads fifty times a second, and immediately again while
 * frames arrive, so that a flood is read before the kernel has to drop later frames.
 */
export class FramePolling {
  readonly #handlers = new Map<PolledSocket, FrameHandler>();
  #timer: NodeJS.Timeout | undefined;
  #isBusy = false;

  /** Reads the socket from now on. Returns a function that ends that. */
  add(socket: PolledSocket, handler: FrameHandler): () => void {
    this.#handlers.set(socket, handler);
    this.#timer ??= setInterval(() => this.#poll(), POLL_INTERVAL_MS);
    return () => {
      this.#handlers.delete(socket);
      if (this.#handlers.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #poll(): void {
    if (this.#isBusy) return;
    let frames = 0;
    for (const [socket, handler] of this.#handlers) frames += socket.receive(handler);
    if (frames === 0) return;
    this.#isBusy = true;
    setImmediate(() => {
      this.#isBusy = false;
      this.#poll();
    });
  }
}
