/**
 * The requests of the page and the answers of the server, as JSON. Both sides use these types.
 *
 * | request | answer |
 * | --- | --- |
 * | `GET /api/overview` | `Overview` |
 * | `GET /api/attention` | `AttentionPage` |
 * | `GET /api/pools/NAMESPACE/NAME` | `PoolPage` |
 * | `GET /api/leases?search=&pool=NAMESPACE/NAME&limit=&continue=` | `LeasePage` |
 * | `GET /api/machines-without-address?limit=&continue=` | `MachinePage` |
 * | `GET /api/agents` | `AgentsPage` |
 * | `GET /api/wake-on-lan` | `WakeOnLanPage` |
 * | `GET /api/hosts?limit=` | `HostsPage` |
 * | `GET /api/recent-events?of=pools\|machines\|agents\|wake-on-lan\|hosts&pool=NAMESPACE/NAME` | `RecentEventsPage` |
 * | `GET /api/events?pool=NAMESPACE/NAME&version=VERSION` | `text/event-stream` of `PageEvent`: `event:` is its kind, `data:` is its data |
 *
 * All requests have `Authorization: Bearer TOKEN` if the server requires a token (status 401 says so). Answers with status 400 and above are
 * `PageError`. The addresses of requests are relative to the page, so that it works behind a path prefix. Times are milliseconds since 1970. Keys of
 * pools are `namespace/name`. Texts are plain text and come from objects: never HTML.
 */

/** States of an address. Their places in this list are their numbers in an `AddressMap`: new states are added at the end. */
export const ADDRESS_STATES = ['free', 'used', 'reserved', 'excluded', 'quarantined', 'server', 'outside', 'router'] as const;

/**
 * - `free`: may be assigned to the next client
 * - `used`: recorded for a client
 * - `reserved`: kept for one client that does not have it now
 * - `excluded`: the pool excludes it
 * - `quarantined`: an unknown host uses it, so no client gets it for a time
 * - `server`: of the DHCP server
 * - `outside`: in the subnet, but not between start and end; the network and broadcast addresses too
 * - `router`: of the router that the pool names
 */
export type AddressState = (typeof ADDRESS_STATES)[number];

/** The state of every address of a subnet, in order. */
export interface AddressMap {
  /** The first address of the subnet: `192.168.48.0`. */
  readonly first: string;
  /** Addresses of the subnet: 256 of a /24. The counts in `runs` add up to it. */
  readonly size: number;
  /** `[state, count, state, count, …]`: a number of `ADDRESS_STATES` and how many addresses in a row have it, 1 or more. Neighbours differ in state. */
  readonly runs: readonly number[];
}

/** Why something is wrong. Meaning and remedy come from docs/reference/reasons.md. */
export interface PageReason {
  /** As in conditions: `PoolExhausted`. */
  readonly reason: string;
  /** The message of the controller or an agent, with names and limits. May be empty. */
  readonly message: string;
  /** The meaning of the reason. Empty for a reason of another version. */
  readonly meaning: string;
  /** The next step for an administrator. Empty for a reason of another version. */
  readonly remedy: string;
}

/** `ok`; `note`: served, with something to know; `waiting`: it ends by itself; `broken`: it stays until a person acts. */
export type PageState = 'ok' | 'note' | 'waiting' | 'broken';

/** Parts of the page with separate rights. */
export const SECTIONS = ['pools', 'machines', 'agents', 'wake-on-lan', 'hosts', 'events'] as const;
/** A part of the page that a user may or may not see. */
export type Section = (typeof SECTIONS)[number];

/** `off`: this server does not have it (Wake-on-LAN without `--wake-on-lan`). `denied`: the user lacks `right`. */
export type SectionAccess =
  | { readonly kind: 'shown' }
  | { readonly kind: 'off' }
  | { readonly kind: 'denied'; readonly right: string };

/** Addresses between start and end of pools, by state. The addresses of the DHCP server and of the router are not counted. */
export interface AddressCounts {
  readonly free: number;
  readonly used: number;
  readonly reserved: number;
  readonly excluded: number;
  readonly quarantined: number;
}

/** What the first view of the page shows. */
export interface Overview {
  /** `cluster`: a controller. `bare-host`: the agent of one host, which has pools alone. */
  readonly source: 'cluster' | 'bare-host';
  /** The version of the program. */
  readonly version: string;
  /** The pod or host that serves the page. */
  readonly servedBy: string;
  /** Whether this replica of the controller is leader; all replicas see the same data. Null if there is no election. */
  readonly isLeader: boolean | null;
  /** When this was true, by the clock of the server. */
  readonly atMs: number;
  /** What the server has not read completely yet, for people; empty if everything is known. */
  readonly unready: readonly string[];
  /** The user of the token; null if the server requires no token. */
  readonly user: string | null;
  readonly sections: Readonly<Record<Section, SectionAccess>>;
  /** The counts of all pools. */
  readonly totals: AddressCounts;
  /** Sorted by key. */
  readonly pools: readonly PoolSummary[];
}

/** The row of one pool. */
export interface PoolSummary {
  /** `namespace/name`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  /** `namespace/name` of the NetworkAttachmentDefinition; on a bare host the interface. */
  readonly network: string;
  /** Empty if the pool is too invalid to be read; then `counts` are 0. */
  readonly cidr: string;
  readonly start: string;
  readonly end: string;
  readonly serverAddress: string;
  readonly counts: AddressCounts;
  readonly state: PageState;
  /** Why the state is not `ok`, the worst first. */
  readonly reasons: readonly PageReason[];
  /** The pod that answers clients, or the bare host; empty: none. */
  readonly servedByPod: string;
  /** `namespace/name` of the Deployment of its agents; empty: none. */
  readonly agents: string;
}

/** What needs attention, from all sections that the user may see. */
export interface AttentionPage {
  /** Pools with anything to know; from other sections, items that need action or wait. The most urgent ones first. */
  readonly items: readonly UrgentItem[];
  /** The omitted items, in words. */
  readonly more: readonly { readonly section: Section; readonly text: string }[];
  /** The statement if there are no items. */
  readonly verdict: string;
  /** Sections that were not checked, and why; empty if all were. */
  readonly notSeen: readonly string[];
  /** True: all of it is known. */
  readonly isWhole: boolean;
}

/** One thing that needs attention, and why. */
export interface UrgentItem {
  readonly section: Section;
  /** Such as `Virtual machine`. */
  readonly kind: string;
  /** The name of the object; for a pool its key. */
  readonly name: string;
  /** Distinguishes several items with the same name, such as interfaces. May be empty. */
  readonly part: string;
  readonly state: PageState;
  /** The worst one; null: none is known. */
  readonly reason: PageReason | null;
}

/** One pool, in full. */
export interface PoolPage {
  /** The version of this answer; changes are relative to a version. Opaque. */
  readonly version: string;
  readonly summary: PoolSummary;
  /** Null if the pool is too invalid to have a subnet. */
  readonly map: AddressMap | null;
  readonly conditions: readonly PageCondition[];
  /** Addresses that unknown hosts use. */
  readonly quarantined: readonly QuarantinedAddress[];
}

/** A condition of an object, with its age. */
export interface PageCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** May be empty. */
  readonly reason: string;
  readonly message: string;
  /** Null: not known. */
  readonly sinceMs: number | null;
}

/** An address that another machine uses, and until when nobody gets it. */
export interface QuarantinedAddress {
  readonly address: string;
  /** Null: not known. */
  readonly untilMs: number | null;
  /** MAC address of the host that uses it; empty: not known. */
  readonly usedBy: string;
}

/** A client and its address. */
export interface PageLease {
  /** Key of its pool. */
  readonly pool: string;
  readonly address: string;
  /** Empty: the pool has no IPv6, or the client is unknown. */
  readonly ipv6Address: string;
  readonly mac: string;
  /** `reserved`: kept for this client, which does not have it now. */
  readonly state: 'used' | 'reserved';
  /** `namespace/name` of the virtual machine, on a bare host what the pools file names; empty: not known, or the user may not list VirtualMachineNetworkConfigs. */
  readonly machine: string;
  /** The host name, if the pool or the client provides one; otherwise empty. */
  readonly hostname: string;
  /** When the lease of an unknown client ends (bare hosts); null: it does not end. */
  readonly expiresAtMs: number | null;
}

/** Part of a list. */
interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** Rows of the whole list that match. */
  readonly total: number;
  /** Value of `continue` for the next part; null: this is the last one. */
  readonly continue: string | null;
}

/** Sorted by pool and address. `search` finds parts of addresses, MAC address (with `:`, `-` or without), virtual machine and host name. */
export type LeasePage = ListPage<PageLease>;

/** An interface of a virtual machine that has no address, or a virtual machine that cannot have one. */
export interface MachineWithoutAddress {
  readonly namespace: string;
  readonly name: string;
  /** `namespace/name` of the network; empty: it concerns the virtual machine. */
  readonly network: string;
  /** Empty: not known yet. */
  readonly mac: string;
  readonly state: PageState;
  readonly reasons: readonly PageReason[];
  /** Since when; null: not known. */
  readonly sinceMs: number | null;
}

/** Virtual machines that need action first, then those that wait; both sorted by namespace and name. `total` and `continue` count virtual machines. */
export interface MachinePage extends ListPage<MachineWithoutAddress> {
  /** How many virtual machines of the whole list need action. */
  readonly broken: number;
}

/** The groups of agents, and since when their leaders are followed. */
export interface AgentsPage {
  /** Sorted by namespace and name. */
  readonly groups: readonly PageAgentGroup[];
  /** Since when this server has followed leaders: terms that ended earlier are not known. */
  readonly followedSinceMs: number;
}

/** Replicas of an agent, of which one is leader. */
export interface PageAgentGroup {
  readonly namespace: string;
  readonly name: string;
  /** The worst state of its pools; `broken` without a leader. */
  readonly state: PageState;
  /** Why the state is not `ok`, the worst first. */
  readonly reasons: readonly PageReason[];
  /** The pod; empty: no pod is leader now. */
  readonly leader: string;
  /** When its Lease was last renewed; null: never. */
  readonly renewedAtMs: number | null;
  /** How often leadership has changed, by the Lease. */
  readonly transitions: number;
  /** Terms of leadership, the newest first, at most 50. */
  readonly terms: readonly LeaderTerm[];
  readonly pools: readonly ReportedPool[];
}

/** How long an agent was leader, in milliseconds since 1970. */
export interface LeaderTerm {
  /** Empty: there was no leader. */
  readonly leader: string;
  readonly fromMs: number;
  /** Null: until now. */
  readonly untilMs: number | null;
}

/** The report of a group's leader about a pool. */
export interface ReportedPool {
  readonly pool: string;
  /** `note`: it is served, beside another DHCP server or with addresses in conflict. */
  readonly state: PageState;
  readonly isServed: boolean;
  /** Why not; absent if it is served. */
  readonly reason?: PageReason;
  /** What the agents have found on the network, for people: other DHCP servers, addresses in use by others. */
  readonly findings: readonly string[];
}

/** The WolConfigs. */
export interface WakeOnLanPage {
  readonly configs: readonly PageWakeConfig[];
}

/** A WolConfig. */
export interface PageWakeConfig {
  readonly name: string;
  readonly mode: string;
  /** UDP ports. */
  readonly ports: readonly number[];
  /** Virtual machines that may be woken; null: not known yet. */
  readonly managedMachines: number | null;
  /** Agents that listen; null: not known yet. */
  readonly agents: { readonly daemonSet: string; readonly wanted: number; readonly ready: number } | null;
  readonly state: PageState;
  readonly reasons: readonly PageReason[];
  readonly conditions: readonly PageCondition[];
}

/**
 * The topic of Events: IPPools, addresses of virtual machines, objects of agents, wake-ups, or bare-metal hosts. The right to the section of the same
 * name is also required.
 */
export const EVENTS_OF = ['pools', 'machines', 'agents', 'wake-on-lan', 'hosts'] as const satisfies readonly Section[];
/** The kinds of objects whose Events the page shows. */
export type EventsOf = (typeof EVENTS_OF)[number];

/** Recent Events. */
export interface RecentEventsPage {
  /** The newest first, at most 20. */
  readonly rows: readonly RecentEvent[];
}

/** A Kubernetes Event. */
export interface RecentEvent {
  /** The object of the Event; all three may be empty. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly isWarning: boolean;
  readonly reason: string;
  readonly message: string;
  /** How often it happened. */
  readonly count: number;
  /** When it happened last; null: not known. */
  readonly lastAtMs: number | null;
}

/** Bare-metal hosts and the agents that keep them. */
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

/** Events, in order. Changes within a second are combined. */
export type PageEvent =
  /** The first one. */
  | { readonly kind: 'hello'; readonly data: Hello }
  /** Rows of `Overview.pools` that are new or different. */
  | { readonly kind: 'pools'; readonly data: PoolsChange }
  /** Changes of the pool that the request names. */
  | { readonly kind: 'pool'; readonly data: PoolChange }
  /** Lists that have changed: reload the visible ones. */
  | { readonly kind: 'changed'; readonly data: { readonly sections: readonly Section[] } }
  /** The last one: the server closes the connection. */
  | { readonly kind: 'end'; readonly data: { readonly reason: StreamEndReason; readonly message: string } };

/** `session-over`: the token is no longer valid, or the right is gone. `too-slow`: the client did not read. `stopping`: connect again. */
export type StreamEndReason = 'session-over' | 'unavailable' | 'too-slow' | 'stopping';

/** The first message of a stream: which server sends it, and how often it is heard from. */
export interface Hello {
  /** If the name of the process changes, reload everything. */
  readonly instance: string;
  /** A comment line comes at least this often: a connection that is silent for three times as long is dead. */
  readonly keepAliveMs: number;
}

/** The pools that changed, and those that are gone. */
export interface PoolsChange {
  readonly changed: readonly PoolSummary[];
  /** Keys. */
  readonly removed: readonly string[];
  readonly totals: AddressCounts;
}

/** `reset`: ask for the pool again (it is gone, was changed in its subnet, or has too many changes). */
export type PoolChange =
  | { readonly kind: 'reset'; readonly pool: string }
  | {
      readonly kind: 'changes';
      readonly pool: string;
      /** The version that these changes apply to. If the page has another one, reload the pool. */
      readonly since: string;
      readonly version: string;
      /** `[offset, state, count, …]`: addresses from `AddressMap.first` + offset on have this state now; in order, without overlaps. See `applyMapChanges`. */
      readonly map: readonly number[];
      /** New or changed leases. If a client has a new address, the old one is in `removed`. */
      readonly leases: readonly PageLease[];
      /** Addresses without a lease now. */
      readonly removed: readonly string[];
      readonly summary: PoolSummary;
    };

/** Why a request failed. */
export type PageErrorReason =
  | 'bad-request'
  | 'token-missing'
  | 'token-refused'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'too-many-requests'
  | 'internal-error'
  | 'unavailable';

/** The body of an answer that is an error. */
export interface PageError {
  readonly error: PageErrorReason;
  /** What is wrong and what to do next. */
  readonly message: string;
}
