/** Everything that the agent of one ClusterAgent needs of the world. */
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
  /** Of this replica, and of no other nor of an earlier run of it. */
  readonly identity: string;
  readonly election: ElectionTimes;
  /** True: there is no other replica. */
  readonly isAlone: boolean;
}

/** What the objects of hosts are followed with, during one leadership. */
export interface InventoryParts {
  readonly isLeading: () => boolean;
  readonly leases: HostDhcp['leases'];
  readonly mayBeMadeUp: (address: string) => boolean;
  readonly onBindings: (bound: BoundAddresses) => void;
  /** Resolves when hosts can be reached from the address of the DHCP server; at the latest when `signal` is aborted, and after four seconds. */
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
  /** What this pod or host itself needs an address for; undefined: nothing. Such a selfIp is not added. */
  readonly neededFor: (address: Ipv4Address) => string | undefined;
  /** Rejects where another replica still has them open. */
  readonly openLeases: () => Promise<HostLeaseStore>;
  readonly createInventory: (parts: InventoryParts) => HostInventory;
}
