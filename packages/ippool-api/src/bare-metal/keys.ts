/**
 * Names of the API of bare-metal hosts: its group, its labels and annotations, and the reasons of its Events. Without schemas.
 *
 * @packageDocumentation
 */
export { HOST_CONDITIONS } from './host-conditions.js';
export {
  HOST_REASONS,
  type HostConditionOf,
  type HostEventOf,
  type HostReason,
  type HostReasonAt,
  type HostReasonPlace,
} from './host-reasons.js';

/** The API group of the kinds of bare-metal hosts: that of the predecessor. */
export const BARE_METAL_GROUP = 'bmc.spidernet.io';
/** The version of the API group of bare-metal hosts. */
export const BARE_METAL_VERSION = 'v1beta1';
/** The `apiVersion` of the kinds of bare-metal hosts. */
export const BARE_METAL_API_VERSION = `${BARE_METAL_GROUP}/${BARE_METAL_VERSION}`;

// Each is described in HOST_OBJECT_KEYS.
/** Label on HostStatus: the address of the host. */
export const HOST_ADDRESS_LABEL = `${BARE_METAL_GROUP}/ipAddr`;
/** Label on HostStatus: how the host is known: by its lease, or by a HostEndpoint. */
export const HOST_MODE_LABEL = `${BARE_METAL_GROUP}/mode`;
/** Label on HostStatus: whether a client has a lease of the address. */
export const DHCP_ACTIVE_LABEL = `${BARE_METAL_GROUP}/dhcp-ip-active`;
/** Annotation on HostStatus: the address belongs to this client for good, whatever `enableBindDhcpIP` of the ClusterAgent is. `none`: the address is not bound, and the object goes when the lease ends. */
export const BOUND_TO_ANNOTATION = `${BARE_METAL_GROUP}/bound-to`;
/** Annotation on HostStatus: the lease of the address ends now if it was granted before this time and its host does not answer ARP. */
export const RELEASE_LEASE_ANNOTATION = `${BARE_METAL_GROUP}/release-lease`;
/** Label on Deployment, Pod, ServiceAccount, Lease, Role, RoleBinding and PersistentVolumeClaim: the object belongs to the agents of this ClusterAgent. */
export const CLUSTER_AGENT_LABEL = `${BARE_METAL_GROUP}/cluster-agent`;
/** Label on Secret: the Secret has credentials of management controllers: agents may read it where a ClusterAgent or a HostEndpoint names it. */
export const HOST_CREDENTIALS_LABEL = `${BARE_METAL_GROUP}/host-credentials`;
/** Annotation on ClusterAgent: the agents of the ClusterAgent keep the image that they run. */
export const HOLD_HOST_AGENT_UPGRADE_ANNOTATION = `${BARE_METAL_GROUP}/hold-agent-upgrade`;
/** The value of the annotation that means: never bind this address. */
export const BOUND_TO_NONE = 'none';

/** On each LeaseSlice that is in use. */
export const LEASES_OF_LABEL = `${BARE_METAL_GROUP}/leases-of`;
/** Replaces that label on a LeaseSlice that is kept only for inspection. */
export const SET_ASIDE_LABEL = `${BARE_METAL_GROUP}/set-aside-leases-of`;

/** By key; OBJECT_KEYS describes those of the other kinds. */
export const HOST_OBJECT_KEYS = {
  [HOST_ADDRESS_LABEL]: {
    type: 'label',
    on: ['HostStatus'],
    writtenBy: ['the agent of bare-metal hosts'],
    values: 'an IPv4 address',
    meaning: 'The address of the host.',
    isOfBmc: true,
  },
  [HOST_MODE_LABEL]: {
    type: 'label',
    on: ['HostStatus'],
    writtenBy: ['the agent of bare-metal hosts'],
    values: '`dhcp` or `hostEndpoint`',
    meaning: 'How the host is known: by its lease, or by a HostEndpoint.',
    isOfBmc: true,
  },
  [DHCP_ACTIVE_LABEL]: {
    type: 'label',
    on: ['HostStatus'],
    writtenBy: ['the agent of bare-metal hosts'],
    values: '`true` or `false`',
    meaning: 'Whether a client has a lease of the address. Only with the mode `dhcp`.',
    isOfBmc: true,
  },
  [BOUND_TO_ANNOTATION]: {
    type: 'annotation',
    on: ['HostStatus'],
    writtenBy: ['an administrator'],
    values: 'a MAC address, or `none`',
    meaning:
      'The address belongs to this client for good, whatever `enableBindDhcpIP` of the ClusterAgent is. `none`: the address is not bound, and the object goes when the lease ends. Without it, `enableBindDhcpIP` decides.',
  },
  [RELEASE_LEASE_ANNOTATION]: {
    type: 'annotation',
    on: ['HostStatus'],
    writtenBy: ['`vmdhcp-agent release`', 'an administrator'],
    values: 'a time, as in `2026-01-31T12:00:00Z`',
    meaning:
      'The lease of the address ends now if it was granted before this time and its host does not answer ARP. It counts for an hour after that time.',
  },
  [CLUSTER_AGENT_LABEL]: {
    type: 'label',
    on: ['Deployment', 'Pod', 'ServiceAccount', 'Lease', 'Role', 'RoleBinding', 'PersistentVolumeClaim'],
    writtenBy: ['the controller'],
    values: 'the name of a ClusterAgent',
    meaning: 'The object belongs to the agents of this ClusterAgent.',
  },
  [HOLD_HOST_AGENT_UPGRADE_ANNOTATION]: {
    type: 'annotation',
    on: ['ClusterAgent'],
    writtenBy: ['an administrator'],
    values: 'any',
    meaning: 'The agents of the ClusterAgent keep the image that they run.',
  },
  [HOST_CREDENTIALS_LABEL]: {
    type: 'label',
    on: ['Secret'],
    writtenBy: ['an administrator'],
    values: '`true`',
    meaning:
      'The Secret has credentials of management controllers: agents may read it where a ClusterAgent or a HostEndpoint names it.',
  },
  [LEASES_OF_LABEL]: {
    type: 'label',
    on: ['LeaseSlice'],
    writtenBy: ['the agent of bare-metal hosts'],
    values: 'the name of a ClusterAgent',
    meaning: 'The leases of unknown clients in this object are those of this ClusterAgent.',
  },
  [SET_ASIDE_LABEL]: {
    type: 'label',
    on: ['LeaseSlice'],
    writtenBy: ['the agent of bare-metal hosts'],
    values: 'the name of a ClusterAgent',
    meaning: 'The object had corrupt records and is not read any more. Look at it, then delete it.',
  },
} as const;
