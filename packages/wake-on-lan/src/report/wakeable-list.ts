import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';

/** How long an old list is used. A new machine is in no old list: it must be heard within the limits of an agent without one. */
const KEEP_MS = 300_000;

/** The manager's list of wakeable machines, and for how long it is used without that manager. */
export class WakeableList {
  readonly #only: ReadonlySet<MacAddress> | undefined;
  #listed: ReadonlySet<MacAddress> | undefined;
  #disconnectedAtMs: number | undefined;

  /** @param only - machines of the command line, which restrict any list; undefined for all. */
  constructor(only: ReadonlySet<MacAddress> | undefined) {
    this.#only = only;
  }

  /** Addresses in the list that is used now; undefined if there is no list. */
  get size(): number | undefined {
    return this.#listed?.size;
  }

  /** Stores the list of a manager. */
  take(listed: ReadonlySet<MacAddress>): void {
    const only = this.#only;
    this.#listed = only === undefined ? listed : new Set([...listed].filter((one) => only.has(one)));
    this.#disconnectedAtMs = undefined;
  }

  /** The manager has no list. */
  forget(): void {
    this.#listed = undefined;
  }

  /** No manager that is leader has answered since `nowMs`. */
  disconnect(nowMs: number): void {
    this.#disconnectedAtMs ??= nowMs;
  }

  /** The machines whose packets count; undefined for all. @param nowMs - from a monotonic clock. */
  machines(nowMs: number): ReadonlySet<MacAddress> | undefined {
    if (this.#disconnectedAtMs !== undefined && nowMs - this.#disconnectedAtMs >= KEEP_MS) this.#listed = undefined;
    return this.#listed ?? this.#only;
  }
}
