import type { EventOf } from '@vmdhcp/ippool-api';
import type { CacheSubscription, Clock, EventRegarding, KubernetesObject, ObjectClient } from '@vmdhcp/kube-runtime';

import type { ClusterNetworks } from '../admission/admission-facts.js';
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

/** Where Events are written that people read; those of the table of reasons and no others. */
export interface EventSink {
  readonly record: (
    regarding: EventRegarding,
    text: EventOf<'IPPool'> | EventOf<'VirtualMachine'> | EventOf<'VirtualMachineNetworkConfig'>,
  ) => void;
}

/** What all reconcilers share. */
export interface ControllerContext {
  readonly view: ClusterView;
  readonly segments: SharedSegments;
  readonly caches: ByKind<CacheSubscription>;
  readonly clients: ByKind<ObjectClient<KubernetesObject>>;
  /** The VirtualMachineInstance with this key as the API server has it; undefined: there is none. */
  readonly readInstance: (key: string) => Promise<KubernetesObject | undefined>;
  readonly events: EventSink;
  readonly clock: Clock;
  /** RFC 3339, now. */
  readonly now: () => string;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** The last plan of each pool, by key. */
  readonly plans: Map<string, PoolPlan>;
  /** By the key of a pool: configs that wait for it to free addresses. */
  readonly releaseWaiters: Map<string, Set<string>>;
  /** Called for each change of an address; undefined: not needed. */
  readonly onAddressChange: ((change: AddressChange) => void) | undefined;
  /** Undefined: nothing is kept of who had which address. */
  readonly audit: AuditTrail | undefined;
  readonly enqueue: ByKind<(key: string) => void>;
  /** Has a pool free addresses, in a moment: those of many virtual machines go in one patch. */
  readonly enqueueRelease: (poolKey: string) => void;
  /** Addresses that the cluster needs itself. */
  readonly clusterNetworks: ClusterNetworks;
  /** Undefined: there are none to wait for. */
  readonly agents: Pick<PoolAgentsView, 'ofPool' | 'ofPoolForStatus' | 'isInUse'> | undefined;
}
