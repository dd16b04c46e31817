import { formatTime } from '@vmdhcp/kube-runtime';
import type { OperationOutcome } from './operation-attempts.js';
import type { OperationStep } from './operation-plan.js';
import type { ReadOperation } from './read-operation.js';

/** Records the outcome of an operation, at the version that was seen. */
export function recordResult(
  { object, name, uid }: ReadOperation,
  { isSuccess, message }: OperationOutcome,
  nowMs: number,
): OperationStep {
  return {
    kind: 'record-result',
    name,
    resourceVersion: object.metadata.resourceVersion,
    patch: { status: { status: isSuccess ? 'success' : 'failure', message, lastUpdateTime: formatTime(nowMs) } },
    events: [
      {
        regarding: { kind: 'HostOperation', name, uid },
        event: isSuccess
          ? { type: 'Normal', reason: 'OperationSucceeded', message }
          : { type: 'Warning', reason: 'OperationFailed', message },
      },
    ],
  };
}
