import type { EventOf } from '@vmdhcp/ippool-api';
import type { CacheSubscription, Clock, EventRegarding, KubernetesObject, ObjectClient } from '@vmdhcp/kube-runtime';

import type { ClusterNetworks } from '../admission/admission-facts.js';
import type { LastOwners } from '../assignment/assignment-plan.js';
import type { PoolPlan } from '../assignment/plan-pools.js';
import type { ClusterView } from '../view/cluster-view.js';
import type { PoolAgentsView } from '../view/pool-agents-view.js';
import type { SharedSegments } from '../view/shared-segments.js';
import type { AddressChange } from './address-changes.js';
import type { AuditTrail } from './audit-trail.js';

/** The kinds that the controller reads. */
export interface ByKind<Value> {
  readonly virtualMachines: Value;
  readonly networkConfigs: Value;
  readonly ipPools: Value;
  readonly networks: Value;
}

/** Writes Events for people, only with reasons of the table. */
export interface EventSink {
  readonly record: (
    regarding: EventRegarding,
    text: EventOf<'IPPool'> | EventOf<'VirtualMachine'> | EventOf<'VirtualMachineNetworkConfig'>,
  ) => void;
}

/** The context that all reconcilers share. */
export interface ControllerContext {
  readonly view: ClusterView;
  readonly segments: SharedSegments;
  readonly caches: ByKind<CacheSubscription>;
  readonly clients: ByKind<ObjectClient<KubernetesObject>>;
  /** Reads the VirtualMachineInstance with this key from the API server; undefined if there is none. */
  readonly readInstance: (key: string) => Promise<KubernetesObject | undefined>;
  readonly events: EventSink;
  readonly clock: Clock;
  /** RFC 3339, now. */
  readonly now: () => string;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** The last plan of each pool, by key. */
  readonly plans: Map<string, PoolPlan>;
  /** By the key of a pool: the owners of its addresses in the last recorded plan, because other clients may have written the statuses of objects. */
  readonly lastOwners: Map<string, LastOwners>;
  /** By the key of a pool whose last plan is not recorded yet: configs that were reconciled meanwhile, with the plan that they saw. */
  readonly unrecordedPlans: Map<string, Map<string, PoolPlan | undefined>>;
  /** By the key of a pool: configs that wait for it to free addresses. */
  readonly releaseWaiters: Map<string, Set<string>>;
  /** Called for each change of an address; optional. */
  readonly onAddressChange: ((change: AddressChange) => void) | undefined;
  /** Undefined if the history of addresses is not kept. */
  readonly audit: AuditTrail | undefined;
  readonly enqueue: ByKind<(key: string) => void>;
  /** Makes a pool free addresses after a moment, so that those of many virtual machines go into one patch. */
  readonly enqueueRelease: (poolKey: string) => void;
  /** True if annotations of virtual machines name their addresses. */
  readonly annotatesMachines: boolean;
  /** Addresses that the cluster needs itself. */
  readonly clusterNetworks: ClusterNetworks;
  /** Undefined if there are none to wait for. */
  readonly agents: Pick<PoolAgentsView, 'ofPool' | 'ofPoolForStatus' | 'isInUse'> | undefined;
}
