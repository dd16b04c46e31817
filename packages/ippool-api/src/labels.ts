/** Labels and annotations that this API gives a meaning to. */
export const GROUP = 'network.harvesterhci.io';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** On a NetworkAttachmentDefinition: the pool that serves its network. */
export const IPPOOL_NAMESPACE_LABEL = `${GROUP}/ippool-namespace`;
export const IPPOOL_NAME_LABEL = `${GROUP}/ippool-name`;
/**
 * On a NetworkAttachmentDefinition: namespaces whose IPPools may serve the network besides those of its own, with commas between them, or
 * `*` for all. Set but empty: none, whatever the labels say.
 */
export const ALLOWED_POOL_NAMESPACES_ANNOTATION = `${GROUP}/allowed-pool-namespaces`;
/** On a NetworkAttachmentDefinition, `"true"`: another DHCP server serves it, so that no IPPool is missed. */
export const EXTERNAL_DHCP_ANNOTATION = `${GROUP}/external-dhcp`;
/** On a NetworkAttachmentDefinition, set by Harvester: the cluster network it belongs to. */
export const CLUSTER_NETWORK_LABEL = `${GROUP}/clusternetwork`;
/** On Deployments, pods and Leases of agents: the value is always `agent`. */
export const AGENT_LABEL = `${GROUP}/vm-dhcp-controller`;
export const AGENT_LABEL_VALUE = 'agent';
/** On the same: the name of the group of pools that these agents serve. */
export const AGENT_GROUP_LABEL = `${GROUP}/agent-group`;
/** On an agents' Deployment, `"true"`: somebody else says how many replicas it has. */
export const FREE_REPLICAS_ANNOTATION = `${GROUP}/free-replicas`;
/**
 * On an agents' Lease: JSON, the pools (`namespace/name`) of the group that its agents must not serve now, and a number that is
 * another one after every change.
 */
export const SUSPENDED_POOLS_ANNOTATION = `${GROUP}/suspended-pools`;
/** On the same, by the leader: what it has read there and acts by. */
export const SUSPENDED_POOLS_SEEN_ANNOTATION = `${GROUP}/suspended-pools-seen`;
/** On an agents' Lease, by the leader: JSON, `AgentReport`. */
export const AGENT_REPORT_ANNOTATION = `${GROUP}/agent-report`;
/** On an agents' Lease, by the controller: JSON, what its agents log (`{"level":"debug","packets":true}`). */
export const AGENT_LOG_ANNOTATION = `${GROUP}/agent-log`;
/** On an IPPool: the log level for its packets: trace, debug, info, warn or error. */
export const LOG_LEVEL_ANNOTATION = `${GROUP}/log-level`;
/** On an IPPool, `"true"`: its agents log whole packets of its clients, decoded. */
export const LOG_PACKETS_ANNOTATION = `${GROUP}/log-packets`;
/** On an IPPool, presence only: its agent keeps the image it runs. */
export const HOLD_AGENT_UPGRADE_ANNOTATION = `${GROUP}/hold-ippool-agent-upgrade`;
/** On a VirtualMachineNetworkConfig: the name of its virtual machine. */
export const VM_NAME_LABEL = 'harvesterhci.io/vmName';
/** On a VirtualMachine: JSON object, interface name to MAC address. */
export const MAC_ADDRESS_ANNOTATION = 'harvesterhci.io/mac-address';
/** On a VirtualMachine, followed by an interface name: the IPv4 address it shall have. */
export const STATIC_IP_ANNOTATION_PREFIX = 'static-ip.harvesterhci.io/';
/** On a VirtualMachine: 'true' for all of its interfaces, or names of interfaces with commas between them, that get no address. */
export const DHCP_OPT_OUT_ANNOTATION = `${GROUP}/dhcp-opt-out`;
/**
 * On a VirtualMachineNetworkConfig: JSON object, interface name to `{networkName, macAddress, replaces}`. It says which entry of
 * the spec belongs to which interface, as a MAC address may be another one after each start of the virtual machine.
 */
export const INTERFACES_ANNOTATION = `${GROUP}/interfaces`;
/** On a VirtualMachineNetworkConfig and an IPPool: what waits for its addresses to be freed. Upstream's names. */
export const NETWORK_CONFIG_FINALIZER = 'wrangler.cattle.io/vm-dhcp-vmnetcfg-controller';
export const IPPOOL_FINALIZER = 'wrangler.cattle.io/vm-dhcp-ippool-controller';
