import type { DeliveryOutcome } from './manager-client.js';
import type { WakeAnswer, WakeStatus } from './wake-report.js';

/** What a manager answered, for good. */
export type ReportAnswer = Exclude<DeliveryOutcome, { readonly kind: 'later' | 'unavailable' }>;

/** What an answer means for the agent. */
export interface AnswerVerdict {
  /** For how long further packets are the same wake-up. `no`: the next packet is a wake-up again, as often as the limit of its machine allows. */
  readonly remembered: Remembered;
  /** For the metric: a status, or `malformed`. */
  readonly outcome: WakeStatus | 'malformed';
  readonly message: string;
}

type Remembered = 'window' | 'moment' | 'no';

const REMEMBERED: Readonly<Record<WakeStatus, Remembered>> = {
  accepted: 'window',
  // Another agent reported it, or its answer was lost.
  duplicate: 'window',
  'vm-start-initiated': 'window',
  // It may be shut down right after that.
  'vm-already-running': 'moment',
  // It may get this address in a moment.
  'vm-not-found': 'no',
  // The manager tried, and the API server refused, for example.
  error: 'no',
  // A status of a later version, or none: that the machine was started is not known.
  unknown: 'no',
};

export function judgeAnswer(answer: ReportAnswer): AnswerVerdict {
  if (answer.kind === 'malformed') return { remembered: 'no', outcome: 'malformed', message: answer.message };
  const { status } = answer.answer;
  return { remembered: REMEMBERED[status], outcome: status, message: describeAnswer(answer.answer) };
}

function describeAnswer({ status, machine, message }: WakeAnswer): string {
  const name = machine === undefined ? '' : ` ${machine.namespace}/${machine.name}`;
  return `${status}${name}${message === '' ? '' : `: ${message}`}`;
}
