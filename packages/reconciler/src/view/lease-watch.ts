/** Watches the Leases of agent groups: their content, and whether their leaders still renew them, by our own clock. */
import { describeAgentReport } from '@vmdhcp/ippool-api';
import { type Clock, type KubernetesObject, keyOf, readField, readText } from '@vmdhcp/kube-runtime';
import { type GroupLeaseReading, readGroupLease } from '../agents/group-lease.js';

/** A margin, because timers may be a little early. */
const MARGIN_MS = 10;
/** No agent's Lease lasts longer: `--agent-lease-seconds` and the period of renewals are an hour at most, and together less than two. */
const MOST_LEASE_SECONDS = 7_200;
/** The duration of a Lease that does not specify it. */
const DEFAULT_LEASE_SECONDS = 15;

/** When a Lease was last renewed, by our own clock. */
interface Renewal {
  readonly renewTime: string | undefined;
  readonly atMs: number;
}

export class LeaseWatch {
  readonly #clock: Clock;
  readonly #renewals = new Map<string, Renewal>();
  readonly #timers = new Map<string, () => void>();
  /** By key: the last content of a Lease, without its time. */
  readonly #texts = new Map<string, string>();
  /** The parsed content of each Lease; parsed again only when its leader has changed. */
  readonly #read = new WeakMap<KubernetesObject, GroupLeaseReading>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Updates the Lease with this key; undefined if it does not exist. Returns true if its content has changed: most renewals change only the time.
   *
   * @param onExpired - called when it has not been renewed for its duration.
   */
  note(key: string, lease: KubernetesObject | undefined, onExpired: () => void): boolean {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
    if (lease === undefined) {
      this.#renewals.delete(key);
      this.#texts.delete(key);
      return true;
    }
    this.#noteRenewal(key, lease, onExpired);
    const text = describe(this.read(lease));
    if (this.#texts.get(key) === text) return false;
    this.#texts.set(key, text);
    return true;
  }

  /** The current Lease; undefined if there is none. */
  read(lease: KubernetesObject | undefined): GroupLeaseReading {
    if (lease === undefined) return readGroupLease(undefined, true);
    const isStale = this.#isStale(lease);
    const known = this.#read.get(lease);
    if (known !== undefined && known.isLive === !isStale) return known;
    const read = readGroupLease(lease, isStale);
    this.#read.set(lease, read);
    return read;
  }

  /** Stops all timers. */
  stop(): void {
    for (const callOff of this.#timers.values()) callOff();
  }

  #noteRenewal(key: string, lease: KubernetesObject, onExpired: () => void): void {
    const nowMs = this.#clock.nowMs();
    const renewTime = readText(lease.spec, 'renewTime');
    const before = this.#renewals.get(key);
    const { atMs } = before !== undefined && before.renewTime === renewTime ? before : { atMs: nowMs };
    this.#renewals.set(key, { renewTime, atMs });
    const leftMs = atMs + durationMs(lease) + MARGIN_MS - nowMs;
    if (leftMs <= 0) return;
    const expire = () => {
      // A leader that renews late is leader again, whatever it reports.
      this.#texts.delete(key);
      onExpired();
    };
    this.#timers.set(key, this.#clock.after(leftMs, expire));
  }

  #isStale(lease: KubernetesObject): boolean {
    const { atMs = Number.NEGATIVE_INFINITY } = this.#renewals.get(keyOf(lease)) ?? {};
    return this.#clock.nowMs() - atMs >= durationMs(lease);
  }
}

function describe({ leader, report, seen, suspended }: GroupLeaseReading): string {
  return JSON.stringify([leader, [...seen], [...suspended], describeAgentReport(report)]);
}

function durationMs({ spec }: KubernetesObject): number {
  const seconds = readField(spec, 'leaseDurationSeconds');
  // An agent writes this text, so do not trust it.
  return 1000 * Math.min(typeof seconds === 'number' ? seconds : DEFAULT_LEASE_SECONDS, MOST_LEASE_SECONDS);
}
