/** Labels and annotations that this API gives a meaning to. */
export const GROUP = 'network.harvesterhci.io';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** On a NetworkAttachmentDefinition: the pool that serves its network. */
export const IPPOOL_NAMESPACE_LABEL = `${GROUP}/ippool-namespace`;
export const IPPOOL_NAME_LABEL = `${GROUP}/ippool-name`;
/** On a NetworkAttachmentDefinition, set by Harvester: the cluster network it belongs to. */
export const CLUSTER_NETWORK_LABEL = `${GROUP}/clusternetwork`;
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
/** On a VirtualMachineNetworkConfig and an IPPool: what waits for its addresses to be freed. Upstream's names. */
export const NETWORK_CONFIG_FINALIZER = 'wrangler.cattle.io/vm-dhcp-vmnetcfg-controller';
export const IPPOOL_FINALIZER = 'wrangler.cattle.io/vm-dhcp-ippool-controller';
