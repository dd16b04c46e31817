/** What was read of a cluster to explain one virtual machine: few objects, each by its name. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';

/** The right that a reader lacks. */
export interface MissingRight {
  readonly verb: 'get' | 'list';
  /** As Roles have it: `ippools`. */
  readonly resource: string;
  /** Empty: the core group. */
  readonly group: string;
  /** Empty: in all namespaces. */
  readonly namespace: string;
}

/** What came of one read. */
export type Observed =
  | { readonly kind: 'found'; readonly object: KubernetesObject }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly right: MissingRight }
  /** Not asked for: what it depends on is missing. */
  | { readonly kind: 'unread' };

export const UNREAD: Observed = { kind: 'unread' };

/** The IPPools of one network. */
export interface NetworkPools {
  /** The one that serves the network, or else one that names it. */
  readonly pool: Observed;
  /** `namespace/name` of the Lease of its agents; undefined: the pool names no agents. */
  readonly lease: string | undefined;
}

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
  /** Events of objects that `AddressChain.furtherEvents` named. */
  readonly events: readonly KubernetesObject[];
  /** By the clock of the API server. */
  readonly nowMs: number;
}

/** Undefined: there is none, or it could not be read. */
export function objectOf(observed: Observed | undefined): KubernetesObject | undefined {
  return observed?.kind === 'found' ? observed.object : undefined;
}

/** `cannot get ippools.network.harvesterhci.io in namespace default` */
export function describeMissingRight({ verb, resource, group, namespace }: MissingRight): string {
  const what = group === '' ? resource : `${resource}.${group}`;
  return `cannot ${verb} ${what} in ${namespace === '' ? 'all namespaces' : `namespace ${namespace}`}`;
}
