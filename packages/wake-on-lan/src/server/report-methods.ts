/** The methods that accept reports. */
import { type ServerDuplexStream, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import type { ReportOutcome, WakeAnswer } from '../report/wake-report.js';
import type { WolHandler } from '../report/wol-handler.js';
import { decodeWakeEvent, type WakeEvent } from '../wire/wake-event.js';
import { encodeWakeEventResponse, type WakeEventResponse } from '../wire/wake-event-response.js';
import { type Failure, later, notLeading, unavailable } from './failure.js';
import type { WolServerEvent } from './wol-server-event.js';

const MOST_UNDER_WAY = 1_024;
/** Agents wait for five seconds. */
const TIME_LIMIT_MS = 10_000;

type Reply =
  | { readonly kind: 'answer'; readonly answer: WakeAnswer }
  | { readonly kind: 'malformed'; readonly problems: readonly string[] }
  | { readonly kind: 'failure'; readonly failure: Failure };

export class ReportMethods {
  readonly #handler: WolHandler;
  readonly #observe: (event: WolServerEvent) => void;
  #underWay = 0;

  constructor(handler: WolHandler, observe: (event: WolServerEvent) => void) {
    this.#handler = handler;
    this.#observe = observe;
  }

  readonly report = (call: ServerUnaryCall<WakeEvent, WakeEventResponse>, respond: sendUnaryData<WakeEventResponse>): void => {
    void this.#reply(call.request).then((reply) => {
      if (reply.kind === 'answer') respond(null, encodeWakeEventResponse(reply.answer));
      else if (reply.kind === 'failure') respond(reply.failure);
      else respond({ code: status.INVALID_ARGUMENT, details: reply.problems.join('; ') });
    });
  };

  /** One after the other: the next one waits in the socket during a decision. */
  readonly reportStream = (call: ServerDuplexStream<WakeEvent, WakeEventResponse>): void => {
    call.on('data', (event: WakeEvent) => {
      call.pause();
      void this.#reply(event).then((reply) => {
        if (reply.kind === 'failure') {
          call.emit('error', reply.failure);
          return;
        }
        // A malformed event does not end the others.
        const answer = reply.kind === 'answer' ? reply.answer : toErrorAnswer(reply.problems);
        // Answers that the client does not read would fill the memory: the next event is read after they are sent.
        if (call.write(encodeWakeEventResponse(answer))) call.resume();
        else call.once('drain', () => call.resume());
      });
    });
    call.on('end', () => call.end());
    call.on('error', () => call.end());
  };

  /** Never rejects. */
  async #reply(event: WakeEvent): Promise<Reply> {
    const decoded = decodeWakeEvent(event, Date.now());
    if (!decoded.ok) {
      this.#observe({ kind: 'report-malformed', problems: decoded.problems });
      return { kind: 'malformed', problems: decoded.problems };
    }
    if (this.#underWay >= MOST_UNDER_WAY)
      return { kind: 'failure', failure: unavailable(`${MOST_UNDER_WAY} reports are being decided; try again`) };
    this.#underWay++;
    try {
      const outcome = await withinTime(this.#handler.report(decoded.report));
      if (outcome.kind === 'answered') return { kind: 'answer', answer: outcome.answer };
      return { kind: 'failure', failure: toFailure(outcome) };
    } catch (error) {
      this.#observe({ kind: 'report-failed', error });
      return { kind: 'failure', failure: unavailable('the manager failed to decide; its log has the error') };
    } finally {
      this.#underWay--;
    }
  }
}

function toFailure(outcome: Exclude<ReportOutcome, { readonly kind: 'answered' }>): Failure {
  switch (outcome.kind) {
    case 'not-leading':
      return notLeading(outcome.leader);
    case 'later':
      return later(outcome.message);
    case 'unavailable':
      return unavailable(outcome.message);
  }
}

function toErrorAnswer(problems: readonly string[]): WakeAnswer {
  return { status: 'error', message: problems.join('; '), wasDuplicate: false, processingTimeMs: 0 };
}

async function withinTime<Value>(decided: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no decision within ${TIME_LIMIT_MS / 1000} s`)), TIME_LIMIT_MS);
  });
  try {
    return await Promise.race([decided, late]);
  } finally {
    clearTimeout(timer);
  }
}
