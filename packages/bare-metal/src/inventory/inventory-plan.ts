import type { KubernetesObject, MergePatch, OwnerReference } from '@vmdhcp/kube-runtime';
import type { ClusterAgentSettings } from '../host/cluster-agent-settings.js';
import type { HostEvent } from '../object/host-event.js';

/** A lease that a client has now. Released and expired leases are not in the list. */
export interface HostLease {
  /** IPv4, dotted decimal. */
  readonly ipAddress: string;
  /** Any common spelling. */
  readonly macAddress: string;
  /** True if the client has not renewed the lease yet: it may be made up. */
  readonly isNew?: boolean;
}

/** The input of the plan of one ClusterAgent. The order of lists does not matter. */
export interface InventoryFacts {
  readonly clusterAgent: ClusterAgentSettings;
  /** The names of all ClusterAgents, including this one. */
  readonly clusterAgents: readonly string[];
  /** All leases of the DHCP server. Undefined if not known yet: then no lease counts as ended. */
  readonly leases: readonly HostLease[] | undefined;
  /** True if the lease of this address has ended and its client never renewed it. Default: false. */
  readonly mayBeMadeUp?: (address: string) => boolean;
  /** All HostEndpoints. */
  readonly endpoints: readonly KubernetesObject[];
  /** All HostStatus objects, including those of other ClusterAgents. */
  readonly hostStatuses: readonly KubernetesObject[];
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** The object of a new host. */
export interface NewHostStatus extends KubernetesObject {
  readonly apiVersion: string;
  readonly kind: 'HostStatus';
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly OwnerReference[];
  };
}

/** One write. Its Events are written after it was carried out. */
export type HostStatusAction =
  /**
   * Two writes: the API server drops the status of an object that is created. If the second one is lost, the next plan repeats
   * it.
   */
  | {
      readonly kind: 'create';
      readonly name: string;
      readonly object: NewHostStatus;
      readonly status: Readonly<Record<string, unknown>>;
      readonly events: readonly HostEvent[];
    }
  /** The patch of the object itself: labels and owners. */
  | {
      readonly kind: 'patch';
      readonly name: string;
      /** Only at this version, because a list is replaced; undefined: at any. */
      readonly resourceVersion: string | undefined;
      readonly patch: MergePatch;
      readonly events: readonly HostEvent[];
    }
  /** The patch of its status subresource. */
  | { readonly kind: 'patch-status'; readonly name: string; readonly patch: MergePatch; readonly events: readonly HostEvent[] }
  /** Deletes only this object, at this version: a person may have bound its address meanwhile. */
  | {
      readonly kind: 'delete';
      readonly name: string;
      readonly uid: string | undefined;
      readonly resourceVersion: string | undefined;
      readonly events: readonly HostEvent[];
    };

/** What has to change so that there is one HostStatus for each host, and what could not be used. */
export interface InventoryPlan {
  /** In the order of names; for one object, in the order in which they are written. */
  readonly actions: readonly HostStatusAction[];
  /** Problems that prevent hosts from having an object, as Warning Events. */
  readonly problems: readonly HostEvent[];
  /** Leases with an unreadable address or MAC address. */
  readonly ignoredLeases: readonly HostLease[];
}
