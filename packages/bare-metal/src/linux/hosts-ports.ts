/** What the agent of one ClusterAgent needs from its environment. */
import type { GroupLease, ServerAddressKernel, ServerProbe } from '@vmdhcp/dhcp-agent';
import type { Ipv4Address } from '@vmdhcp/dhcp-allocator';
import type { ElectionTimes, EventRecorder, KubernetesObject, ObjectClient, SharedCaches } from '@vmdhcp/kube-runtime';
import type { Logger } from '@vmdhcp/service-process';
import type { BoundAddresses } from '../binding/bound-addresses.js';
import type { HostLeaseStore } from './directory-leases.js';
import type { HostDhcp, HostDhcpPorts } from './host-dhcp.js';
import type { HostInventory } from './leader-duties.js';
import type { ManagementLinkKernel } from './management-link.js';

export interface HostsSettings {
  readonly clusterAgentName: string;
  /** The identity of this run of this replica, which no other run shares. */
  readonly identity: string;
  readonly election: ElectionTimes;
  /** True if there is no other replica. */
  readonly isAlone: boolean;
}

/** What is needed to follow the objects of hosts during one leadership. */
export interface InventoryParts {
  readonly isLeading: () => boolean;
  readonly leases: HostDhcp['leases'];
  readonly mayBeMadeUp: (address: string) => boolean;
  readonly onBindings: (bound: BoundAddresses) => void;
  /**
   * Resolves when hosts can be reached from the address of the DHCP server; at the latest when `signal` is aborted, or after four
   * seconds.
   */
  readonly whenAddressed: (signal: AbortSignal) => Promise<void>;
}

export interface HostsPorts extends Omit<HostDhcpPorts, 'mayAnswer' | 'onLeaseKept' | 'onStateChange'> {
  readonly logger: Logger;
  readonly addresses: ServerAddressKernel;
  readonly probeServers: ServerProbe;
  readonly links: ManagementLinkKernel;
  readonly lease: GroupLease;
  readonly caches: SharedCaches;
  readonly clusterAgents: ObjectClient<KubernetesObject>;
  readonly events: Pick<EventRecorder, 'record'>;
  /** What this pod or host itself needs an address for; undefined if for nothing. Such a selfIp is not added. */
  readonly neededFor: (address: Ipv4Address) => string | undefined;
  /** Rejects if another replica still has them open. */
  readonly openLeases: () => Promise<HostLeaseStore>;
  readonly createInventory: (parts: InventoryParts) => HostInventory;
}
