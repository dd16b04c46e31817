/**
 * Pools that are applied together come one after the other. Each change of the pools that a template tells of replaces the pods of its
 * group, so what comes within a moment goes into one.
 */
import type { Clock } from '@vmdhcp/kube-runtime';
import type { AgentAction } from '../agents/agents-plan.js';

/** After the first change, in milliseconds. */
const GATHER_MS = 250;

export interface GatheredActions {
  readonly actions: readonly AgentAction[];
  /** When there is more to do, in milliseconds from now; undefined: nothing waits. */
  readonly waitMs: number | undefined;
}

/** Delays only what templates tell of pools: never what a Lease suspends, and never what is deleted. */
export class ChangeGathering {
  readonly #clock: Clock;
  /** When the pools of a group's template were first found to be others, by group. */
  readonly #sinceMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Those of the actions whose time has come. */
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
