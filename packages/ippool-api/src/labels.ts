/** Labels, annotations and finalizers that this API gives a meaning to. `docs/reference/annotations-and-labels.md` is generated from the table at the end. */
/** The API group of IPPool and VirtualMachineNetworkConfig, and the prefix of labels and annotations: that of the predecessor. */
export const GROUP = 'network.harvesterhci.io';
/** The version of the API group of IPPool. */
export const VERSION = 'v1alpha1';
/** The `apiVersion` of IPPool and VirtualMachineNetworkConfig. */
export const API_VERSION = `${GROUP}/${VERSION}`;
/** The API group of WolConfig: that of the predecessor, whose objects are used as they are. */
export const WOL_GROUP = 'wol.pillon.org';
/** The version of the API group of WolConfig. */
export const WOL_VERSION = 'v1beta1';
/** The `apiVersion` of WolConfig. */
export const WOL_API_VERSION = `${WOL_GROUP}/${WOL_VERSION}`;

// Each is described in OBJECT_KEYS.
/** Label on NetworkAttachmentDefinition, Deployment and Pod: namespace of the IPPool that serves the network, or that the agents of one pool serve. */
export const IPPOOL_NAMESPACE_LABEL = `${GROUP}/ippool-namespace`;
/** Label on NetworkAttachmentDefinition, Deployment and Pod: name of the IPPool that serves the network, or that the agents of one pool serve. */
export const IPPOOL_NAME_LABEL = `${GROUP}/ippool-name`;
/** Annotation on NetworkAttachmentDefinition: IPPools of these namespaces may serve the network, besides those of its own namespace. */
export const ALLOWED_POOL_NAMESPACES_ANNOTATION = `${GROUP}/allowed-pool-namespaces`;
/** Annotation on NetworkAttachmentDefinition: another DHCP server serves the network, so virtual machines get no warning (`NoPool`) that it has no IPPool. */
export const EXTERNAL_DHCP_ANNOTATION = `${GROUP}/external-dhcp`;
/** Label on NetworkAttachmentDefinition: the cluster network of the network. */
export const CLUSTER_NETWORK_LABEL = `${GROUP}/clusternetwork`;
/** Source: the de-facto standard of the Network Plumbing Working Group; KubeVirt places virtual machines by it. */
export const NETWORK_RESOURCE_ANNOTATION = 'k8s.v1.cni.cncf.io/resourceName';
/** Annotation on IPPool: the IPPool may be deleted while virtual machines use it. */
export const ALLOW_DELETION_ANNOTATION = `${GROUP}/allow-deletion`;
/** Label on Deployment, Pod, Lease, ServiceAccount, Role and RoleBinding: the object belongs to agents. */
export const AGENT_LABEL = `${GROUP}/vm-dhcp-controller`;
/** The value of `AGENT_LABEL` on everything that belongs to agents. */
export const AGENT_LABEL_VALUE = 'agent';
/** Label on Deployment, Pod, Lease, ServiceAccount, Role and RoleBinding: the group of pools that these agents serve. */
export const AGENT_GROUP_LABEL = `${GROUP}/agent-group`;
/** Annotation on Deployment: the controller leaves the number of replicas of these agents as it is. */
export const FREE_REPLICAS_ANNOTATION = `${GROUP}/free-replicas`;
/** Annotation on Lease: pools of the group that its agents must not serve now, because another group may still serve them. */
export const SUSPENDED_POOLS_ANNOTATION = `${GROUP}/suspended-pools`;
/** The holder of a Lease while `vmdhcp-controller migrate --back` keeps its agents from leadership. */
export const MIGRATION_HOLDER = 'vmdhcp-controller-migrate';
/** Annotation on Lease: the suspended pools that the leader has read, and does not serve. */
export const SUSPENDED_POOLS_SEEN_ANNOTATION = `${GROUP}/suspended-pools-seen`;
/** Annotation on Lease: for each pool whether it is served, the reason if it is not, address conflicts, and rogue DHCP servers. */
export const AGENT_REPORT_ANNOTATION = `${GROUP}/agent-report`;
/** On a Lease: its duration in milliseconds, if that is not a whole number of seconds. */
export const LEASE_DURATION_ANNOTATION = `${GROUP}/lease-duration-ms`;
/** Annotation on Lease: what the agents of the group log: `--agent-log-level` and `--agent-log-packets` of the controller. */
export const AGENT_LOG_ANNOTATION = `${GROUP}/agent-log`;
/** On a Lease: how often its holder renews it, in milliseconds. */
export const RENEW_PERIOD_ANNOTATION = `${GROUP}/renew-period-ms`;
/** Annotation on IPPool: what agents log of the packets of the pool. */
export const LOG_LEVEL_ANNOTATION = `${GROUP}/log-level`;
/** Annotation on IPPool: agents log each packet of the pool, decoded, with its reply. */
export const LOG_PACKETS_ANNOTATION = `${GROUP}/log-packets`;
/** Annotation on IPPool: the agents of the pool, and of its whole group, keep the image that they run. */
export const HOLD_AGENT_UPGRADE_ANNOTATION = `${GROUP}/hold-ippool-agent-upgrade`;
/** On a CustomResourceDefinition: which version of the controller applied it. */
export const APPLIED_BY_VERSION_ANNOTATION = `${GROUP}/applied-by-version`;
/** On an object that a migration stopped: its former state. */
export const BEFORE_MIGRATION_ANNOTATION = `${GROUP}/before-migration`;
/** On the CustomResourceDefinition of IPPool: the current run of a migration. */
export const MIGRATION_RUN_ANNOTATION = `${GROUP}/migration-run`;
/** On a ConfigMap: it has MAC addresses of stopped virtual machines. */
export const MAC_ADDRESS_MEMORY_LABEL = `${GROUP}/mac-address-memory`;
/** On a ConfigMap: it has records of who had which address. */
export const AUDIT_LABEL = `${GROUP}/audit`;
/** Annotation on ConfigMap: which start of a controller writes the records: what an earlier leader still sends is refused. */
export const AUDIT_WRITER_ANNOTATION = `${GROUP}/audit-writer`;
/** Label on VirtualMachineNetworkConfig: the virtual machine that it was created for. */
export const VM_NAME_LABEL = 'harvesterhci.io/vmName';
/** Annotation on VirtualMachine: MAC addresses of interfaces whose specification has none. */
export const MAC_ADDRESS_ANNOTATION = 'harvesterhci.io/mac-address';
/** Followed by the name of an interface. */
export const STATIC_IP_ANNOTATION_PREFIX = 'static-ip.harvesterhci.io/';
/** What programs write that import virtual machines: the addresses that each interface had. */
export const ADDRESSES_ANNOTATION = 'network.kubevirt.io/addresses';
/** Annotation on VirtualMachine: the addresses that its interfaces have. */
export const ASSIGNED_ADDRESSES_ANNOTATION = `${GROUP}/assigned-addresses`;
/** Annotation on VirtualMachine: the address that Harvester's list shows where no guest agent reports one. */
export const CUSTOM_IP_ANNOTATION = 'harvesterhci.io/custom-ip';
/** Annotation on VirtualMachine: these interfaces get no address. */
export const DHCP_OPT_OUT_ANNOTATION = `${GROUP}/dhcp-opt-out`;
/** Annotation on VirtualMachineNetworkConfig: which entry of the specification belongs to which interface: the MAC address of an interface may change with each start of the virtual machine. */
export const INTERFACES_ANNOTATION = `${GROUP}/interfaces`;
/** Annotation on VirtualMachineNetworkConfig: the running guest may still use its address on this network until it has been migrated to another one. */
export const LEAVING_ANNOTATION = `${GROUP}/leaving-networks`;
/** On the Lease of the controllers: where agents of Wake-on-LAN reach the leader. */
export const WAKE_ON_LAN_LEADER_ANNOTATION = `${GROUP}/wake-on-lan-leader`;
/** Label on DaemonSet and Pod: the WolConfig whose agents listen for magic packets there. */
export const WOL_CONFIG_LABEL = `${WOL_GROUP}/wolconfig`;
/** Annotation on WolConfig: the agents of the WolConfig keep the image that they run. */
export const HOLD_WAKE_AGENT_UPGRADE_ANNOTATION = `${WOL_GROUP}/hold-agent-upgrade`;
/** The finalizer of VirtualMachineNetworkConfigs, named as the predecessor does. */
export const NETWORK_CONFIG_FINALIZER = 'wrangler.cattle.io/vm-dhcp-vmnetcfg-controller';
/** The finalizer of IPPools, named as the predecessor does. */
export const IPPOOL_FINALIZER = 'wrangler.cattle.io/vm-dhcp-ippool-controller';

type Writer =
  | 'an administrator'
  | 'the owner of the virtual machine'
  | 'the controller'
  | 'the leader of the agents'
  | 'the command migrate'
  | 'Harvester';

interface ObjectKey {
  readonly type: 'label' | 'annotation' | 'finalizer';
  /** Kinds of objects that have it. */
  readonly on: readonly string[];
  readonly writtenBy: readonly Writer[];
  /** The possible values; absent for a finalizer, which has none. */
  readonly values?: string;
  readonly meaning: string;
  /** True if Harvester's vm-dhcp-controller has the same key with the same meaning. */
  readonly isUpstream?: true;
  /** True if kubevirt-wol has the same key with the same meaning. */
  readonly isOfKubevirtWol?: true;
}

const OF_AGENTS = ['Deployment', 'Pod', 'Lease', 'ServiceAccount', 'Role', 'RoleBinding'] as const;

/** By key. A key that ends with `/` is followed by the name of an interface. */
export const OBJECT_KEYS = {
  [ALLOWED_POOL_NAMESPACES_ANNOTATION]: {
    type: 'annotation',
    on: ['NetworkAttachmentDefinition'],
    writtenBy: ['an administrator'],
    values: 'names of namespaces with commas between them; `*` for all; empty for none',
    meaning:
      'IPPools of these namespaces may serve the network, besides those of its own namespace. If the annotation is set, the labels of the pool do not count.',
  },
  [EXTERNAL_DHCP_ANNOTATION]: {
    type: 'annotation',
    on: ['NetworkAttachmentDefinition'],
    writtenBy: ['an administrator'],
    values: '`true`',
    meaning: 'Another DHCP server serves the network, so virtual machines get no warning (`NoPool`) that it has no IPPool.',
  },
  [IPPOOL_NAMESPACE_LABEL]: {
    type: 'label',
    on: ['NetworkAttachmentDefinition', 'Deployment', 'Pod'],
    writtenBy: ['the controller'],
    values: 'a namespace',
    meaning: 'Namespace of the IPPool that serves the network, or that the agents of one pool serve.',
    isUpstream: true,
  },
  [IPPOOL_NAME_LABEL]: {
    type: 'label',
    on: ['NetworkAttachmentDefinition', 'Deployment', 'Pod'],
    writtenBy: ['the controller'],
    values: 'a name',
    meaning: 'Name of the IPPool that serves the network, or that the agents of one pool serve.',
    isUpstream: true,
  },
  [CLUSTER_NETWORK_LABEL]: {
    type: 'label',
    on: ['NetworkAttachmentDefinition'],
    writtenBy: ['Harvester'],
    values: 'a name',
    meaning:
      'The cluster network of the network. Agents run on nodes with the label `network.harvesterhci.io/<cluster network>=true`.',
    isUpstream: true,
  },
  [NETWORK_RESOURCE_ANNOTATION]: {
    type: 'annotation',
    on: ['NetworkAttachmentDefinition'],
    writtenBy: ['an administrator'],
    values: 'an extended resource that nodes have',
    meaning:
      'The nodes that have the bridge of the network, as in `bridge.network.kubevirt.io/br1`: KubeVirt places virtual machines by it, and agents request it too. Agents request resources of bridge-marker and the marker of ovs-cni only; others are ignored.',
    isUpstream: true,
  },
  [HOLD_AGENT_UPGRADE_ANNOTATION]: {
    type: 'annotation',
    on: ['IPPool'],
    writtenBy: ['an administrator'],
    values: 'any',
    meaning: 'The agents of the pool, and of its whole group, keep the image that they run.',
    isUpstream: true,
  },
  [ALLOW_DELETION_ANNOTATION]: {
    type: 'annotation',
    on: ['IPPool'],
    writtenBy: ['an administrator'],
    values: '`true`',
    meaning: 'The IPPool may be deleted while virtual machines use it.',
  },
  [LOG_LEVEL_ANNOTATION]: {
    type: 'annotation',
    on: ['IPPool'],
    writtenBy: ['an administrator'],
    values: '`trace`, `debug`, `info`, `warn`, `error` or `silent`',
    meaning: 'What agents log of the packets of the pool. Takes effect within a second.',
  },
  [LOG_PACKETS_ANNOTATION]: {
    type: 'annotation',
    on: ['IPPool'],
    writtenBy: ['an administrator'],
    values: '`true` or `false`',
    meaning: 'Agents log each packet of the pool, decoded, with its reply. Takes effect within a second.',
  },
  [DHCP_OPT_OUT_ANNOTATION]: {
    type: 'annotation',
    on: ['VirtualMachine'],
    writtenBy: ['the owner of the virtual machine'],
    values: '`true` for all interfaces, or names of interfaces with commas between them',
    meaning: 'These interfaces get no address.',
  },
  [STATIC_IP_ANNOTATION_PREFIX]: {
    type: 'annotation',
    on: ['VirtualMachine'],
    writtenBy: ['the owner of the virtual machine'],
    values: 'an IPv4 address',
    meaning: 'The interface of this name gets this address.',
    isUpstream: true,
  },
  [ADDRESSES_ANNOTATION]: {
    type: 'annotation',
    on: ['VirtualMachine'],
    writtenBy: ['the owner of the virtual machine'],
    values: 'JSON: `{"<interface>":["<IP address>"]}`; also in the annotations of `spec.template`',
    meaning: 'The interface of this name gets this IPv4 address, if it has no annotation `static-ip.harvesterhci.io/`.',
    isUpstream: true,
  },
  [ASSIGNED_ADDRESSES_ANNOTATION]: {
    type: 'annotation',
    on: ['VirtualMachine'],
    writtenBy: ['the controller'],
    values: 'JSON: `{"<interface>":["<IP address>"]}`',
    meaning: 'The addresses that the interfaces have now; only with `--annotate-machines`.',
  },
  [CUSTOM_IP_ANNOTATION]: {
    type: 'annotation',
    on: ['VirtualMachine'],
    writtenBy: ['the controller', 'the owner of the virtual machine'],
    values: 'an IPv4 address',
    meaning:
      'The address that the user interface of Harvester shows where no guest agent reports one. With `--annotate-machines` the controller writes the first one that the machine has, unless somebody else has written another.',
    isUpstream: true,
  },
  [MAC_ADDRESS_ANNOTATION]: {
    type: 'annotation',
    on: ['VirtualMachine'],
    writtenBy: ['Harvester'],
    values: 'JSON: `{"<interface>":"<MAC address>"}`',
    meaning: 'MAC addresses of interfaces whose specification has none.',
    isUpstream: true,
  },
  [VM_NAME_LABEL]: {
    type: 'label',
    on: ['VirtualMachineNetworkConfig'],
    writtenBy: ['the controller'],
    values: 'a name',
    meaning: 'The virtual machine that it was created for.',
    isUpstream: true,
  },
  [INTERFACES_ANNOTATION]: {
    type: 'annotation',
    on: ['VirtualMachineNetworkConfig'],
    writtenBy: ['the controller'],
    values: 'JSON: `{"<interface>":{"networkName":...,"macAddress":...,"replaces":[...]}}`',
    meaning:
      'Which entry of the specification belongs to which interface: the MAC address of an interface may change with each start of the virtual machine.',
  },
  [LEAVING_ANNOTATION]: {
    type: 'annotation',
    on: ['VirtualMachineNetworkConfig'],
    writtenBy: ['the controller'],
    values: 'JSON: `{"<network> <MAC address>":{"since":...,"instance":...,"migration":...}}`',
    meaning: 'The running guest may still use its address on this network until it has been migrated to another one.',
  },
  [WOL_CONFIG_LABEL]: {
    type: 'label',
    on: ['DaemonSet', 'Pod'],
    writtenBy: ['the controller'],
    values: 'a name',
    meaning: 'The WolConfig whose agents listen for magic packets there.',
    isOfKubevirtWol: true,
  },
  [HOLD_WAKE_AGENT_UPGRADE_ANNOTATION]: {
    type: 'annotation',
    on: ['WolConfig'],
    writtenBy: ['an administrator'],
    values: 'any',
    meaning: 'The agents of the WolConfig keep the image that they run.',
  },
  [MAC_ADDRESS_MEMORY_LABEL]: {
    type: 'label',
    on: ['ConfigMap'],
    writtenBy: ['the controller'],
    values: '`true`',
    meaning:
      'The ConfigMap has MAC addresses that KubeVirt chose for virtual machines which are stopped now: Wake-on-LAN finds them by these.',
  },
  [AUDIT_LABEL]: {
    type: 'label',
    on: ['ConfigMap'],
    writtenBy: ['the controller'],
    values: '`true`',
    meaning: 'The ConfigMap has records of who had which address: `kubectl vmdhcp audit` reads them.',
  },
  [AUDIT_WRITER_ANNOTATION]: {
    type: 'annotation',
    on: ['ConfigMap'],
    writtenBy: ['the controller'],
    values: 'any',
    meaning: 'Which start of a controller writes the records: what an earlier leader still sends is refused.',
  },
  [NETWORK_CONFIG_FINALIZER]: {
    type: 'finalizer',
    on: ['VirtualMachineNetworkConfig'],
    writtenBy: ['the controller'],
    meaning: 'The object stays until the pools have freed its addresses.',
    isUpstream: true,
  },
  [IPPOOL_FINALIZER]: {
    type: 'finalizer',
    on: ['IPPool'],
    writtenBy: ['the controller'],
    meaning: 'The object stays until no agent serves it.',
    isUpstream: true,
  },
  [AGENT_LABEL]: {
    type: 'label',
    on: OF_AGENTS,
    writtenBy: ['the controller'],
    values: '`agent`',
    meaning: 'The object belongs to agents.',
    isUpstream: true,
  },
  [AGENT_GROUP_LABEL]: {
    type: 'label',
    on: OF_AGENTS,
    writtenBy: ['the controller'],
    values: 'a name',
    meaning: 'The group of pools that these agents serve.',
  },
  [FREE_REPLICAS_ANNOTATION]: {
    type: 'annotation',
    on: ['Deployment'],
    writtenBy: ['an administrator'],
    values: '`true`',
    meaning: 'The controller leaves the number of replicas of these agents as it is.',
  },
  [BEFORE_MIGRATION_ANNOTATION]: {
    type: 'annotation',
    on: ['Deployment', 'Addon', 'Lease'],
    writtenBy: ['the command migrate'],
    values: 'a number of replicas; `enabled`; seconds',
    meaning:
      'What `vmdhcp-controller migrate` stopped: a Deployment had so many replicas, an add-on of Harvester was enabled, a Lease lasted so long.',
  },
  [MIGRATION_RUN_ANNOTATION]: {
    type: 'annotation',
    on: ['CustomResourceDefinition'],
    writtenBy: ['the command migrate'],
    values: 'a direction and a random id, after `done` when that run is over',
    meaning: 'Which run of `vmdhcp-controller migrate` began last: another one that finds it ends.',
  },
  [APPLIED_BY_VERSION_ANNOTATION]: {
    type: 'annotation',
    on: ['CustomResourceDefinition'],
    writtenBy: ['the controller'],
    values: 'a version, as 1.2.0',
    meaning: 'The version of the controller that applied the definition. A controller of an older version leaves it as it is.',
  },
  [SUSPENDED_POOLS_ANNOTATION]: {
    type: 'annotation',
    on: ['Lease'],
    writtenBy: ['the controller'],
    values: 'JSON: the pools, and a number that changes with them',
    meaning: 'Pools of the group that its agents must not serve now, because another group may still serve them.',
  },
  [SUSPENDED_POOLS_SEEN_ANNOTATION]: {
    type: 'annotation',
    on: ['Lease'],
    writtenBy: ['the leader of the agents'],
    values: 'a copy of `network.harvesterhci.io/suspended-pools`',
    meaning: 'The suspended pools that the leader has read, and does not serve.',
  },
  [AGENT_REPORT_ANNOTATION]: {
    type: 'annotation',
    on: ['Lease'],
    writtenBy: ['the leader of the agents'],
    values: 'JSON, at most 131,072 octets',
    meaning: 'For each pool whether it is served, the reason if it is not, address conflicts, and rogue DHCP servers.',
  },
  [AGENT_LOG_ANNOTATION]: {
    type: 'annotation',
    on: ['Lease'],
    writtenBy: ['the controller'],
    values: 'JSON: `{"level":"debug","packets":true}`',
    meaning: 'What the agents of the group log: `--agent-log-level` and `--agent-log-packets` of the controller.',
  },
  [RENEW_PERIOD_ANNOTATION]: {
    type: 'annotation',
    on: ['Lease'],
    writtenBy: ['the controller'],
    values: 'milliseconds',
    meaning:
      'How often the leader of the group renews the Lease: `--agent-lease-writes-per-second` of the controller, divided among the groups. Without it: as often as `--agent-lease-seconds` needs.',
  },
  [LEASE_DURATION_ANNOTATION]: {
    type: 'annotation',
    on: ['Lease'],
    writtenBy: ['the leader of the agents', 'the controller'],
    values: 'milliseconds',
    meaning: 'How long the Lease lasts, where that is not a whole number of seconds, as `leaseDurationSeconds` has it.',
  },
  [WAKE_ON_LAN_LEADER_ANNOTATION]: {
    type: 'annotation',
    on: ['Lease'],
    writtenBy: ['the controller'],
    values: '`HOST:PORT`; empty: not known',
    meaning:
      'Where agents of Wake-on-LAN reach the leader of the controllers. Controllers that are not leader direct agents there.',
  },
} as const satisfies Readonly<Record<string, ObjectKey>>;
