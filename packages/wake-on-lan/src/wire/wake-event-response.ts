/** `wol.v1.WOLEventResponse`: an answer on the wire. */
import { WAKE_STATUSES, type WakeAnswer, type WakeStatus } from '../report/wake-report.js';

/** In the form of @grpc/proto-loader. */
export interface WakeEventResponse {
  /** A name of the enum; a number if this version does not know it. */
  readonly status: string | number;
  readonly message: string;
  readonly vm_info?: { readonly name: string; readonly namespace: string; readonly current_state: string } | null;
  readonly was_duplicate: boolean;
  readonly processing_time_ms: number;
}

/** The limit of a message for people. */
const MOST_MESSAGE = 500;

export function encodeWakeEventResponse(answer: WakeAnswer): WakeEventResponse {
  const { machine } = answer;
  return {
    status: WAKE_STATUSES.indexOf(answer.status),
    message: answer.message,
    ...(machine !== undefined && {
      vm_info: { name: machine.name, namespace: machine.namespace, current_state: machine.currentState },
    }),
    was_duplicate: answer.wasDuplicate,
    processing_time_ms: Math.max(0, Math.round(answer.processingTimeMs)),
  };
}

/** A status that this version does not know is `unknown`. */
export function decodeWakeEventResponse(response: WakeEventResponse): WakeAnswer {
  const { vm_info: machine } = response;
  return {
    status: toStatus(response.status),
    message: response.message.slice(0, MOST_MESSAGE),
    ...(machine !== undefined &&
      machine !== null && {
        machine: { namespace: machine.namespace, name: machine.name, currentState: machine.current_state },
      }),
    wasDuplicate: response.was_duplicate,
    processingTimeMs: Number(response.processing_time_ms),
  };
}

function toStatus(status: string | number): WakeStatus {
  if (typeof status === 'number') return WAKE_STATUSES[status] ?? 'unknown';
  const spelled = status.toLowerCase().replaceAll('_', '-');
  return WAKE_STATUSES.find((known) => known === spelled) ?? 'unknown';
}
