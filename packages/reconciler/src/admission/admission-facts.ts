/** The facts about the cluster that the rules of admission use. Each comes from an index or a map: no rule reads every object. */
import type { Ipv4Address, Ipv4Cidr, Ipv4Range, MacAddress, Pool } from '@vmdhcp/dhcp-allocator';
import type { Ipv6Prefix } from '@vmdhcp/dhcp-allocator/address';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import type { NetworkConfigClaims } from '../network-config/interface-claims.js';
import type { PoolView } from '../view/pool-views.js';
import type { MachineKnowledge } from '../virtual-machine/wanted-interfaces.js';

/** Addresses that the cluster uses itself; unknown ones are empty, and not checked. */
export interface ClusterNetworks {
  readonly serviceCidrs: readonly (Ipv4Cidr | Ipv6Prefix)[];
  readonly podCidrs: readonly (Ipv4Cidr | Ipv6Prefix)[];
  /** IPv4 addresses of the API server outside those networks. */
  readonly apiServers: readonly Ipv4Address[];
}

/** A cluster whose own networks are not known. */
export const NO_CLUSTER_NETWORKS: ClusterNetworks = { serviceCidrs: [], podCidrs: [], apiServers: [] };

/** Read only. Keys are `namespace/name`; a network is the key of its NetworkAttachmentDefinition. */
export interface AdmissionFacts {
  readonly clusterNetworks: ClusterNetworks;
  /** The NetworkAttachmentDefinition. */
  readonly network: (key: string) => KubernetesObject | undefined;
  readonly pool: (key: string) => PoolView | undefined;
  /** The pool that serves a network. */
  readonly servingPool: (network: string) => PoolView | undefined;
  /** Served pools whose CIDR overlaps with this one, on other networks of the same Ethernet segment. */
  readonly overlappingPools: (network: string, pool: Pool) => Iterable<PoolView>;
  /** Served pools of a namespace that could lease an address of this range, on any network. */
  readonly poolsInRange: (namespace: string, range: Ipv4Range) => Iterable<PoolView>;
  /** The claims of the VirtualMachineNetworkConfigs with interfaces on a network. */
  readonly claimsOn: (network: string) => Iterable<NetworkConfigClaims>;
  /** Keys of the VirtualMachineNetworkConfigs that claim a MAC address on a network. */
  readonly claimants: (network: string, macAddress: MacAddress) => ReadonlySet<string>;
  /** Interfaces that want an address on a network, whether they have it or not: key of the virtual machine or config, and MAC address. */
  readonly wanting: (network: string, address: Ipv4Address) => Iterable<readonly [key: string, macAddress: MacAddress]>;
  /** Keys of the VirtualMachines that have an interface with a MAC address on a network. */
  readonly machinesHaving: (network: string, macAddress: MacAddress) => ReadonlySet<string>;
  readonly virtualMachine: (key: string) => KubernetesObject | undefined;
  /** The facts about a virtual machine besides its own object. */
  readonly knowledgeOf: (virtualMachine: KubernetesObject) => MachineKnowledge;
}
