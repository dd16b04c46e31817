import { isRolledOut } from '@vmdhcp/kube-runtime';
import type { ObservedGroup } from './agents-observation.js';

/** How many groups may be upgraded at a time: an upgrade that fails stops at the first groups, and none takes the processors of all nodes at once. */
export class UpgradeBudget {
  readonly #most: number;
  /** Groups whose pods are not all of the newest template yet. */
  readonly #rolling: Set<string>;

  constructor(groups: ReadonlyMap<string, ObservedGroup>, most: number) {
    const rolling = [...groups].filter(([, { deployment }]) => deployment !== undefined && !isRolledOut(deployment));
    this.#rolling = new Set(rolling.map(([name]) => name));
    this.#most = most;
  }

  /** True if the group may be upgraded now; it then counts as one that is. */
  take(name: string): boolean {
    if (!this.#rolling.has(name) && this.#rolling.size >= this.#most) return false;
    this.#rolling.add(name);
    return true;
  }
}
