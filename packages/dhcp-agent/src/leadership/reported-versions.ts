import type { AgentReport } from '@vmdhcp/ippool-api/agent';
import { isOlderVersion } from '@vmdhcp/kube-runtime';

/** How long the watch of a pool may be behind the leader's before the pool is listed again. */
const BEHIND_MS = 3_000;

export interface ReportedVersionsSettings {
  readonly nowMs: () => number;
  /** The resource version of the pool as it is known here; undefined if it is not known. */
  readonly versionOf: (poolKey: string) => string | undefined;
}

/**
 * The versions of pools that the leader has reported. The watch of the Lease, which brings them, may work while the watch of a pool hangs: then another
 * client may have the address that this replica would acknowledge.
 */
export class ReportedVersions {
  readonly #settings: ReportedVersionsSettings;
  readonly #reported = new Map<string, string>();
  #behindSinceMs: number | undefined;

  constructor(settings: ReportedVersionsSettings) {
    this.#settings = settings;
  }

  note(report: AgentReport): void {
    for (const [poolKey, { version }] of report) if (version !== undefined) this.#reported.set(poolKey, version);
  }

  /** True if the leader knows a newer version of the pool. */
  isBehind(poolKey: string): boolean {
    const [own, reported] = [this.#settings.versionOf(poolKey), this.#reported.get(poolKey)];
    return own !== undefined && reported !== undefined && isOlderVersion(own, reported);
  }

  /** Lists pools again if one has been behind for some seconds. Call it every second or so. @param list - never rejects */
  async keepUp(list: () => Promise<void>): Promise<void> {
    const nowMs = this.#settings.nowMs();
    const isBehind = [...this.#reported.keys()].some((poolKey) => this.isBehind(poolKey));
    const sinceMs = isBehind ? (this.#behindSinceMs ?? nowMs) : undefined;
    const isForLong = sinceMs !== undefined && nowMs - sinceMs >= BEHIND_MS;
    this.#behindSinceMs = isForLong ? nowMs : sinceMs;
    if (!isForLong) return;
    const noted = new Map(this.#reported);
    await list();
    // If one still is, the store was restored, and versions went back.
    for (const [poolKey, version] of noted)
      if (this.isBehind(poolKey) && this.#reported.get(poolKey) === version) this.#reported.delete(poolKey);
  }
}
