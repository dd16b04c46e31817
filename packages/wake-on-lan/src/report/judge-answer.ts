import type { DeliveryOutcome } from './manager-client.js';
import type { WakeAnswer, WakeStatus } from './wake-report.js';

/** The final answer of a manager. */
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
  // The machine may be shut down right after that.
  'vm-already-running': 'moment',
  // A machine may get this address soon.
  'vm-not-found': 'no',
  // For example, the manager tried, and the API server refused.
  error: 'no',
  // A status of a later version, or none: it is not known whether the machine was started.
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
