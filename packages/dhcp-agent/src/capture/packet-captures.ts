import { type CaptureSettings, PacketCapture, type PassingPacket } from './packet-capture.js';

const MOST_CAPTURES = 4;

/** The captures that run now. While there is none, no packet is copied. */
export class PacketCaptures {
  readonly #running = new Set<PacketCapture>();

  /** If false, `note` need not be called. */
  get isActive(): boolean {
    return this.#running.size > 0;
  }

  /** Begins a capture, which ends with `stop`. Undefined if the maximum is running already. */
  start(settings: CaptureSettings): PacketCapture | undefined {
    if (this.#running.size >= MOST_CAPTURES) return undefined;
    const capture = new PacketCapture(settings);
    this.#running.add(capture);
    return capture;
  }

  stop(capture: PacketCapture): void {
    capture.end();
    this.#running.delete(capture);
  }

  /** @param packet - captures that match copy its octets. */
  note(packet: PassingPacket): void {
    for (const capture of this.#running) capture.note(packet);
  }
}
