/** What the Lease of a group contains besides its holder: the suspended pools, how often it is renewed, and the leader's report. */
import {
  AGENT_REPORT_ANNOTATION,
  type AgentReport,
  formatAgentReport,
  parseRenewPeriodMs,
  parseSuspendedPools,
  RENEW_PERIOD_ANNOTATION,
  SUSPENDED_POOLS_ANNOTATION,
  SUSPENDED_POOLS_SEEN_ANNOTATION,
} from '@vmdhcp/ippool-api/agent';
import { isOlderVersion } from '@vmdhcp/kube-runtime';

export type Annotations = Readonly<Record<string, string>>;

export class LeaseAnnotations {
  /** The text in the Lease. */
  #suspendedText = '';
  #suspended: ReadonlySet<string> = new Set();
  #renewPeriodMs = 0;
  /** resourceVersion of the newest Lease that was read. */
  #version = '';

  /** Pools that must not be served by this group now, by `namespace/name`. */
  get suspended(): ReadonlySet<string> {
    return this.#suspended;
  }

  /** How often the leader should renew the Lease, in milliseconds; 0 for its own period. */
  get renewPeriodMs(): number {
    return this.#renewPeriodMs;
  }

  /**
   * Reads the annotations of the Lease at this resourceVersion. A watch may lag behind a read, and would undo later suspensions, so an older version
   * changes nothing.
   */
  read(annotations: Annotations, version: string): 'older' | 'same' | 'changed' {
    if (isOlderVersion(version, this.#version)) return 'older';
    this.#version = version;
    this.#renewPeriodMs = parseRenewPeriodMs(annotations[RENEW_PERIOD_ANNOTATION]) ?? 0;
    const text = annotations[SUSPENDED_POOLS_ANNOTATION] ?? '';
    if (text === this.#suspendedText) return 'same';
    this.#suspendedText = text;
    this.#suspended = parseSuspendedPools(text);
    return 'changed';
  }

  /** True if a Lease that was seen suspends other pools than the newest one that was read, so that it must be read. */
  isNews(annotations: Annotations, version: string): boolean {
    return !this.isOld(version) && (annotations[SUSPENDED_POOLS_ANNOTATION] ?? '') !== this.#suspendedText;
  }

  /** True if a newer Lease than this one was read. */
  isOld(version: string): boolean {
    return isOlderVersion(version, this.#version);
  }

  /**
   * The annotations that the leader writes. A deleted Lease is created again with the suspended pools that it had, because another group may still
   * serve them.
   */
  write(report: AgentReport, isNew: boolean): Annotations {
    return {
      ...(isNew && this.#suspendedText !== '' && { [SUSPENDED_POOLS_ANNOTATION]: this.#suspendedText }),
      [SUSPENDED_POOLS_SEEN_ANNOTATION]: this.#suspendedText,
      [AGENT_REPORT_ANNOTATION]: formatAgentReport(report),
    };
  }
}
