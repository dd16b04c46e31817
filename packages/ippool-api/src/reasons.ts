/**
 * Every reason that a condition, an Event or the report of an agent may have. The unions below come from this table, so code that writes a reason
 * which is not here, or writes it in the wrong place, does not compile. `docs/reference/reasons.md` is generated from it.
 */
import type { IPPoolConditionType, VirtualMachineNetworkConfigConditionType, WolConfigConditionType } from './condition.js';

type Status = 'True' | 'False' | 'Unknown';
type TypeOf<Types> = Types[keyof Types] & string;

/** `IPPool AgentReady=False`: a condition with this status. */
export type ConditionPlace =
  | `IPPool ${TypeOf<typeof IPPoolConditionType>}=${Status}`
  | `VirtualMachineNetworkConfig ${TypeOf<typeof VirtualMachineNetworkConfigConditionType>}=${Status}`
  | `WolConfig ${TypeOf<typeof WolConfigConditionType>}=${Status}`;
/** Kinds that Events are about. */
type EventKind = 'IPPool' | 'VirtualMachine' | 'VirtualMachineNetworkConfig' | 'WolConfig';
/** `Warning Event on VirtualMachine`: an Event of this type about an object of this kind. */
export type EventPlace = `${'Normal' | 'Warning'} Event on ${EventKind}`;
/** Reasons in the report of the leader of a group, for a pool that it does not serve. */
export type ReportPlace = 'agent report';
/** Reasons that only `kubectl vmdhcp why` finds, which looks at all objects on the way to an address. */
export type ExplanationPlace = 'kubectl vmdhcp why';
/** Where a reason is seen: in a condition, an Event, a report or an explanation. */
export type ReasonPlace = ConditionPlace | EventPlace | ReportPlace | ExplanationPlace;

interface ReasonEntry {
  readonly shown: readonly ReasonPlace[];
  /** The meaning of the reason. The message of the condition or Event adds the names. */
  readonly meaning: string;
  /** What an administrator does next. */
  readonly remedy: string;
}

/** Why an interface has no address, or not the one that it should have. */
const INTERFACE = [
  'VirtualMachineNetworkConfig Allocated=False',
  'Warning Event on VirtualMachine',
  'Warning Event on VirtualMachineNetworkConfig',
] as const;
/** Parts of a virtual machine's specification that cannot be met. */
const MACHINE = ['Warning Event on VirtualMachine'] as const;
/** Why a pool is not used at all: the conditions about agents repeat it. */
const POOL_UNUSED = [
  'IPPool CacheReady=False',
  'IPPool Registered=False',
  'IPPool AgentReady=False',
  'Warning Event on IPPool',
] as const;
/** A pool that is used, with something that its owner should know. */
const POOL_NOTE = ['IPPool CacheReady=True', 'Warning Event on IPPool'] as const;
/** Why agents cannot be configured with a pool. */
const AGENTS = ['IPPool Registered=False', 'IPPool AgentReady=False'] as const;
const AGENTS_WITH_EVENT = [...AGENTS, 'Warning Event on IPPool'] as const;
/** Why agents that are configured with a pool do not serve it. */
const UNSERVED = ['IPPool AgentReady=False'] as const;
const UNSERVED_WITH_EVENT = [...UNSERVED, 'Warning Event on IPPool'] as const;
/** The same, found and reported by an agent. */
const REPORTED = ['agent report', ...UNSERVED] as const;
/** New agents cannot run; the status is True while older ones serve. */
const ROLLOUT = ['IPPool AgentReady=False', 'IPPool AgentReady=True', 'Warning Event on IPPool'] as const;

/** Why a WolConfig is not used as it is written. */
const WOL_CONFIG = ['WolConfig Ready=False', 'Warning Event on WolConfig'] as const;
/** Why virtual machines that a WolConfig names or selects are not woken. */
const WOL_MAPPINGS = ['WolConfig MappingsResolved=False', 'Warning Event on WolConfig'] as const;
const EXPLAINED = ['kubectl vmdhcp why'] as const;

export const REASONS = {
  PoolExhausted: {
    shown: [...INTERFACE, 'Warning Event on IPPool'],
    meaning: 'Every address of the pool is in use.',
    remedy:
      'Raise `spec.ipv4Config.pool.end` of the IPPool or lower `start` (the message has the limits), or delete virtual machines.',
  },
  PoolRecordFull: {
    shown: [...INTERFACE, 'Warning Event on IPPool'],
    meaning:
      'The pool records about 40,000 addresses, which is the most that one IPPool has room for: the API server refuses larger objects. A virtual machine that has an address keeps it.',
    remedy: 'Delete virtual machines, or attach some to another network with an IPPool of its own.',
  },
  AddressTaken: {
    shown: INTERFACE,
    meaning: 'Another virtual machine has the pinned address.',
    remedy: 'Pin another address, or delete that virtual machine first.',
  },
  AddressOutsidePool: {
    shown: INTERFACE,
    meaning: 'The pinned address is not between `start` and `end` of the pool.',
    remedy:
      'Pin another address, or add this one with the MAC address of the interface to `spec.ipv4Config.reservations` of the IPPool.',
  },
  AddressReserved: {
    shown: INTERFACE,
    meaning: 'The pinned address is reserved for another MAC address.',
    remedy: 'Pin another address, or change `spec.ipv4Config.reservations` of the IPPool.',
  },
  AddressUnavailable: {
    shown: INTERFACE,
    meaning:
      'The pinned address is never leased: it is excluded, or it is the address of the server, the router, the network or the broadcast.',
    remedy: 'Pin another address.',
  },
  AddressQuarantined: {
    shown: INTERFACE,
    meaning: 'Another machine on the network uses the pinned address.',
    remedy: 'Pin another address, or remove that machine and wait until the time in `status.ipv4.quarantined` of the IPPool.',
  },
  ClientHasAnotherAddress: {
    shown: INTERFACE,
    meaning: 'The pool records another address for the MAC address of the interface.',
    remedy:
      'Nothing: the address changes with the next plan of the pool. If the reason stays, look at the log of the controller.',
  },
  ClaimMissing: {
    shown: INTERFACE,
    meaning: 'The address is reserved for a virtual machine whose VirtualMachineNetworkConfig is being created.',
    remedy: 'Nothing: this takes a moment. If the reason stays, look at the Events of the virtual machine.',
  },
  OtherInterfaceRefused: {
    shown: INTERFACE,
    meaning: 'Another interface of the same virtual machine cannot have an address, so this one gets no new address either.',
    remedy: 'Correct the other interface; the message has its reason.',
  },
  MacAddressClaimedTwice: {
    shown: INTERFACE,
    meaning:
      'Interfaces of two virtual machines on one network have the same MAC address. The interface that has its address keeps it.',
    remedy: 'Change the MAC address of one of the interfaces.',
  },
  MacAddressUnreadable: {
    shown: INTERFACE,
    meaning: 'The MAC address of an interface is not a MAC address. The virtual machine keeps the addresses that it has.',
    remedy: 'Correct the MAC address that the message names.',
  },
  AddressUnreadable: {
    shown: INTERFACE,
    meaning: '`ipAddress` of an interface in the VirtualMachineNetworkConfig is not an IPv4 address.',
    remedy: 'Correct the address that the message names, or remove it to get any address.',
  },
  NetworkNameMissing: {
    shown: [...INTERFACE, ...POOL_UNUSED],
    meaning: '`spec.networkName` of the IPPool, or `networkName` of an interface in the VirtualMachineNetworkConfig, is empty.',
    remedy:
      'IPPool: delete it, and create it again with the name of a NetworkAttachmentDefinition. VirtualMachineNetworkConfig: set `networkName`.',
  },
  NoPool: {
    shown: INTERFACE,
    meaning: 'No IPPool serves the network.',
    remedy:
      'Create an IPPool in the namespace of the network, with the network in `spec.networkName`. If another DHCP server serves the network on purpose, annotate the NetworkAttachmentDefinition `network.harvesterhci.io/external-dhcp: "true"`, or the virtual machine `network.harvesterhci.io/dhcp-opt-out`.',
  },
  NoInterfaces: {
    shown: INTERFACE,
    meaning: '`spec.networkConfigs` of the VirtualMachineNetworkConfig is empty.',
    remedy: 'Add an interface.',
  },
  PoolPaused: {
    shown: INTERFACE,
    meaning: 'The IPPool of the network is paused: it assigns no new addresses.',
    remedy: 'Set `spec.paused` of the IPPool to false.',
  },
  PoolInvalid: {
    shown: [...INTERFACE, ...POOL_UNUSED, 'agent report'],
    meaning:
      'The settings of the IPPool are invalid. Its condition `CacheReady` names the first problems and how many more there are.',
    remedy:
      'Correct the settings that the message names. Where the API server refuses that (`cidr`, `serverIP`, and `router` once it is set), delete the IPPool and create it again: virtual machines keep their addresses.',
  },
  VirtualMachineMissing: {
    shown: [
      'VirtualMachineNetworkConfig Allocated=True',
      'Warning Event on VirtualMachine',
      'Warning Event on VirtualMachineNetworkConfig',
    ],
    meaning:
      'The VirtualMachine was deleted without its VirtualMachineNetworkConfig (`kubectl delete vm --cascade=orphan`), whose addresses stay assigned.',
    remedy: 'Delete the VirtualMachineNetworkConfig to free the addresses, or create the virtual machine again to keep them.',
  },
  ExternalDHCP: {
    shown: ['VirtualMachineNetworkConfig Allocated=True'],
    meaning: 'Another DHCP server serves every network of the virtual machine, as the NetworkAttachmentDefinitions specify.',
    remedy: 'Nothing.',
  },
  NetworkConfigChanged: {
    shown: ['VirtualMachineNetworkConfig InSynced=False'],
    meaning: 'Addresses that the specification no longer wants are being freed.',
    remedy: 'Nothing: this takes a moment.',
  },

  AwaitingMacAddress: {
    shown: ['Normal Event on VirtualMachine'],
    meaning: 'An interface has no MAC address yet.',
    remedy:
      'Start the virtual machine: KubeVirt chooses the MAC address, and reports it in the VirtualMachineInstance. Or set `macAddress` of the interface.',
  },
  TemplateMissing: {
    shown: MACHINE,
    meaning: 'The VirtualMachine has no `spec.template.spec`. It keeps the addresses that it has.',
    remedy: 'Correct the VirtualMachine.',
  },
  MacAddressAnnotationUnreadable: {
    shown: MACHINE,
    meaning: 'The annotation `harvesterhci.io/mac-address` cannot be read. The virtual machine keeps the addresses that it has.',
    remedy: 'Correct the annotation: a JSON object of interface names and MAC addresses.',
  },
  MacAddressTwice: {
    shown: MACHINE,
    meaning: 'Two interfaces of the virtual machine have the same MAC address on one network.',
    remedy: 'Change one of the MAC addresses.',
  },
  StaticAddressUnreadable: {
    shown: MACHINE,
    meaning: 'An annotation `static-ip.harvesterhci.io/<interface>` is not an IPv4 address. It is ignored.',
    remedy: 'Correct the annotation, or remove it.',
  },
  PinnedAddressesUnreadable: {
    shown: MACHINE,
    meaning:
      'The annotation `network.kubevirt.io/addresses` cannot be read. Its interfaces keep the addresses that they have, and get no others.',
    remedy:
      'Correct the annotation: a JSON object of interface names and lists of IP addresses. Or remove it: then any address is assigned.',
  },
  PinnedAddressesSurplus: {
    shown: MACHINE,
    meaning:
      'The annotation `network.kubevirt.io/addresses` has several IPv4 addresses for one interface. DHCP assigns only the first one.',
    remedy: 'Set the others in the guest, or leave them out.',
  },
  StaticAddressWithoutInterface: {
    shown: MACHINE,
    meaning:
      'An annotation `static-ip.harvesterhci.io/<interface>`, or `network.kubevirt.io/addresses`, names no interface of the virtual machine. That name is ignored.',
    remedy: 'Correct the name of the interface in the annotation, or remove it.',
  },
  OptOutWithoutInterface: {
    shown: MACHINE,
    meaning:
      'The annotation `network.harvesterhci.io/dhcp-opt-out` names an interface that the virtual machine does not have. That name is ignored.',
    remedy: 'Correct the annotation, or remove it.',
  },
  NetworkNameTooLong: {
    shown: MACHINE,
    meaning:
      'Namespace and name of a network have more than 64 characters together, which the VirtualMachineNetworkConfig cannot store.',
    remedy: 'Create the NetworkAttachmentDefinition with a shorter name.',
  },
  TooManyInterfaces: {
    shown: MACHINE,
    meaning: 'Four interfaces of a virtual machine get addresses, and this one has more.',
    remedy: 'Opt the others out with the annotation `network.harvesterhci.io/dhcp-opt-out`.',
  },
  BindingNotServed: {
    shown: MACHINE,
    meaning:
      'The binding of an interface (masquerade, passt, slirp) keeps DHCP in the pod, so the interface gets no address. One that has an address keeps it.',
    remedy:
      'Use the binding `bridge`, or opt the interface out with the annotation `network.harvesterhci.io/dhcp-opt-out`, which frees its address.',
  },
  VirtualMachineInstancesUnreadable: {
    shown: MACHINE,
    meaning: 'The controller has no right to read VirtualMachineInstances, so interfaces that have changed keep their addresses.',
    remedy: 'Apply the ClusterRole of `manifests/vmdhcp.yaml`.',
  },
  VirtualMachineInstanceUnseen: {
    shown: MACHINE,
    meaning:
      'For a minute `status.created` of the virtual machine has been true, and the controller has not seen a VirtualMachineInstance that runs, so interfaces that have changed keep their addresses.',
    remedy: 'Check that virt-controller of KubeVirt runs, and that `kubectl get vmi` works.',
  },
  NetworkConfigRefused: {
    shown: MACHINE,
    meaning: 'The API server refused the VirtualMachineNetworkConfig of the virtual machine; the message has its text.',
    remedy: 'Correct what the API server names.',
  },

  WakeUpStarted: {
    shown: ['Normal Event on VirtualMachine'],
    meaning: 'A magic packet arrived for the virtual machine, and KubeVirt accepted the request to start it.',
    remedy: 'Nothing. The message has the sender of the packet.',
  },
  WakeUpUnpaused: {
    shown: ['Normal Event on VirtualMachine'],
    meaning:
      'A magic packet arrived for the virtual machine, which was paused, and KubeVirt accepted the request to continue it.',
    remedy: 'Nothing. If paused machines are to stay paused, set `spec.unpause` of the WolConfig to false.',
  },
  WakeUpWaiting: {
    shown: ['Normal Event on VirtualMachine'],
    meaning: 'A magic packet arrived for the virtual machine while it was stopping. It is started when it is down.',
    remedy: 'Nothing. The controller waits two minutes at most, and another Event reports the end.',
  },
  WakeUpNotNeeded: {
    shown: ['Normal Event on VirtualMachine'],
    meaning: 'A magic packet arrived for the virtual machine, which runs already, is starting, or is started by KubeVirt itself.',
    remedy: 'Nothing.',
  },
  WakeUpRefused: {
    shown: MACHINE,
    meaning: 'A magic packet arrived for the virtual machine, and its state or its run strategy does not allow a start.',
    remedy: 'Do what the message names, and send the packet again.',
  },
  WakeUpFailed: {
    shown: MACHINE,
    meaning:
      'A magic packet arrived for the virtual machine, and the API server or KubeVirt refused the request to start or continue it, or did not answer.',
    remedy:
      'Do what the message names. Where there was no answer, agents report the wake-up again for two minutes; look at the pods of virt-api.',
  },
  WakeUpAmbiguous: {
    shown: MACHINE,
    meaning: 'A magic packet arrived for an address that several virtual machines have. None of them is started.',
    remedy: 'Change the MAC address of all but one of the virtual machines, or let WolConfigs allow only one of them.',
  },
  WakeUpAbandoned: {
    shown: MACHINE,
    meaning: 'A wake-up waited until the virtual machine was down, and the wait ended without a start.',
    remedy: 'Send the packet again. The message has the reason.',
  },

  NetworkTaken: {
    shown: POOL_UNUSED,
    meaning: 'An older IPPool serves the same network.',
    remedy:
      'Delete one of the two IPPools. If the other one is in another namespace, remove that namespace from the annotation `network.harvesterhci.io/allowed-pool-namespaces` of the NetworkAttachmentDefinition (`""` allows none).',
  },
  NetworkNotAllowed: {
    shown: POOL_UNUSED,
    meaning: 'The network belongs to another namespace, which does not allow this IPPool to serve it.',
    remedy:
      "Add the IPPool's namespace to the annotation `network.harvesterhci.io/allowed-pool-namespaces` of the NetworkAttachmentDefinition, or create the IPPool in the network's namespace.",
  },
  NetworkMissing: {
    shown: AGENTS_WITH_EVENT,
    meaning: 'The NetworkAttachmentDefinition that `spec.networkName` names does not exist.',
    remedy: 'Create it, or delete the IPPool and create it again with another `spec.networkName`.',
  },
  Paused: {
    shown: ['IPPool CacheReady=False', ...AGENTS, 'agent report'],
    meaning: 'The pool is paused: nothing is assigned or served. Assigned addresses stay assigned.',
    remedy: 'Set `spec.paused` to false.',
  },
  NetworkNotServed: {
    shown: [...POOL_NOTE, 'Warning Event on VirtualMachine'],
    meaning:
      'OVN-Kubernetes assigns the addresses of the network itself (`subnets`, or `role: primary`), so its interfaces get no addresses. Those that have one keep it.',
    remedy:
      'Use a NetworkAttachmentDefinition without `subnets` and with `role: secondary`, or delete the IPPool of the network.',
  },
  ServedTwice: {
    shown: POOL_NOTE,
    meaning:
      'The network has `ipam`, which gives pods addresses. For virtual machines with the binding `bridge`, KubeVirt answers with these addresses too.',
    remedy:
      'Remove `ipam` from `spec.config` of the NetworkAttachmentDefinition, also inside `plugins`, and restart the virtual machines.',
  },
  MayBeServedTwice: {
    shown: ['IPPool CacheReady=True'],
    meaning:
      'The CNI plugin of the network is kube-ovn. If its Subnet has a `cidrBlock`, KubeVirt or OVN answers DHCP requests too.',
    remedy: 'Nothing if the Subnet has `vlan` and no `cidrBlock`. Otherwise use such a Subnet.',
  },
  SegmentShared: {
    shown: POOL_NOTE,
    meaning: 'Two networks lead to the same bridge and VLAN, and their IPPools have CIDRs that overlap.',
    remedy:
      'Delete all but one of these IPPools, or create them again with CIDRs that do not overlap. The message names the bridge and VLAN, by which an administrator finds the NetworkAttachmentDefinition of a pool in another namespace.',
  },
  OverlapsServiceCidr: {
    shown: POOL_NOTE,
    meaning: '`cidr` overlaps the network of the Services of the cluster (`--service-cidr`). The pool is served all the same.',
    remedy: 'Move the virtual machines to a network with another IPPool, whose `cidr` does not overlap, and delete this one.',
  },
  OverlapsPodCidr: {
    shown: POOL_NOTE,
    meaning: '`cidr` overlaps the network of the pods of the cluster (`--pod-cidr`). The pool is served all the same.',
    remedy:
      'Move the virtual machines to a network with another IPPool, whose `cidr` overlaps none of them, and delete this one.',
  },
  IsApiServer: {
    shown: POOL_NOTE,
    meaning: 'The DHCP server has an address of the API server (`--api-server-address`), or a client could get it.',
    remedy:
      'Exclude the address, remove its reservation, or make the IPPool again with another `serverIP`, as the message names it.',
  },
  AddressOutsideRange: {
    shown: POOL_NOTE,
    meaning:
      'Addresses outside the range of the pool stay assigned to the virtual machines that have them, and nobody else gets them.',
    remedy:
      'Nothing, if the range is to be drained: it is when the message is gone. To free the addresses, pin others and restart the virtual machines that run, or delete these; to keep them for good, reserve them for their MAC addresses.',
  },
  ExcludedAddressInUse: {
    shown: POOL_NOTE,
    meaning:
      'Addresses that were excluded later, or became the address of the router, stay assigned to the virtual machines that have them.',
    remedy: 'Pin other addresses, or delete the virtual machines. If the virtual machine is the router, nothing is wrong.',
  },
  EntriesSkipped: {
    shown: POOL_NOTE,
    meaning: 'An entry of the settings or of `status.ipv4.allocated` cannot be read and is ignored; no client gets its address.',
    remedy:
      'Correct the setting, or remove the entry of the status: `kubectl patch ippool NAME --subresource=status --type=merge -p \'{"status":{"ipv4":{"allocated":{"ADDRESS":null}}}}\'`.',
  },
  ExclusionsNotListed: {
    shown: ['IPPool CacheReady=True'],
    meaning:
      '`status.ipv4.allocated` lists at most 1,024 excluded addresses, and no range of more than 256. No client gets an excluded address, listed or not.',
    remedy: 'Nothing.',
  },
  AddressChanged: {
    shown: ['Warning Event on IPPool'],
    meaning:
      'The pool has another CIDR or server address than when these addresses were assigned, so their virtual machines get other addresses.',
    remedy: 'Make the virtual machines that run ask again: `kubectl vmdhcp renew NAME INTERFACE`, or restart them.',
  },
  AddressConflict: {
    shown: ['Warning Event on IPPool'],
    meaning:
      'Another machine uses an address of the pool; the message has its MAC address if it is known. No client gets the address for an hour.',
    remedy: 'Reserve the address for that MAC address in `spec.ipv4Config.reservations`, or remove the machine from the network.',
  },
  UnassignedAddressUsed: {
    shown: ['Warning Event on IPPool', ...MACHINE],
    meaning:
      'A machine answers ARP for an address of the pool that is not assigned to it: its guest has a fixed address, or that of another machine. No client gets such an address while it is free; nothing is done to the machine.',
    remedy:
      'Pin the address for the virtual machine that uses it, reserve or exclude it in the IPPool, or let the guest operating system use DHCP.',
  },
  RogueServer: {
    shown: ['IPPool RogueServer=True', ...REPORTED, 'Warning Event on IPPool'],
    meaning: 'Another DHCP server answers on the network; the message has its address and MAC address.',
    remedy:
      'Switch that DHCP server off, or delete the IPPool. With `spec.onRogueServer: Stop` the pool is not served until then.',
  },
  DuplicateAddressDetected: {
    shown: ['Warning Event on IPPool', ...EXPLAINED],
    meaning:
      'A machine declined its IPv6 address (DHCPv6 DECLINE), because another host on the network uses it. Its IPv4 address is not affected.',
    remedy:
      'Find that host: on a machine of the network, `ping ADDRESS` and then `ip neighbour show ADDRESS` show its MAC address. Give it another address; the machine asks again by itself.',
  },
  RogueRouter: {
    shown: ['IPPool RouterReady=False', 'Warning Event on IPPool'],
    meaning:
      'A host sends IPv6 Router Advertisements, or answers at the address of a router, and should not: it is a virtual machine of the pool, or `spec.ipv6Config.routers` does not name it. Hosts may send their packets to it.',
    remedy:
      'Switch off router advertisements there (radvd, a shared connection). If the host is a router of the network, set `spec.ipv6Config.routers` of the IPPool to the addresses of all its routers, which the message has; with `routerAdvertisements: DefaultRoute`, set `Assist` first, as agents would make a default route to each of them.',
  },
  NoRouter: {
    shown: ['IPPool RouterReady=False'],
    meaning:
      'No IPv6 router of the network offers a default route by Router Advertisements, or (with `routerAdvertisements: DefaultRoute`) none of `routers` answers, so hosts have addresses and reach nothing beyond the network.',
    remedy:
      'Let the router of the network send Router Advertisements with a lifetime, or look whether a switch drops them (RA guard). If it cannot, name it in `spec.ipv6Config.routers` of the IPPool and set `routerAdvertisements: DefaultRoute`; then it has to be up, and to forward IPv6. If the network should have no IPv6 router, set `spec.ipv6Config.routers` of the IPPool to `[]`.',
  },
  RouterSaysNoManaged: {
    shown: ['IPPool RouterReady=False'],
    meaning:
      'A router of the network advertises that addresses do not come by DHCPv6 (M=0). With `routerAdvertisements: Disabled` hosts never ask for one; else some hosts follow the router, and some the agents, which say the opposite.',
    remedy:
      'Set the flags M and O of that router, whose address the message has (radvd: `AdvManagedFlag on; AdvOtherConfigFlag on;`).',
  },

  NetworkSilent: {
    shown: UNSERVED_WITH_EVENT,
    meaning:
      'Virtual machines have been running on the network for minutes, and the leader of the agents reaches none of them: none asked by DHCP, and none answers ARP requests for its recorded address.',
    remedy:
      'Look at the node of the pod in the message: does it have the bridge of the network with its uplink, does the trunk have the VLAN, and does a MAC spoof check drop frames of the agents? If the network is missing on this node, tell where it is: `k8s.v1.cni.cncf.io/resourceName` of the NetworkAttachmentDefinition, or `spec.agentNodeSelector` of the IPPool.',
  },
  Pending: {
    shown: AGENTS,
    meaning: 'The Deployment of the agents is not configured with the pool yet.',
    remedy: 'Nothing: this takes seconds. If the reason stays, look at the log of the controller.',
  },
  NotServed: {
    shown: AGENTS,
    meaning: 'The pool is not used; the condition `CacheReady` has the reason.',
    remedy: 'Look at the condition `CacheReady`.',
  },
  AgentsElsewhere: {
    shown: AGENTS,
    meaning: 'Agents in another namespace served the pool, and may still serve it.',
    remedy: 'Start the controller with `--previous-namespace`, which moves the pool to new agents.',
  },
  AgentDeploymentMissing: {
    shown: AGENTS_WITH_EVENT,
    meaning: 'The Deployment of the agents (topology `unified`) does not exist.',
    remedy: 'Install it (`kubectl apply -f manifests/vmdhcp-unified.yaml`, or the chart), or correct `AGENT_DEPLOYMENT_NAME`.',
  },
  AgentContainerMissing: {
    shown: AGENTS_WITH_EVENT,
    meaning: 'The Deployment of the agents (topology `unified`) has no container of the configured name.',
    remedy: 'Correct `AGENT_CONTAINER_NAME`.',
  },
  AgentDeploymentConflict: {
    shown: AGENTS_WITH_EVENT,
    meaning: 'A Deployment that the controller did not create has the name of the Deployment of the agents.',
    remedy: 'Delete that Deployment, or create it again with another name.',
  },
  AgentSelectorMismatch: {
    shown: AGENTS_WITH_EVENT,
    meaning: 'The Deployment of the agents has another selector, which Kubernetes does not change.',
    remedy: 'Delete the Deployment; the controller creates it again.',
  },
  AgentRightsMissing: {
    shown: AGENTS,
    meaning:
      "A ServiceAccount, Role or RoleBinding of the agents cannot be created; the message has the API server's text, or names the object in the way. Until then the agents are not configured with the pool.",
    remedy: 'Apply `manifests/vmdhcp.yaml`, delete the object in the way, or start the controller with `--service-account-name`.',
  },
  AgentConfigTooLarge: {
    shown: AGENTS_WITH_EVENT,
    meaning:
      'The agents of the group cannot be configured with more pools: Linux takes 131,072 octets in one environment variable, which is about 500 to 750 pools. Pools that are served stay served.',
    remedy: 'Use `--agent-topology per-network`, or a smaller `--max-pools-per-agent`.',
  },

  RollingOut: {
    shown: UNSERVED,
    meaning: 'The Deployment of the agents is being rolled out.',
    remedy: 'Nothing: this takes seconds. If the reason stays, look at the pods of the Deployment.',
  },
  NotLeading: {
    shown: REPORTED,
    meaning: 'No agent renews the Lease of the group.',
    remedy: 'Look at the pods of the agents.',
  },
  Lagging: {
    shown: UNSERVED,
    meaning: 'The leader of the agents does not receive changes of the IPPool.',
    remedy: 'Look at the log of the leader, and at its connection to the API server.',
  },
  PodNotReady: {
    shown: UNSERVED,
    meaning:
      'The annotation `network.harvesterhci.io/hold-ippool-agent-upgrade` keeps the pod of an earlier version, which is not ready.',
    remedy: 'Look at that pod, or remove the annotation.',
  },
  NotServing: {
    shown: UNSERVED,
    meaning: 'The leader of the agents does not serve the pool, and reports no reason that the controller knows.',
    remedy: 'Look at the log of the leader.',
  },
  NotScheduled: {
    shown: UNSERVED_WITH_EVENT,
    meaning: "No node takes a pod of the agents; the message has the scheduler's text.",
    remedy:
      'Correct what the scheduler names. If nodes lack the label of the cluster network, the message has the command that sets it.',
  },
  ImagePull: {
    shown: UNSERVED_WITH_EVENT,
    meaning: 'The image of the agents cannot be pulled.',
    remedy: 'Correct `--image`, or name the pull Secret (`--image-pull-secret`).',
  },
  CrashLooping: {
    shown: UNSERVED,
    meaning: 'An agent ends again and again.',
    remedy: 'Look at its log: `kubectl logs --previous`.',
  },
  FailedCreate: {
    shown: ROLLOUT,
    meaning:
      "Pods of the agents cannot be created: the Pod Security level of the namespace, a ServiceAccount that does not exist, a quota. The message has the API server's text and the remedy. With `AgentReady=True` the agents of before still serve.",
    remedy: 'Do what the message names.',
  },
  RolloutStuck: {
    shown: ROLLOUT,
    meaning: 'The Deployment of the agents has made no progress for ten minutes.',
    remedy: 'Look at its pods.',
  },

  NotListed: {
    shown: REPORTED,
    meaning: 'The leader of the agents has not received the IPPool from the API server yet.',
    remedy: 'Look at the log of the leader, and at the rights of its ServiceAccount.',
  },
  PoolMissing: {
    shown: REPORTED,
    meaning: 'The leader of the agents is configured with an IPPool that does not exist.',
    remedy: 'Nothing if the IPPool is being deleted. Else look at the log of the leader.',
  },
  ServerAddressRefused: {
    shown: REPORTED,
    meaning:
      "The server address is one that the agents' pod needs itself: that of the API server, of the pod, of its gateway or of a name server. On an interface of the pod it would cut the agent off, and with it the other pools of its group.",
    remedy: 'Replace the pool by one with another `spec.ipv4Config.serverIP`.',
  },
  Draining: {
    shown: REPORTED,
    meaning: 'The pool is leaving this group of agents: the server address is being removed.',
    remedy: 'Nothing: this takes a moment.',
  },
  Suspended: {
    shown: REPORTED,
    meaning: 'The group is configured with the pool and must not serve it now, because another group may still serve it.',
    remedy: 'Nothing: this takes a moment.',
  },
  Opening: {
    shown: REPORTED,
    meaning: 'The leader is opening the interface of the pool, or adding the server address to it.',
    remedy: 'Nothing: this takes a moment.',
  },
  DryRun: {
    shown: REPORTED,
    meaning: 'The agents run with `--dry-run` (`--no-dhcp` of the controller), so no client gets a reply.',
    remedy: 'Start the controller without `--no-dhcp`, or remove `--dry-run` from the Deployment of the agents.',
  },
  InterfaceMissing: {
    shown: REPORTED,
    meaning: "The leader's pod lacks the interface of the pool.",
    remedy: 'Look at Multus, and at its annotations on the pod.',
  },
  InterfaceNotIsolated: {
    shown: REPORTED,
    meaning:
      "The leader's pod cannot isolate the interface from other networks, so it does not serve the pool; the message has the system's text.",
    remedy: 'Grant `CAP_NET_ADMIN`, or find the program on the node that changes kernel settings or routing rules of the pod.',
  },
  AddressFailed: {
    shown: REPORTED,
    meaning: "The leader's pod cannot add the server address to the interface; the message has the system's text.",
    remedy: 'Grant `CAP_NET_ADMIN`, or remove what the message names.',
  },
  SocketFailed: {
    shown: REPORTED,
    meaning: "The leader's pod cannot open the sockets of the pool; the message has the system's text.",
    remedy: 'Grant the capabilities `CAP_NET_RAW` and `CAP_NET_BIND_SERVICE`, or do what the message names.',
  },

  MappingUpdated: {
    shown: ['WolConfig Ready=True'],
    meaning: 'Agents listen for magic packets, and the virtual machines that may be woken are known.',
    remedy: 'Nothing.',
  },
  Configured: {
    shown: ['WolConfig Ready=Unknown'],
    meaning: 'The WolConfig is valid, and no agent of its DaemonSet is ready yet.',
    remedy: 'Nothing: this takes seconds. If the reason stays, look at the pods of the DaemonSet that the message names.',
  },
  InvalidConfig: {
    shown: [...WOL_CONFIG, 'WolConfig MappingsResolved=Unknown'],
    meaning:
      'The WolConfig has problems, so that nothing of it is used: it has no agents, and allows no virtual machine to be woken.',
    remedy: 'Correct the fields that the condition `Ready` names.',
  },
  PortConflict: {
    shown: WOL_CONFIG,
    meaning:
      'An older WolConfig has agents that open the same UDP port, and may run on the same nodes. The agents of this one go without that port; its other ports are open.',
    remedy: 'Choose another UDP port, or the nodes or the settings that the message names.',
  },
  AgentsRefused: {
    shown: WOL_CONFIG,
    meaning: 'A DaemonSet that the controller did not create for the WolConfig has the name of that of its agents.',
    remedy: 'Delete that DaemonSet, or create the WolConfig again with another name.',
  },
  AgentFailed: {
    shown: WOL_CONFIG,
    meaning: "The DaemonSet of the agents cannot be written, or no node takes its pods; the message has the API server's text.",
    remedy: 'Correct what the message names: `spec.agent` of the WolConfig, or the rights of the controller.',
  },
  MappingIgnored: {
    shown: WOL_MAPPINGS,
    meaning:
      'A mapping has an address that no machine has, or a namespace that `namespaceSelectors` leaves out: it allows nothing. The other mappings do.',
    remedy: 'Correct the mappings that the message names.',
  },
  MachineMissing: {
    shown: WOL_MAPPINGS,
    meaning: 'A mapping names a virtual machine that does not exist. The other mappings work.',
    remedy: 'Create the virtual machine, or correct the mapping.',
  },
  AddressAmbiguous: {
    shown: WOL_MAPPINGS,
    meaning: 'More than one virtual machine may be woken by the same MAC address, so that none of them is.',
    remedy: 'Change the MAC address of one of them, or allow only one of them to be woken.',
  },

  VirtualMachineUnknown: {
    shown: EXPLAINED,
    meaning: 'Neither a VirtualMachine nor a VirtualMachineNetworkConfig has this name.',
    remedy: 'Correct the name or the namespace: `kubectl get vm -A`.',
  },
  VirtualMachineStopped: {
    shown: EXPLAINED,
    meaning: 'The virtual machine does not run, so it uses no address now. An address that is assigned to it stays assigned.',
    remedy: 'Start the virtual machine.',
  },
  LinkOff: {
    shown: EXPLAINED,
    meaning:
      'The link of the interface is switched off in the VirtualMachine (`state: down`), so the guest reaches nothing through it.',
    remedy: 'If it should be on, switch it on by the command that the message has.',
  },
  NoInterfaceOnNetwork: {
    shown: EXPLAINED,
    meaning:
      'No interface of the virtual machine is to have an address: none is on a Multus network, or the annotation `network.harvesterhci.io/dhcp-opt-out` excludes those that are.',
    remedy: 'Attach the virtual machine to a Multus network, or correct the annotation.',
  },
  NetworkUnknown: {
    shown: EXPLAINED,
    meaning: 'The NetworkAttachmentDefinition that the interface names does not exist.',
    remedy: 'Create it, or correct the network of the interface in the VirtualMachine.',
  },
  NetworkConfigMissing: {
    shown: EXPLAINED,
    meaning: 'The virtual machine has no VirtualMachineNetworkConfig, or it has no entry for the interface.',
    remedy:
      'Nothing: the controller creates it within a moment. If the reason stays, look at the log of the controller and the Events of the virtual machine.',
  },
  NetworkConfigPaused: {
    shown: EXPLAINED,
    meaning: '`spec.paused` of the VirtualMachineNetworkConfig is true, so its addresses are free for others.',
    remedy: 'Set `spec.paused` of the VirtualMachineNetworkConfig to false.',
  },
  AddressPending: {
    shown: EXPLAINED,
    meaning: 'The pool has not recorded an address for the interface yet.',
    remedy: 'Nothing: this takes a moment. If the reason stays, look at the log of the controller.',
  },
  AddressFree: {
    shown: EXPLAINED,
    meaning: 'No client has the address.',
    remedy: 'Nothing. If a machine uses it all the same, it has a fixed address: reserve or exclude it.',
  },
  ClientUnknown: {
    shown: EXPLAINED,
    meaning: 'No pool has the address, or a record of the MAC address, so its messages get no reply.',
    remedy:
      'Compare the address with the interfaces of the virtual machines: `kubectl get vmnetcfg -A`. A machine that is not a virtual machine needs an entry in `spec.ipv4Config.reservations` of an IPPool.',
  },
  ControllerNotLeading: {
    shown: EXPLAINED,
    meaning:
      'No controller renews its Lease `kube-system/vm-dhcp-controllers`: nothing is assigned, and conditions may be old. Addresses that are recorded are served all the same.',
    remedy:
      'Look at the pods of the controller: `kubectl get pods -A -l app.kubernetes.io/component=controller`. Where there are none, it was uninstalled: install it again, or remove what it left: `vmdhcp-controller uninstall`.',
  },
  NoPacketFromClient: {
    shown: EXPLAINED,
    meaning:
      'The leader of the agents has got no packet from this MAC address lately: the guest operating system does not ask, or its network does not reach the agent.',
    remedy:
      'Have the guest operating system ask by DHCP: `kubectl vmdhcp renew` (guests with dhclient do not notice that: `dhclient -v` in the guest), or a restart. If still no packet arrives (`kubectl vmdhcp capture`), compare the VLAN and the bridge of the interface with those of the agent, and look for port security on the way.',
  },
  OfferNotAccepted: {
    shown: EXPLAINED,
    meaning:
      'The client asks again and again, gets an OFFER each time, and sends no REQUEST: it does not accept the offer, or does not get it.',
    remedy:
      'Capture on the network of the virtual machine (`kubectl vmdhcp capture` shows what the agent sends). If the OFFER does not arrive, a firewall, a security group or port security drops what a DHCP server sends (UDP port 67); if it does, another DHCP server may be faster, or the client refuses an option.',
  },
  OtherServerSelected: {
    shown: EXPLAINED,
    meaning: 'The client asks another DHCP server for its address (reason `other-server-selected`), so the agent is silent.',
    remedy:
      'Find that server: the condition RogueServer of the IPPool and `kubectl vmdhcp capture` have its address. Switch it off there, or delete the IPPool.',
  },
  PacketNotAnswered: {
    shown: EXPLAINED,
    meaning: 'The agent got the last message of the client and did not answer it; the message has the reason.',
    remedy:
      'Look for the reason in docs/reference/packet-reasons.md. The log of the agent has the whole packets where the IPPool is annotated `network.harvesterhci.io/log-packets=true`.',
  },
  RequestRefused: {
    shown: EXPLAINED,
    meaning: 'The client asked for an address that is not its own, and got a NAK: it begins anew with a DISCOVER.',
    remedy:
      'Wait for the next DISCOVER. If refusals repeat, the client insists on an old address: delete its lease file in the guest operating system, or restart its network.',
  },
  ClientDeclinedAddress: {
    shown: EXPLAINED,
    meaning: 'The client found its address in use by another machine, and declined it.',
    remedy:
      'Find the machine that has the address: `kubectl vmdhcp why` with the address, and `arping` from the network. Change the address of that machine, or exclude it in the IPPool.',
  },
  AcknowledgedNotUsed: {
    shown: EXPLAINED,
    meaning: 'The agent acknowledged an address for the client, and the guest operating system does not report it.',
    remedy:
      'Look inside the guest operating system: another network manager may have removed the address, or the ACK did not arrive, which the next messages show: `kubectl vmdhcp capture --mac`.',
  },
  InstanceHasNoAddress: {
    shown: EXPLAINED,
    meaning:
      'The guest agent of the running virtual machine reports no IPv4 address for the interface, although the pool is served.',
    remedy:
      'Have the guest operating system ask for an address, as with `networkctl renew` or a restart, and look whether its messages arrive: annotate the IPPool `network.harvesterhci.io/log-packets=true`.',
  },
  AwaitingMigration: {
    shown: EXPLAINED,
    meaning:
      'The running virtual machine was given another network, and may be on the former one until KubeVirt has migrated it.',
    remedy: 'Wait for the live migration, or migrate or restart the virtual machine.',
  },
  InstanceHasAnotherAddress: {
    shown: EXPLAINED,
    meaning: 'The running virtual machine reports another IPv4 address than the one that is assigned to it.',
    remedy:
      'Make it ask for its address: `kubectl vmdhcp renew NAME INTERFACE`, or restart it. If it keeps the other one, it has a fixed address, or another DHCP server answers.',
  },
} as const satisfies Readonly<Record<string, ReasonEntry>>;

/** Every reason of the table. */
export type Reason = keyof typeof REASONS;

/** The reasons that are allowed in a place, as in `ReasonAt<'IPPool AgentReady=False'>`. */
export type ReasonAt<Place extends ReasonPlace> = {
  [Name in Reason]: Place extends (typeof REASONS)[Name]['shown'][number] ? Name : never;
}[Reason];

/** A condition of one kind, with the reasons that the table has for its type and status. */
export type ConditionOf<Kind extends 'IPPool' | 'VirtualMachineNetworkConfig' | 'WolConfig'> = {
  [Place in Extract<ConditionPlace, `${Kind} ${string}`>]: Place extends `${Kind} ${infer Type}=${infer State extends Status}`
    ? {
        readonly type: Type;
        readonly status: State;
        /** Absent if all is well. */
        readonly reason?: ReasonAt<Place>;
        /** What is wrong, where, and what to do next. */
        readonly message?: string;
      }
    : never;
}[Extract<ConditionPlace, `${Kind} ${string}`>];

/** An Event about an object of one kind, with its allowed reasons. */
export type EventOf<Kind extends EventKind> = {
  [Type in 'Normal' | 'Warning']: {
    readonly type: Type;
    readonly reason: ReasonAt<`${Type} Event on ${Kind}`>;
    /** What is wrong, where, and what to do next. */
    readonly message: string;
  };
}['Normal' | 'Warning'];

type ReasonOfWord<Word extends string> = Word extends `${infer First}-${infer Rest}`
  ? `${Capitalize<First>}${ReasonOfWord<Rest>}`
  : Capitalize<Word>;

/** The reasons of a place, spelled as in plans: `pool-exhausted`. */
export type WordOf<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${Lowercase<First>}${Hyphenated<Rest>}`
  : Name;
type Hyphenated<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? First extends Uppercase<First>
    ? `-${Lowercase<First>}${Hyphenated<Rest>}`
    : `${First}${Hyphenated<Rest>}`
  : Text;

/** Converts the spelling of plans (`pool-exhausted`) to that of conditions and Events (`PoolExhausted`). */
export function reasonOf<Word extends string>(word: Word): ReasonOfWord<Word> {
  return word.replaceAll(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) as ReasonOfWord<Word>;
}

/** Meaning and remedy of a reason, if nothing more specific is known. */
export function describeReason(reason: Reason): string {
  const { meaning, remedy } = REASONS[reason];
  return `${meaning} ${remedy}`;
}

/** True if the table allows the reason in this place. */
export function isReasonAt<Place extends ReasonPlace>(place: Place, text: string): text is ReasonAt<Place> {
  const entry: ReasonEntry | undefined = Object.hasOwn(REASONS, text) ? REASONS[text as Reason] : undefined;
  return entry?.shown.includes(place) === true;
}
