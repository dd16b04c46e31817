import type { ApiResource, Clock, KubernetesObject, ObjectClient, SharedCaches } from '@vmdhcp/kube-runtime';
import type { ClusterNetworks } from '../admission/admission-facts.js';
import type { AgentsSettings } from '../agents/agents-plan.js';
import type { AuditSettings } from './audit-keeper.js';
import type { ControllerObserver } from './controller-observer.js';

/** The caches, clients and settings of the DHCP controller. */
export interface DhcpControllerSettings {
  readonly caches: Pick<SharedCaches, 'subscribe'>;
  /** The clients that write objects. */
  readonly clientOf: <Kind extends KubernetesObject = KubernetesObject>(resource: ApiResource) => ObjectClient<Kind>;
  /** The only visible namespace; default: all. */
  readonly onlyNamespace?: string | undefined;
  readonly clock: Clock;
  /** RFC 3339, now: only for people. */
  readonly now: () => string;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** The instance that Events name. */
  readonly identity: string;
  readonly observer?: ControllerObserver;
  /** Undefined if this controller deploys no agents, and waits for none. */
  readonly agents?: AgentsSettings | undefined;
  /** True if annotations of virtual machines name their addresses, which needs the right to patch virtual machines. Default: false. */
  readonly annotatesMachines?: boolean;
  /** Addresses that the cluster needs itself; default: none are known. */
  readonly clusterNetworks?: ClusterNetworks;
  /**
   * Where ConfigMaps keep the MAC addresses of stopped machines that no other object has (ADR 24), for the `inventory`: the agents'
   * namespace. Undefined: such an address is forgotten when the machine stops and the process ends.
   */
  readonly macAddressMemory?: { readonly namespace: string } | undefined;
  /** Keeps the history of addresses. Optional. */
  readonly audit?: AuditSettings | undefined;
  /**
   * True if the process is useful in a cluster without KubeVirt or Multus, so that their missing kinds block readiness only if there are IPPools.
   * Default: false.
   */
  readonly mayLackKinds?: boolean;
}
