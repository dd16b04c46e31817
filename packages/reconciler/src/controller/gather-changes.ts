/**
 * Gathers changes of pools that are applied together but arrive one after the other: each change of the pools in a template replaces the pods of its
 * group, so changes within a moment become one.
 */
import type { Clock } from '@vmdhcp/kube-runtime';
import type { AgentAction } from '../agents/agents-plan.js';

/** The delay after the first change, in milliseconds. */
const GATHER_MS = 250;

export interface GatheredActions {
  readonly actions: readonly AgentAction[];
  /** When more is due, in milliseconds from now; undefined if nothing waits. */
  readonly waitMs: number | undefined;
}

/** Delays only changes of templates, never suspensions in a Lease, and never deletions. */
export class ChangeGathering {
  readonly #clock: Clock;
  /** By group: when its template was first found to be outdated. */
  readonly #sinceMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The actions that are due. */
  take(planned: readonly AgentAction[]): GatheredActions {
    const nowMs = this.#clock.nowMs();
    const telling = new Set(planned.filter(tellsOfOtherPools).map(({ group }) => group));
    for (const group of [...this.#sinceMs.keys()]) if (!telling.has(group)) this.#sinceMs.delete(group);
    for (const group of telling) if (!this.#sinceMs.has(group)) this.#sinceMs.set(group, nowMs);
    const leftMs = (action: AgentAction) =>
      tellsOfOtherPools(action) ? (this.#sinceMs.get(action.group) ?? nowMs) + GATHER_MS - nowMs : 0;
    const waiting = planned.map(leftMs).filter((ms) => ms > 0);
    return {
      actions: planned.filter((action) => leftMs(action) <= 0),
      waitMs: waiting.length === 0 ? undefined : Math.min(...waiting),
    };
  }
}

type TemplateAction = Extract<AgentAction, { readonly kind: 'create-deployment' | 'patch-deployment' }>;

function tellsOfOtherPools(action: AgentAction): action is TemplateAction {
  return action.kind === 'create-deployment' || (action.kind === 'patch-deployment' && action.changesPools);
}
