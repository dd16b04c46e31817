/** The connection of one process to the API server: requests and watches are slow, get lost and break, as over any network. */

import type { FakeProcess } from '@vmdhcp/dhcp-agent/testing';
import { type ApiRequest, ApiRequestError, type ApiTransport } from '@vmdhcp/kube-runtime/node';
import type { KubeSimulator } from '@vmdhcp/kube-simulator';
import type { Scheduler } from '../time/scheduler.js';

/** The fate of one request. `request`: it never arrives. `answer`: it takes effect, but its sender never learns of it. */
export type Loss = 'none' | 'request' | 'answer';

/** The network between a process and the API server. */
export interface ApiLink {
  /** True while nothing gets through. */
  readonly isCut: () => boolean;
  /** Called for each direction of each request. */
  readonly latencyMs: () => number;
  /** Called for each event of a watch; events stay in order. */
  readonly watchLagMs: () => number;
  /** Called for each event of a watch: if true, that watch brings nothing more, and does not end. */
  readonly hangs: () => boolean;
  readonly loss: () => Loss;
}

export interface TransportSettings {
  readonly scheduler: Scheduler;
  readonly simulator: KubeSimulator;
  readonly link: ApiLink;
  readonly process: Pick<FakeProcess, 'deliver' | 'settled' | 'timeMs'>;
  /** Returns the token of the ServiceAccount, for each request. */
  readonly token: () => string;
  readonly userAgent: string;
  readonly timeoutMs: number;
  /** Answers requests to KubeVirt's subresources, which an API server forwards. Default: there are none. */
  readonly subresource?: (path: string) => Promise<{ readonly status: number; readonly message: string }>;
}

const SUBRESOURCES = '/apis/subresources.kubevirt.io/';

/** A watch over a cut link ends by itself after this time, when the kernel gives up. */
const BROKEN_WATCH_MS = 15_000;

export class Transport implements ApiTransport {
  readonly #settings: TransportSettings;

  constructor(settings: TransportSettings) {
    this.#settings = settings;
  }

  request(request: ApiRequest): Promise<unknown> {
    const { scheduler, link, process, timeoutMs } = this.#settings;
    const what = `${request.method} ${request.path.split('?', 1)[0]}`;
    // A process that was frozen during a call sends when it wakes.
    const sentMs = process.timeMs - scheduler.nowMs();
    return process.settled(
      new Promise((resolve, reject) => {
        const callOff = scheduler.after(sentMs + timeoutMs, () =>
          reject(new ApiRequestError(`${what}: no answer within ${timeoutMs} ms`)),
        );
        const loss = link.loss();
        if (loss === 'request' || link.isCut()) return;
        scheduler.after(sentMs + link.latencyMs(), () => {
          if (link.isCut()) return;
          this.#exchange(request, (status, body) => {
            if (loss === 'answer' || link.isCut()) return;
            scheduler.after(link.latencyMs(), () => {
              callOff();
              settle({ what, status, body }, resolve, reject);
            });
          });
        });
      }),
    );
  }

  readonly stream: ApiTransport['stream'] = ({ path, accept }, handlers) => {
    const { scheduler, link, process } = this.#settings;
    let isOver = false;
    let lastAtMs = 0;
    let leave: () => void = () => undefined;
    const inOrder = (delayMs: number, run: () => void) => {
      lastAtMs = Math.max(lastAtMs, scheduler.nowMs() + delayMs);
      scheduler.after(lastAtMs - scheduler.nowMs(), () => {
        process.deliver(() => {
          if (!isOver) run();
        });
      });
    };
    const end = (error?: unknown) => {
      if (isOver) return;
      isOver = true;
      leave();
      handlers.onEnd(error);
    };
    const fail = () => inOrder(BROKEN_WATCH_MS, () => end(new ApiRequestError('the connection broke')));
    inOrder(link.latencyMs(), () => {
      if (link.isCut()) {
        fail();
        return;
      }
      leave = this.#watch({ path, accept }, { inOrder, end, fail, onLine: handlers.onLine });
    });
    return () => {
      isOver = true;
      leave();
    };
  };

  #watch(
    { path, accept }: { readonly path: string; readonly accept: string | undefined },
    { inOrder, end, fail, onLine }: Watching,
  ): () => void {
    const { simulator, link } = this.#settings;
    let status = 0;
    let refusal = '';
    let isBroken = false;
    let isHung = false;
    const take = (text: string) => {
      if (isBroken || isHung) return;
      if (link.hangs()) isHung = true;
      else if (link.isCut()) {
        // Lost events are not sent again, so the stream breaks.
        isBroken = true;
        fail();
      } else for (const line of text.split('\n')) if (line !== '') inOrder(link.watchLagMs(), () => onLine(line));
    };
    return simulator.exchange(
      { method: 'GET', path, headers: this.#headers({ accept }) },
      {
        onHead: (sent) => {
          status = sent;
        },
        onData: (part) => {
          if (status === 200) take(part.toString());
          else refusal += part.toString();
        },
        onEnd: (isComplete) => {
          if (isBroken || isHung) return;
          if (link.isCut()) fail();
          else if (status !== 200 && isComplete) inOrder(0, () => end(toError(`GET ${path}`, status, refusal)));
          else inOrder(link.latencyMs(), () => end(isComplete ? undefined : new ApiRequestError('connection reset')));
        },
      },
    );
  }

  #exchange({ method, path, body, contentType, accept }: ApiRequest, onAnswer: (status: number, body: string) => void): void {
    const { subresource } = this.#settings;
    if (subresource !== undefined && path.startsWith(SUBRESOURCES)) {
      void subresource(path).then(({ status, message }) => onAnswer(status, message && JSON.stringify({ message })));
      return;
    }
    let status = 0;
    let text = '';
    this.#settings.simulator.exchange(
      {
        method,
        path,
        headers: this.#headers({ contentType, accept }),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      },
      {
        onHead: (sent) => {
          status = sent;
        },
        onData: (part) => {
          text += part.toString();
        },
        onEnd: (isComplete) => {
          // Without an answer its sender waits until its time-out.
          if (isComplete) onAnswer(status, text);
        },
      },
    );
  }

  #headers({ contentType, accept }: { readonly contentType?: string | undefined; readonly accept?: string | undefined }) {
    const { token, userAgent } = this.#settings;
    return {
      authorization: `Bearer ${token()}`,
      'user-agent': userAgent,
      'content-type': contentType ?? 'application/json',
      accept: accept ?? 'application/json',
    };
  }
}

interface Watching {
  readonly inOrder: (delayMs: number, run: () => void) => void;
  readonly end: (error?: unknown) => void;
  readonly fail: () => void;
  readonly onLine: (line: string) => void;
}

interface Answered {
  readonly what: string;
  readonly status: number;
  readonly body: string;
}

function settle({ what, status, body }: Answered, resolve: (value: unknown) => void, reject: (error: unknown) => void): void {
  if (status >= 200 && status < 300) resolve(body === '' ? undefined : JSON.parse(body));
  else reject(toError(what, status, body));
}

function toError(what: string, status: number, body: string): ApiRequestError {
  const { reason, message } = parseStatus(body);
  return new ApiRequestError(`${what}: ${status} ${message ?? body}`, { status, ...(reason !== undefined && { reason }) });
}

function parseStatus(body: string): { readonly reason?: string; readonly message?: string } {
  try {
    return JSON.parse(body) as { readonly reason?: string; readonly message?: string };
  } catch {
    return {};
  }
}
