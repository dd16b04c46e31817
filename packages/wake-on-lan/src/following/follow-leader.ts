/**
 * Which manager an agent talks to. Its configured address is that of a Service, behind which any manager may answer; one that does not lead names the leader. A
 * leader that is not reached is asked for again at the Service.
 */
import { reconnectPauseMs } from './reconnect-pause.js';

export interface FollowingState {
  /** host:port. */
  readonly target: string;
  /** Tries in a row without an answer of a leader. */
  readonly failures: number;
  /** Managers in a row that named another one: two that name each other must not send agents to and fro without end. */
  readonly redirects: number;
}

export type FollowingEvent =
  /** The target leads. */
  | { readonly kind: 'leads' }
  | { readonly kind: 'not-leading'; readonly leader: string | undefined }
  | { readonly kind: 'unreachable' };

export interface FollowingStep {
  readonly state: FollowingState;
  /** Milliseconds; 0: at once. */
  readonly retryAfterMs: number;
}

const MOST_REDIRECTS = 3;
/** `host:port`, with an IPv6 address in brackets. What a peer names is not passed on unread. */
const ADDRESS = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9](?:[-.A-Za-z0-9]{0,251}[A-Za-z0-9])?):([1-9]\d{0,4})$/;

/** @param service - host:port of the Service. */
export function startFollowing(service: string): FollowingState {
  return { target: service, failures: 0, redirects: 0 };
}

/** What follows from an event of the current target. @param random - 0 to 1. */
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
    // A connection that was well has ended, by its age for example.
    return { state: { target: service, failures, redirects: 0 }, retryAfterMs: 0 };
  }
  return { state: { target: service, failures, redirects: 0 }, retryAfterMs: reconnectPauseMs(failures, random) };
}

/** True: `host:port` with a port of 1 to 65535. */
export function isAddress(text: string): boolean {
  const port = ADDRESS.exec(text)?.[1];
  return port !== undefined && Number(port) <= 65_535;
}
