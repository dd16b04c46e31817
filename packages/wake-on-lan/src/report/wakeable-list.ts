import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';

/** A machine that was created meanwhile is in no old list: it must be heard by the limits of an agent without one. */
const KEEP_MS = 300_000;

/** The manager's list of machines that may be woken, and how long it counts without that manager. */
export class WakeableList {
  readonly #only: ReadonlySet<MacAddress> | undefined;
  #listed: ReadonlySet<MacAddress> | undefined;
  #disconnectedAtMs: number | undefined;

  /** @param only - machines of the command line, which are the only ones in any case; undefined: all. */
  constructor(only: ReadonlySet<MacAddress> | undefined) {
    this.#only = only;
  }

  /** Addresses in the list that counts now; undefined: there is no list. */
  get size(): number | undefined {
    return this.#listed?.size;
  }

  /** Takes the list of a manager. */
  take(listed: ReadonlySet<MacAddress>): void {
    const only = this.#only;
    this.#listed = only === undefined ? listed : new Set([...listed].filter((one) => only.has(one)));
    this.#disconnectedAtMs = undefined;
  }

  /** The manager has no list. */
  forget(): void {
    this.#listed = undefined;
  }

  /** No manager that leads answers since `nowMs`. */
  disconnect(nowMs: number): void {
    this.#disconnectedAtMs ??= nowMs;
  }

  /** The machines whose packets count; undefined: all. @param nowMs - of a clock that only goes forward. */
  machines(nowMs: number): ReadonlySet<MacAddress> | undefined {
    if (this.#disconnectedAtMs !== undefined && nowMs - this.#disconnectedAtMs >= KEEP_MS) this.#listed = undefined;
    return this.#listed ?? this.#only;
  }
}
