import type { PacketCapture, PacketCaptures } from '@vmdhcp/dhcp-agent/packet-path';
import type { CaptureRequest } from './control-request.js';

export interface CaptureStreamSettings {
  readonly captures: PacketCaptures;
  readonly request: CaptureRequest;
  /** The full name of the requested pool. */
  readonly poolName: string;
  readonly interfaceNames: readonly string[];
  /** Ends the capture. */
  readonly signal: AbortSignal;
}

/**
 * The octets of a pcapng file, as packets pass, until a limit of the request or the signal ends it. Undefined if no further
 * capture may run.
 */
export function captureStream(settings: CaptureStreamSettings): AsyncIterable<Uint8Array> | undefined {
  const { captures, request, poolName, interfaceNames, signal } = settings;
  const readable = { wake: () => {} };
  const capture = captures.start({
    poolName,
    interfaceNames,
    macAddress: request.mac,
    mostPackets: request.packets,
    nowMs: wallClock(),
    onReadable: () => readable.wake(),
  });
  if (capture === undefined) return undefined;
  const stop = () => captures.stop(capture);
  const timer = setTimeout(stop, request.seconds * 1_000);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const finish = () => {
    clearTimeout(timer);
    stop();
  };
  return read(capture, readable, finish);
}

async function* read(capture: PacketCapture, readable: { wake: () => void }, finish: () => void): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const next = new Promise<void>((resolve) => {
        readable.wake = resolve;
      });
      const { hasEnded } = capture;
      const blocks = capture.take();
      if (blocks.length > 0) yield Buffer.concat(blocks);
      else if (hasEnded) return;
      else await next;
    }
  } finally {
    finish();
  }
}

/** The current time in milliseconds since 1970, with fractions from a monotonic clock. */
function wallClock(): () => number {
  const offset = Date.now() - performance.now();
  return () => offset + performance.now();
}
