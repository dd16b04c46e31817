import type { ApiResource, Clock, KubernetesObject, ObjectClient, SharedCaches } from '@vmdhcp/kube-runtime';
import type { ClusterNetworks } from '../admission/admission-facts.js';
import type { AgentsSettings } from '../agents/agents-plan.js';
import type { AuditSettings } from './audit-keeper.js';
import type { ControllerObserver } from './controller-observer.js';

export interface DhcpControllerSettings {
  readonly caches: Pick<SharedCaches, 'subscribe'>;
  /** How objects are written. */
  readonly clientOf: <Kind extends KubernetesObject = KubernetesObject>(resource: ApiResource) => ObjectClient<Kind>;
  /** Objects of other namespaces are not seen; default: all are. */
  readonly onlyNamespace?: string | undefined;
  readonly clock: Clock;
  /** RFC 3339, now: for people, nothing is decided by it. */
  readonly now: () => string;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** The instance that Events name. */
  readonly identity: string;
  readonly observer?: ControllerObserver;
  /** Undefined: this controller deploys no agents, and waits for none. */
  readonly agents?: AgentsSettings | undefined;
  /** Addresses that the cluster needs itself; default: none are known. */
  readonly clusterNetworks?: ClusterNetworks;
  /**
   * Where ConfigMaps keep the MAC addresses of stopped machines that no other object has (ADR 24), for the `inventory`: the agents'
   * namespace. Undefined: such an address is forgotten when the machine stops and the process ends.
   */
  readonly macAddressMemory?: { readonly namespace: string } | undefined;
  /** Keeps who had which address when. Undefined: nothing is kept. */
  readonly audit?: AuditSettings | undefined;
  /** True: the process has work in a cluster without KubeVirt or Multus, so that their kinds keep it from being ready only where there are IPPools. Default: false. */
  readonly mayLackKinds?: boolean;
}
