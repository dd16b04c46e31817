/** The history of leaders of each group of agents, from changes of their Leases. It is kept in memory, so it begins with the process. */
import { type KubernetesObject, parseTime, readText } from '@vmdhcp/kube-runtime';
import type { LeaderTerm } from '../model/page-data.js';

const MOST_TERMS = 50;

/** The pod that holds a Lease; empty if none does. */
export function holderOf(lease: KubernetesObject): string {
  const [holder = ''] = (readText(lease.spec, 'holderIdentity') ?? '').slice(0, 512).split('_');
  return holder;
}

export class LeaderTerms {
  readonly #terms = new Map<string, readonly LeaderTerm[]>();

  /** Updates the Lease with this key; undefined if it does not exist. Returns true if the leader has changed. */
  note(key: string, lease: KubernetesObject | undefined, nowMs: number): boolean {
    const leader = lease === undefined ? '' : holderOf(lease);
    const before = this.#terms.get(key);
    const [last, ...earlier] = before ?? [];
    if (last?.leader === leader && before !== undefined) return false;
    if (last === undefined && leader === '') return false;
    const fromMs = leader === '' ? nowMs : beganAt(lease, nowMs);
    const ended = last === undefined ? [] : [{ ...last, untilMs: Math.max(last.fromMs, fromMs) }, ...earlier];
    this.#terms.set(key, [{ leader, fromMs, untilMs: null }, ...ended].slice(0, MOST_TERMS));
    return true;
  }

  /** The newest first. */
  of(key: string): readonly LeaderTerm[] {
    return this.#terms.get(key) ?? [];
  }
}

/** For the time before the first sight of the Lease, only its own times are known; the clock of another host may be ahead. */
function beganAt(lease: KubernetesObject | undefined, nowMs: number): number {
  const acquiredMs = parseTime(readText(lease?.spec, 'acquireTime'));
  return Number.isNaN(acquiredMs) ? nowMs : Math.min(acquiredMs, nowMs);
}
