/**
 * The leadership of a replica, as a value with no state in between. The time is a parameter, so a process that was frozen knows that it is no longer
 * leader before the first of its timers runs.
 */
export type Leadership =
  /** Another replica may be leader. */
  | { readonly kind: 'standby' }
  /** This replica is leader: no other one can be before `untilMs`. */
  | { readonly kind: 'leading'; readonly untilMs: number }
  /** Stepped down for a replica that can do better: others go first until `untilMs`. */
  | { readonly kind: 'resigned'; readonly untilMs: number }
  /** The process ends: never leader again. */
  | { readonly kind: 'stopping' };

/** What happened to the Lease of the group, as far as the leadership depends on it. */
export type LeadershipChange =
  /** The Lease was acquired or renewed. */
  | { readonly kind: 'renewed'; readonly untilMs: number }
  | { readonly kind: 'lost' }
  | { readonly kind: 'resigned'; readonly untilMs: number }
  | { readonly kind: 'stopped' };

/** The leadership of a replica that is not leader. */
export const STANDBY: Leadership = { kind: 'standby' };

/**
 * The leadership after a change. `stopping` is final, and a replica that resigned does not become a standby when the leadership that it gave up ends.
 */
export function nextLeadership(current: Leadership, change: LeadershipChange): Leadership {
  if (current.kind === 'stopping') return current;
  switch (change.kind) {
    case 'renewed':
      return { kind: 'leading', untilMs: change.untilMs };
    case 'lost':
      return current.kind === 'leading' ? STANDBY : current;
    case 'resigned':
      return { kind: 'resigned', untilMs: change.untilMs };
    case 'stopped':
      return { kind: 'stopping' };
  }
}

/** True while no other replica can be leader. */
export function isLeader(leadership: Leadership, nowMs: number): leadership is Extract<Leadership, { readonly kind: 'leading' }> {
  return leadership.kind === 'leading' && nowMs < leadership.untilMs;
}

/** True while other replicas go first, because this one stepped down. */
export function hasResigned(leadership: Leadership, nowMs: number): boolean {
  return leadership.kind === 'resigned' && nowMs < leadership.untilMs;
}
