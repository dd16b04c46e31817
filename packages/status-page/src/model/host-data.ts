/** What the page shows of bare-metal hosts. */
import type { PageCondition, PageReason, PageState } from './page-data.js';

export interface HostsPage {
  readonly clusterAgents: readonly HostsAgent[];
  /** Hosts that need action first, then hosts in an unknown state, each sorted by name. At most `limit`, by default all. */
  readonly hosts: readonly BareMetalHost[];
  /** Counts of all hosts. */
  readonly counts: HostCounts;
}

/** How many hosts have a management controller that answers (`ok`), that does not (`broken`), or of which this is not known. */
export interface HostCounts {
  readonly ok: number;
  readonly broken: number;
  readonly unknown: number;
}

/** A ClusterAgent. */
export interface HostsAgent {
  readonly name: string;
  readonly state: PageState;
  readonly reasons: readonly PageReason[];
  readonly conditions: readonly PageCondition[];
}

/** A HostStatus. */
export interface BareMetalHost {
  readonly name: string;
  readonly clusterAgent: string;
  /** The address of the management controller. */
  readonly address: string;
  readonly mac: string;
  /** `dhcp` or `hostEndpoint`; empty: not known. */
  readonly type: string;
  /** Whether the management controller answers; null: not known. */
  readonly isHealthy: boolean | null;
  /** Why it is not healthy. The message comes from the last Event, if the user may list Events. */
  readonly reasons: readonly PageReason[];
  /** Whether a client has a lease of the address. */
  readonly hasLease: boolean;
  readonly logEntries: number;
  /** Entries whose severity is not OK. */
  readonly warnings: number;
  /** Empty: none. */
  readonly latestWarning: string;
  /** Null: never. */
  readonly updatedAtMs: number | null;
}
