import { describeAnswer } from '../resource/describe-answer.js';
import { type RedfishResource, textAt } from '../resource/resource.js';

/** The state of a task. */
export type TaskState =
  | { readonly kind: 'running' }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string };

const RUNNING: ReadonlySet<string> = new Set([
  'New',
  'Starting',
  'Running',
  'Pending',
  'Service',
  'Suspended',
  'Stopping',
  'Interrupted',
  'Cancelling',
]);

/**
 * The state of a task, from the answer of its monitor: HTTP 202 while it runs, then the answer of the action. Some services answer 200 with the task
 * itself, which then decides.
 *
 * @param body - undefined if empty.
 * @param redact - removes credentials from the text of the service.
 */
export function taskState(status: number, body: RedfishResource | undefined, redact: (text: string) => string): TaskState {
  const state = textAt(body, 'TaskState');
  if (state === undefined) return status === 202 ? { kind: 'running' } : { kind: 'done' };
  if (RUNNING.has(state)) return { kind: 'running' };
  const health = textAt(body, 'TaskStatus');
  if (state === 'Completed' && health !== 'Critical') return { kind: 'done' };
  const text = describeAnswer(body, redact);
  return { kind: 'failed', message: text === undefined ? `the task ended as ${state}` : `the task ended as ${state}: ${text}` };
}
