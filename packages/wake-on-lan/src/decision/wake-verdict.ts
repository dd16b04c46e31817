/** The decision about a report, and its consequences: the status of the answer, the Event, and for how long it is remembered. */
import type { ReasonAt } from '@vmdhcp/ippool-api';
import type { EventRegarding } from '@vmdhcp/kube-runtime';
import type { NoActionReason, WakeUpRefusalReason } from '../machine/plan-wake-up.js';
import type { WakeStatus, WokenMachine } from '../report/wake-report.js';

/** Why it was decided so: one word for metric and log. */
export type WakeReason =
  | NoActionReason
  | WakeUpRefusalReason
  | 'start-accepted'
  | 'unpause-accepted'
  | 'stopping'
  /** It is one more packet of a wake-up that was decided, or is being decided. */
  | 'repeated'
  /** No configuration allows a machine by this address, or there is none. */
  | 'not-allowed'
  /** Each configuration that allows a machine by this address requires a password, which the agent has not checked. */
  | 'password-not-checked'
  /** The machine was deleted meanwhile. */
  | 'machine-gone'
  | 'ambiguous-address'
  | 'malformed-address'
  | 'too-many-of-sender'
  | 'too-many-of-machine'
  | 'too-many-of-all'
  | 'too-many-under-way'
  | 'too-many-waiting'
  | 'not-leading'
  | 'not-synced'
  | 'process-ends'
  /** The API server refused a request: a right is missing. */
  | 'forbidden'
  /** The API server does not have the object, or the subresource. */
  | 'not-found'
  | 'conflict'
  | 'invalid'
  /** The API server did not respond, or could not. */
  | 'api-unavailable'
  /** A bug. */
  | 'fault'
  | 'not-down-in-time'
  | 'leadership-lost'
  | 'no-longer-allowed';

interface OutcomeRule {
  /** `again`: the agent will report it again. */
  readonly status: WakeStatus | 'again';
  readonly event?:
    | { readonly type: 'Normal'; readonly reason: ReasonAt<'Normal Event on VirtualMachine'> }
    | { readonly type: 'Warning'; readonly reason: ReasonAt<'Warning Event on VirtualMachine'> };
  /**
   * Remembered for the window of a wake-up; for the moment in which other nodes report the same packet; or not at all, so that
   * the next report is decided again.
   */
  readonly remembered: 'window' | 'moment' | 'no';
}

/** All outcomes of a report. */
export const OUTCOMES = {
  started: { status: 'vm-start-initiated', event: { type: 'Normal', reason: 'WakeUpStarted' }, remembered: 'window' },
  unpaused: { status: 'vm-start-initiated', event: { type: 'Normal', reason: 'WakeUpUnpaused' }, remembered: 'window' },
  waiting: { status: 'accepted', event: { type: 'Normal', reason: 'WakeUpWaiting' }, remembered: 'window' },
  starting: { status: 'accepted', event: { type: 'Normal', reason: 'WakeUpNotNeeded' }, remembered: 'window' },
  running: { status: 'vm-already-running', event: { type: 'Normal', reason: 'WakeUpNotNeeded' }, remembered: 'moment' },
  refused: { status: 'error', event: { type: 'Warning', reason: 'WakeUpRefused' }, remembered: 'moment' },
  failed: { status: 'error', event: { type: 'Warning', reason: 'WakeUpFailed' }, remembered: 'moment' },
  ambiguous: { status: 'error', event: { type: 'Warning', reason: 'WakeUpAmbiguous' }, remembered: 'moment' },
  unavailable: { status: 'again', event: { type: 'Warning', reason: 'WakeUpFailed' }, remembered: 'no' },
  limited: { status: 'again', remembered: 'no' },
  'not-leading': { status: 'again', remembered: 'no' },
  'not-synced': { status: 'again', remembered: 'no' },
  'not-found': { status: 'vm-not-found', remembered: 'no' },
  malformed: { status: 'error', remembered: 'no' },
  duplicate: { status: 'duplicate', remembered: 'no' },
  /** For a machine whose start had to wait. */
  abandoned: { status: 'error', event: { type: 'Warning', reason: 'WakeUpAbandoned' }, remembered: 'no' },
} as const satisfies Readonly<Record<string, OutcomeRule>>;

/** What was decided about a wake-up. */
export type WakeOutcome = keyof typeof OUTCOMES;

/** A decision. */
export interface WakeVerdict {
  readonly outcome: WakeOutcome;
  readonly reason: WakeReason;
  /** For people: what was done, or what to do. Without a full stop. */
  readonly message: string;
  readonly machine?: WokenMachine;
  /** Names of the WolConfigs that allow a machine by this address; absent if none does, or none was checked. */
  readonly configs?: readonly string[];
  /** `namespace/name` of the machines that have the address, if there are several. */
  readonly sameAddress?: readonly string[];
  /** The object of an Event; absent if no machine was read. */
  readonly regarding?: readonly EventRegarding[];
}

/** The rule of an outcome. */
export function ruleOf(outcome: WakeOutcome): OutcomeRule {
  return OUTCOMES[outcome];
}
