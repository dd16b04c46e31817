import { isRolledOut } from '@vmdhcp/kube-runtime';
import type { ObservedGroup } from './agents-observation.js';

/**
 * Limits how many groups are upgraded at a time, so that a failing upgrade stops at the first groups, and does not use the processors of all nodes at
 * once.
 */
export class UpgradeBudget {
  readonly #most: number;
  /** Groups whose pods do not all have the newest template yet. */
  readonly #rolling: Set<string>;

  constructor(groups: ReadonlyMap<string, ObservedGroup>, most: number) {
    const rolling = [...groups].filter(([, { deployment }]) => deployment !== undefined && !isRolledOut(deployment));
    this.#rolling = new Set(rolling.map(([name]) => name));
    this.#most = most;
  }

  /** True if the group may be upgraded now; it then counts against the limit. */
  take(name: string): boolean {
    if (!this.#rolling.has(name) && this.#rolling.size >= this.#most) return false;
    this.#rolling.add(name);
    return true;
  }
}
