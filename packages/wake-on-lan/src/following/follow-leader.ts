/**
 * Decides which manager an agent connects to. Its configured address is that of a Service, behind which any manager may respond;
 * one that is not leader names the leader. If the leader cannot be reached, the agent returns to the Service.
 */
import { reconnectPauseMs } from './reconnect-pause.js';

export interface FollowingState {
  /** host:port. */
  readonly target: string;
  /** Tries in a row without an answer of a leader. */
  readonly failures: number;
  /** Redirects in a row: two managers that name each other must not send agents back and forth without end. */
  readonly redirects: number;
}

export type FollowingEvent =
  /** The target is leader. */
  | { readonly kind: 'leads' }
  | { readonly kind: 'not-leading'; readonly leader: string | undefined }
  | { readonly kind: 'unreachable' };

export interface FollowingStep {
  readonly state: FollowingState;
  /** Milliseconds; 0: at once. */
  readonly retryAfterMs: number;
}

const MOST_REDIRECTS = 3;
/** `host:port`, with an IPv6 address in brackets. A name from a peer is validated before it is used. */
const ADDRESS = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9](?:[-.A-Za-z0-9]{0,251}[A-Za-z0-9])?):([1-9]\d{0,4})$/;

/** @param service - host:port of the Service. */
export function startFollowing(service: string): FollowingState {
  return { target: service, failures: 0, redirects: 0 };
}

/** The consequence of an event of the current target. @param random - 0 to 1. */
export function followLeader(
  { state, service }: { readonly state: FollowingState; readonly service: string },
  event: FollowingEvent,
  random: number,
): FollowingStep {
  if (event.kind === 'leads') return { state: { target: state.target, failures: 0, redirects: 0 }, retryAfterMs: 0 };
  const failures = state.failures + 1;
  if (event.kind === 'not-leading') {
    const { leader } = event;
    const isElsewhere = leader !== undefined && leader !== state.target && isAddress(leader);
    if (isElsewhere && state.redirects < MOST_REDIRECTS)
      return { state: { target: leader, failures: state.failures, redirects: state.redirects + 1 }, retryAfterMs: 0 };
  } else if (state.failures === 0) {
    // A good connection has ended, for example because of its age.
    return { state: { target: service, failures, redirects: 0 }, retryAfterMs: 0 };
  }
  return { state: { target: service, failures, redirects: 0 }, retryAfterMs: reconnectPauseMs(failures, random) };
}

/** True for `host:port` with a port of 1 to 65535. */
export function isAddress(text: string): boolean {
  const port = ADDRESS.exec(text)?.[1];
  return port !== undefined && Number(port) <= 65_535;
}
