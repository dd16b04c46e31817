/** What was read from a cluster to explain one virtual machine: few objects, each by its name. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import type { AgentTrafficReport } from './agent-traffic.js';

/** The right that a reader lacks. */
export interface MissingRight {
  readonly verb: 'get' | 'list' | 'create';
  /** In the plural, as in Roles: `ippools`. */
  readonly resource: string;
  /** Empty for the core group. */
  readonly group: string;
  /** Empty for all namespaces. */
  readonly namespace: string;
}

/** The result of one read. */
export type Observed =
  | { readonly kind: 'found'; readonly object: KubernetesObject }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly right: MissingRight }
  /** Not requested, because what it depends on is missing. */
  | { readonly kind: 'unread' };

/** What stands for an object that was not asked for. */
export const UNREAD: Observed = { kind: 'unread' };

/** The IPPools of one network. */
export interface NetworkPools {
  /** The one that serves the network; otherwise one that names it. */
  readonly pool: Observed;
  /** `namespace/name` of the Lease of its agents; undefined if the pool names no agents. */
  readonly lease: string | undefined;
}

/** The reply of the leader of the agents, in its pod. */
export type ObservedTraffic = { /** `namespace/name` */ readonly pod: string } & (
  | { readonly kind: 'found'; readonly traffic: AgentTrafficReport }
  | { readonly kind: 'refused'; readonly rights: readonly MissingRight[] }
  | { readonly kind: 'failed'; readonly message: string }
);

export interface ChainObservation {
  readonly namespace: string;
  readonly name: string;
  readonly virtualMachine: Observed;
  readonly instance: Observed;
  readonly networkConfig: Observed;
  /** NetworkAttachmentDefinitions by `namespace/name`. */
  readonly networks: ReadonlyMap<string, Observed>;
  /** By `namespace/name` of the network. */
  readonly pools: ReadonlyMap<string, NetworkPools>;
  /** Leases of agents by `namespace/name`. */
  readonly leases: ReadonlyMap<string, Observed>;
  /** The Lease of the controller. */
  readonly controller: Observed;
  /**
   * What the leaders saw of the clients in `AddressChain.furtherPackets`, by the name of the interface; absent if none was asked.
   */
  readonly traffic?: ReadonlyMap<string, ObservedTraffic>;
  /** Events of the objects in `AddressChain.furtherEvents`. */
  readonly events: readonly KubernetesObject[];
  /** By the clock of the API server. */
  readonly nowMs: number;
}

/** Undefined if it does not exist, or could not be read. */
export function objectOf(observed: Observed | undefined): KubernetesObject | undefined {
  return observed?.kind === 'found' ? observed.object : undefined;
}

/** `cannot get ippools.network.harvesterhci.io in namespace default` */
export function describeMissingRight({ verb, resource, group, namespace }: MissingRight): string {
  const what = group === '' ? resource : `${resource}.${group}`;
  return `cannot ${verb} ${what} in ${namespace === '' ? 'all namespaces' : `namespace ${namespace}`}`;
}
