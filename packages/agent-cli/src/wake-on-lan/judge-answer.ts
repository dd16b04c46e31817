import type { DeliveryOutcome, WakeAnswer, WakeStatus } from '@vmdhcp/wol-service';

/** What a manager answered, for good. */
export type ReportAnswer = Exclude<DeliveryOutcome, { readonly kind: 'later' | 'unavailable' }>;

/** What an answer means for the agent. */
export interface Verdict {
  /** True: further packets within the window are the same wake-up. False: the next packet is a wake-up again, as often as the limit of its machine allows. */
  readonly isAccepted: boolean;
  /** For the metric: a status, or `malformed`. */
  readonly outcome: WakeStatus | 'malformed';
  readonly message: string;
}

const ACCEPTED: Readonly<Record<WakeStatus, boolean>> = {
  accepted: true,
  // Another agent reported it, or its answer was lost.
  duplicate: true,
  'vm-start-initiated': true,
  'vm-already-running': true,
  // It may get this address in a moment.
  'vm-not-found': false,
  // The manager tried, and the API server refused, for example.
  error: false,
  // A status of a later version, or none: that the machine was started is not known.
  unknown: false,
};

export function judgeAnswer(answer: ReportAnswer): Verdict {
  if (answer.kind === 'malformed') return { isAccepted: false, outcome: 'malformed', message: answer.message };
  const { status } = answer.answer;
  return { isAccepted: ACCEPTED[status], outcome: status, message: describeAnswer(answer.answer) };
}

function describeAnswer({ status, machine, message }: WakeAnswer): string {
  const name = machine === undefined ? '' : ` ${machine.namespace}/${machine.name}`;
  return `${status}${name}${message === '' ? '' : `: ${message}`}`;
}
