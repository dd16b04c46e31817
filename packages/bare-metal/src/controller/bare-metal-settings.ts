/** The settings of the controller of bare-metal hosts, and the events that it reports. */
import type {
  ApiResource,
  Clock,
  KubernetesObject,
  ObjectClient,
  OwnedObjectWrite,
  ReconcileResult,
  SharedCaches,
} from '@vmdhcp/kube-runtime';
import type { HostAgentSettings } from '../workload/host-agent-settings.js';

/** The keys that are reconciled: all agents at once, because ports and networks are shared; all statuses; all operations. */
export type BareMetalKey = 'agents' | 'statuses' | 'operations';

/** Counts of the range of a ClusterAgent. */
export interface ClusterAgentAddresses {
  readonly used: number;
  readonly available: number;
}

/** Events for metrics and the log. */
export interface BareMetalObserver {
  readonly onReconciled?: (key: BareMetalKey, result: ReconcileResult, durationMs: number) => void;
  readonly onRetry?: (key: BareMetalKey, cause: { readonly reason: string; readonly error?: unknown }) => void;
  readonly onTerminal?: (key: BareMetalKey, reason: string) => void;
  /** A list or watch failed, and will be tried again. */
  readonly onReadError?: (kind: string, error: unknown) => void;
  readonly onEventError?: (error: unknown) => void;
  /** An object of agents was created, changed or deleted. */
  readonly onAgentWrite?: (write: OwnedObjectWrite) => void;
  /** An operation that no agent accepts was ended. */
  readonly onOrphanedOperation?: (name: string) => void;
  /** The leader begins to write: everything is listed. */
  readonly onSynced?: () => void;
}

/** The caches, clients and settings of the controller of ClusterAgents. */
export interface BareMetalControllerSettings {
  /** Their `trim` reduces each kind by `CACHED_HOST_PARTS`; otherwise values of Secrets stay in memory. */
  readonly caches: Pick<SharedCaches, 'subscribe'>;
  /** How objects are written. */
  readonly clientOf: <Kind extends KubernetesObject = KubernetesObject>(resource: ApiResource) => ObjectClient<Kind>;
  readonly agents: HostAgentSettings;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly wallTimeMs: () => number;
  /** The current time as RFC 3339: for people, no decision depends on it. */
  readonly now: () => string;
  /** 0 up to, but not including, 1. */
  readonly random: () => number;
  /** The instance in Events. */
  readonly identity: string;
  readonly observer?: BareMetalObserver;
}
