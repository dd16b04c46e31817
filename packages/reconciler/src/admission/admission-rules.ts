/**
 * Every reason for which admission refuses a request or warns about it. `docs/reference/admission.md` is generated
 * from this table; a rule that finds another reason does not compile.
 */

import type { ReachReason } from '../network/interface-reach.js';
import type { NetworkProblem } from '../network/network-problem.js';
import type { UnreadableField } from '../network-config/interface-claims.js';
import type { PoolReason } from '../pool/pool-reason.js';
import type { VirtualMachineProblemReason } from '../virtual-machine/virtual-machine-problem.js';

type Kind = 'IPPool' | 'VirtualMachineNetworkConfig' | 'VirtualMachine';

interface AdmissionRule {
  readonly on: readonly Kind[];
  /** `refused by choice`: a warning, unless the webhook is started to refuse it. */
  readonly outcome: 'refused' | 'warning' | 'refused by choice';
  /** The meaning of the problem. */
  readonly meaning: string;
}

const POOL = ['IPPool'] as const;
const CONFIG = ['VirtualMachineNetworkConfig'] as const;
const MACHINE = ['VirtualMachine'] as const;
const PINNED = ['VirtualMachineNetworkConfig', 'VirtualMachine'] as const;
const POOL_AND_MACHINE = ['IPPool', 'VirtualMachine'] as const;
const ANY = ['IPPool', 'VirtualMachineNetworkConfig'] as const;

const refused = (on: readonly Kind[], meaning: string): AdmissionRule => ({ on, outcome: 'refused', meaning });
const warning = (on: readonly Kind[], meaning: string): AdmissionRule => ({ on, outcome: 'warning', meaning });
const byChoice = (on: readonly Kind[], meaning: string): AdmissionRule => ({ on, outcome: 'refused by choice', meaning });

/** Problems of one object by itself: its fields. */
const FIELDS = {
  'no-object': refused(ANY, 'The request holds no object.'),
  'unknown-kind': refused(ANY, '`kind` is missing or unknown.'),
  'nested-too-deeply': refused(ANY, 'The object is nested too deeply to be read.'),
  'field-missing': refused(ANY, 'A field that has no default is missing.'),
  'wrong-type': refused(ANY, 'A field has a value of another type: text for a number, a list for text.'),
  'value-not-allowed': refused(ANY, 'A field has a value that is not in its list.'),
  'out-of-bounds': refused(ANY, 'A number, a text or a list is too large, or too small.'),
  'wrong-format': refused(ANY, 'A text is not an address, subnet, range or MAC address.'),
  'unknown-field': warning(ANY, 'A field that the kind does not have. A misspelled one is refused by `vmdhcp-controller check`.'),
} as const;

/** Problems of an IPPool by itself. */
const SETTINGS = {
  'ipv4-config-missing': refused(POOL, '`spec.ipv4Config` is missing.'),
  'not-a-cidr': refused(
    POOL,
    '`cidr`, a relay or the destination of a static route is not a subnet, or `ipv6Config.cidr` is not a prefix for the hosts of the subnet.',
  ),
  'not-an-address': refused(POOL, 'A field is not an address.'),
  'not-a-range': refused(POOL, 'An exclusion is neither an address nor a range.'),
  'not-a-mac-address': refused(POOL, 'A reservation does not have the MAC address of a single host.'),
  'not-a-host-name': refused(POOL, '`domainName`, a search domain or the host name of a reservation is not a DNS name.'),
  'not-a-time-server': refused(POOL, 'An entry of `ntp` is neither an address nor a host name.'),
  'not-text': refused(POOL, 'A boot file has characters that an option cannot carry.'),
  'number-out-of-bounds': refused(POOL, 'A number is outside what its option can carry.'),
  'too-many': refused(POOL, 'A list has more entries than its option can carry.'),
  'outside-subnet': refused(
    POOL,
    '`start`, `end`, `serverIP`, `router`, an exclusion, a reservation or a gateway is outside `cidr`.',
  ),
  'host-bits-set': refused(POOL, 'The destination of a static route is the address of a host.'),
  'is-network-address': refused(POOL, 'An address is the network address of `cidr`.'),
  'is-broadcast-address': refused(POOL, 'An address is the broadcast address of `cidr`.'),
  'not-a-host-address': refused(POOL, 'An address, or all of `cidr`, cannot belong to a host: multicast, loopback and such.'),
  'server-is-router': refused(POOL, '`serverIP` is the address of `router`.'),
  'range-reversed': refused(POOL, '`end` is before `start`.'),
  'range-too-large': refused(POOL, '`start` to `end` are more than 16,777,216 addresses.'),
  'no-server-address-left': refused(
    POOL,
    '`serverIP` is left out, and each address of `cidr` is the router, excluded or reserved.',
  ),
  'subnet-too-small': refused(POOL, '`serverIP`, `start` or `end` is left out of a /31 or /32, or it has `ipv6Config`.'),
  'ipv6-server-is-client': refused(POOL, 'A client could get the IPv6 address of a server that `ipv6Config.dns` or `ntp` names.'),
  'reservation-in-use': refused(POOL, 'The server, the router or an exclusion has a reserved address.'),
  'address-reserved-twice': refused(POOL, 'Two reservations are for one address.'),
  'mac-reserved-twice': refused(POOL, 'Two reservations are for one MAC address.'),
  'architecture-twice': refused(POOL, 'Two boot settings are for one architecture.'),
  'option-twice': refused(POOL, 'Two entries of `options` are for one code.'),
  'option-not-allowed': refused(POOL, 'An option is set by the server, by clients or by another field of the pool.'),
  'not-an-option-value': refused(POOL, 'The value of an option does not have its form, or is longer than 255 octets.'),
  'lease-time-impossible': warning(POOL, '`leaseTime` is 0 or less, and counts as one year.'),
  'log-annotation-unreadable': warning(POOL, 'An annotation about the log of agents has a value that is not in its list.'),
  'host-bits-in-cidr': warning(POOL, '`cidr` is the address of a host: its subnet counts.'),
  'exclusion-useless': warning(POOL, 'An exclusion is outside `start` to `end`, so that it excludes nothing.'),
  'exclusion-twice': warning(POOL, 'An exclusion is a part of another one.'),
  'no-address-to-lease': warning(POOL, 'No address of the range can be leased: each is excluded, or the server, or the router.'),
  'overruled-by-ranges': warning(POOL, '`ranges` is set, and another `start` or `end` is written, which has no effect.'),
  'server-address-chosen': warning(POOL, '`serverIP` and `router` are left out: the first address became that of the server.'),
} as const;

/** Problems of an IPPool together with other objects. */
const NEIGHBOURS = {
  'network-name-missing': refused(ANY, '`networkName` is empty.'),
  'network-missing': refused(ANY, 'There is no NetworkAttachmentDefinition of this name.'),
  'network-not-allowed': refused(POOL, 'The network belongs to another namespace, which does not allow this IPPool.'),
  'network-taken': refused(POOL, 'Another IPPool serves the network.'),
  'overlaps-service-cidr': refused(POOL, '`cidr` overlaps a network of Services.'),
  'overlaps-pod-cidr': refused(POOL, '`cidr` overlaps a network of pods.'),
  'is-api-server': refused(POOL, 'The server has the address of the API server, or a client could get it.'),
  'segment-range-shared': refused(
    POOL,
    'Another IPPool of the namespace is on the same bridge and VLAN, and could lease the same addresses.',
  ),
  'segment-shared': warning(POOL, 'Another IPPool is on the same bridge and VLAN, and the CIDRs overlap.'),
  'range-overlaps': warning(
    POOL,
    'Another IPPool of the namespace could lease the same addresses on another network, which may be the same segment.',
  ),
  'server-address-in-use': refused(POOL, 'The new `serverIP` is the address of a client.'),
  'server-address-excluded': refused(POOL, 'The new `serverIP` is excluded.'),
  'addresses-cut-off': refused(POOL, 'Clients have addresses that no client of the changed pool can have.'),
  'address-outside-range-in-use': warning(
    POOL,
    'An address that is no longer in the range is the address of a client, which keeps it.',
  ),
  'excluded-address-in-use': warning(POOL, 'A new exclusion, or the new router, is the address of a client, which keeps it.'),
  'reserved-address-in-use': warning(POOL, 'A new reservation is for an address that another client has, and keeps.'),
  'pool-in-use': refused(POOL, 'The IPPool is to be deleted, and virtual machines use it.'),
} as const;

/** Who else answers. */
const REACH = {
  'binding-not-served': warning(
    MACHINE,
    'The binding of an interface (masquerade, passt, slirp) keeps DHCP in the pod: the interface gets no address.',
  ),
  'network-not-served': warning(
    POOL_AND_MACHINE,
    'OVN-Kubernetes assigns the addresses of the network (`subnets`, or `role: primary`): its interfaces get no address.',
  ),
  'served-twice': warning(
    POOL_AND_MACHINE,
    'The network has `ipam`, so that KubeVirt answers DHCP requests in the pods of virtual machines with the binding bridge too.',
  ),
  'may-be-served-twice': warning(
    POOL_AND_MACHINE,
    'The CNI plugin of the network is kube-ovn, and KubeVirt or OVN answers too if its Subnet has a `cidrBlock`.',
  ),
} as const;

/** Problems of the requests of a VirtualMachineNetworkConfig or a VirtualMachine. */
const CLAIMS = {
  'mac-address-unreadable': refused(PINNED, 'The MAC address of an interface is not a MAC address.'),
  'address-unreadable': refused(CONFIG, '`ipAddress` is not an IPv4 address.'),
  'no-pool': refused(CONFIG, 'No IPPool serves the network.'),
  'pool-invalid': warning(CONFIG, 'The IPPool of the network is invalid, and assigns nothing.'),
  'mac-address-twice': refused(PINNED, 'Two interfaces of one object have the same MAC address on one network.'),
  'address-wanted-twice': refused(CONFIG, 'Two interfaces of one object want the same address on one network.'),
  'mac-address-claimed-twice': warning(PINNED, 'Another virtual machine has the same MAC address on the network.'),
  'address-outside-pool': refused(PINNED, 'The wanted address is outside the range of the pool.'),
  'address-unavailable': refused(
    PINNED,
    'The wanted address is excluded, or that of the server, the router, the network or the broadcast.',
  ),
  'address-reserved': refused(PINNED, 'The wanted address is reserved for another MAC address.'),
  'address-taken': refused(PINNED, 'Another client has the wanted address, or waits for it.'),
  'address-quarantined': warning(PINNED, 'An unknown host uses the wanted address at the moment.'),
} as const;

/** Problems inside a VirtualMachine. */
const WRITTEN = {
  'template-missing': byChoice(MACHINE, 'The virtual machine has no `spec.template.spec`.'),
  'mac-address-annotation-unreadable': byChoice(MACHINE, 'The annotation `harvesterhci.io/mac-address` cannot be read.'),
  'pinned-addresses-unreadable': byChoice(MACHINE, 'The annotation `network.kubevirt.io/addresses` cannot be read.'),
  'pinned-addresses-surplus': warning(
    MACHINE,
    'The annotation `network.kubevirt.io/addresses` has several IPv4 addresses for one interface.',
  ),
  'static-address-unreadable': byChoice(MACHINE, 'An annotation `static-ip.harvesterhci.io/` has no IPv4 address.'),
  'static-address-without-interface': byChoice(
    MACHINE,
    'An annotation `static-ip.harvesterhci.io/` names no interface on a Multus network, or `network.kubevirt.io/addresses` names no interface.',
  ),
  'opt-out-without-interface': byChoice(
    MACHINE,
    'The annotation `network.harvesterhci.io/dhcp-opt-out` names no interface on a Multus network.',
  ),
  'network-name-too-long': byChoice(MACHINE, 'Namespace and name of a network have more than 64 characters together.'),
  'too-many-interfaces': byChoice(MACHINE, 'More than four interfaces want an address.'),
} as const;

/** Every rule of admission: what it refuses, and why. */
export const ADMISSION_RULES = {
  ...FIELDS,
  ...SETTINGS,
  ...NEIGHBOURS,
  ...REACH,
  ...CLAIMS,
  ...WRITTEN,
} as const satisfies Readonly<Record<KnownReason, AdmissionRule>>;

/** Reasons that rules outside admission use too. */
type KnownReason =
  | PoolReason
  | NetworkProblem['reason']
  | UnreadableField['reason']
  | ReachReason
  | Exclude<VirtualMachineProblemReason, 'virtual-machine-instances-unreadable' | 'virtual-machine-instance-unseen'>;

/** The name of a rule of admission. */
export type AdmissionReason = keyof typeof ADMISSION_RULES;
