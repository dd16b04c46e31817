/**
 * Plans the deletions and changes that remove the product from a cluster. The phases are: agents first, so that nothing serves an address without a
 * record; then their Leases and rights; then the finalizers, which nothing else would remove.
 */
import {
  AGENT_GROUP_LABEL,
  AGENT_LABEL,
  IPPOOL_FINALIZER,
  IPPOOL_NAME_LABEL,
  IPPOOL_NAMESPACE_LABEL,
  NETWORK_CONFIG_FINALIZER,
  UNIFIED_GROUP,
} from '@vmdhcp/ippool-api';
import { CONTROLLER, MANAGED_BY_LABEL } from '@vmdhcp/ippool-api/resources';
import { type KubernetesObject, keyOf, type MergePatch, readField, readList, readText } from '@vmdhcp/kube-runtime';

const HOST_RIGHTS = [
  'hostLeases',
  'hostRoleBindings',
  'hostRoles',
  'hostServiceAccounts',
  'hostClusterRoleBindings',
  'hostClusterRoles',
] as const;
/** The kinds with the addresses and identities of hosts. Volumes are deleted with their ClusterAgents. */
const HOST_DATA = ['hostOperations', 'hostStatuses', 'leaseSlices', 'hostEndpoints', 'clusterAgents'] as const;
/** The data that a successor continues with, in the order of deletion. */
const DATA = ['networkConfigs', 'ipPools', 'wolConfigs', ...HOST_DATA, 'auditRecords'] as const;
/** The first argument of our agents of Wake-on-LAN. */
const WAKE_AGENT_COMMAND = 'wol';

/** All objects of the product in the cluster. */
export interface Installation {
  /** The next seven: objects with the agents' label, of all namespaces. */
  readonly deployments: readonly KubernetesObject[];
  readonly pods: readonly KubernetesObject[];
  readonly leases: readonly KubernetesObject[];
  readonly roleBindings: readonly KubernetesObject[];
  readonly roles: readonly KubernetesObject[];
  readonly serviceAccounts: readonly KubernetesObject[];
  /** The Lease for the election of controllers; empty if there never was a controller. */
  readonly controllerLeases: readonly KubernetesObject[];
  /** The registration of the webhook, and its Secrets. */
  readonly mutatingWebhooks: readonly KubernetesObject[];
  readonly validatingWebhooks: readonly KubernetesObject[];
  readonly webhookSecrets: readonly KubernetesObject[];
  /** MAC addresses of stopped machines. */
  readonly memoryConfigMaps: readonly KubernetesObject[];
  /** Records of who had which address. */
  readonly auditRecords: readonly KubernetesObject[];
  /** With the label of Wake-on-LAN agents, of kubevirt-wol too. */
  readonly wakeDaemonSets: readonly KubernetesObject[];
  readonly wakePods: readonly KubernetesObject[];
  /** Certificates with which agents report wake-ups. */
  readonly wakeSecrets: readonly KubernetesObject[];
  /** Empty if the definition is not ours: then they belong to kubevirt-wol. */
  readonly wolConfigs: readonly KubernetesObject[];
  /** The next eight: with the label of agents of bare-metal hosts, of all namespaces. */
  readonly hostDeployments: readonly KubernetesObject[];
  readonly hostPods: readonly KubernetesObject[];
  readonly hostLeases: readonly KubernetesObject[];
  readonly hostRoleBindings: readonly KubernetesObject[];
  readonly hostRoles: readonly KubernetesObject[];
  readonly hostServiceAccounts: readonly KubernetesObject[];
  readonly hostClusterRoleBindings: readonly KubernetesObject[];
  readonly hostClusterRoles: readonly KubernetesObject[];
  /** The next five are empty if the definition is not ours: then they belong to spidernet-io/bmc. */
  readonly clusterAgents: readonly KubernetesObject[];
  readonly hostEndpoints: readonly KubernetesObject[];
  readonly hostStatuses: readonly KubernetesObject[];
  readonly hostOperations: readonly KubernetesObject[];
  readonly leaseSlices: readonly KubernetesObject[];
  readonly ipPools: readonly KubernetesObject[];
  readonly networkConfigs: readonly KubernetesObject[];
  readonly networks: readonly KubernetesObject[];
  /** Our CustomResourceDefinitions. */
  readonly customResourceDefinitions: readonly KubernetesObject[];
}

/** The kinds of objects that an uninstallation looks for. */
export type InstalledKind = keyof Installation;

/** One write of an uninstallation. */
export type UninstallStep =
  | { readonly kind: 'delete'; readonly of: InstalledKind; readonly object: KubernetesObject }
  | {
      /** `patch-status` patches the subresource. */
      readonly kind: 'patch' | 'patch-status';
      readonly of: InstalledKind;
      readonly object: KubernetesObject;
      readonly patch: MergePatch;
      /** The removed parts, for people. */
      readonly removes: readonly string[];
    };

/** The parts of an uninstallation, in the order in which they are done. */
export const UNINSTALL_PHASES = ['webhook', 'agents', 'rights', 'marks', 'objects', 'kinds'] as const;
export type UninstallPhase = (typeof UNINSTALL_PHASES)[number];

/** What an uninstallation does, phase by phase, and what it leaves. */
export interface UninstallPlan {
  /** A phase begins when all objects of the former one are gone. */
  readonly phases: Readonly<Record<UninstallPhase, readonly UninstallStep[]>>;
  /** The number of objects that stay, by kind. */
  readonly kept: Readonly<Partial<Record<InstalledKind, number>>>;
}

/**
 * @param deleteData - true to delete also the stored data and the definitions, including which machine or host has which address, and their history.
 */
export function planUninstall(installed: Installation, deleteData: boolean): UninstallPlan {
  const deletion = (of: InstalledKind, objects = installed[of]): UninstallStep[] =>
    objects.map((object) => ({ kind: 'delete', of, object }));
  const { deployments, pods } = installed;
  const data = [...DATA, 'customResourceDefinitions'] as const;
  return {
    phases: {
      // Comes first: without an answer of the webhook, IPPools could be neither changed nor deleted.
      webhook: (['mutatingWebhooks', 'validatingWebhooks', 'webhookSecrets'] as const).flatMap((of) => deletion(of)),
      agents: [
        ...deletion('deployments', deployments.filter(isOfGroup)),
        ...deletion('pods', pods.filter(isBare)),
        ...deletion('wakeDaemonSets', installed.wakeDaemonSets.filter(isOfOurWakeAgents)),
        ...deletion('hostDeployments', installed.hostDeployments.filter(isOfController)),
      ],
      rights: [
        ...deletion('leases', installed.leases.filter(isToBeDeleted)),
        ...(['roleBindings', 'roles', 'serviceAccounts'] as const).flatMap((of) => deletion(of, installed[of].filter(isOfGroup))),
        ...HOST_RIGHTS.flatMap((of) => deletion(of, installed[of].filter(isOfController))),
        ...deletion('controllerLeases'),
        ...deletion('memoryConfigMaps'),
        ...deletion('wakeSecrets'),
      ],
      marks: [
        ...installed.networkConfigs.flatMap((object) => withoutFinalizer('networkConfigs', object, NETWORK_CONFIG_FINALIZER)),
        ...installed.ipPools.flatMap((object) => withoutFinalizer('ipPools', object, IPPOOL_FINALIZER)),
        ...(deleteData ? [] : installed.ipPools.flatMap(withoutAgents)),
        ...installed.networks.flatMap(withoutLabels),
      ],
      objects: deleteData ? DATA.flatMap((of) => deletion(of)) : [],
      kinds: deleteData ? deletion('customResourceDefinitions') : [],
    },
    kept: deleteData
      ? {}
      : Object.fromEntries(data.flatMap((kind) => (installed[kind].length === 0 ? [] : [[kind, installed[kind].length]]))),
  };
}

/**
 * The Leases of agents that no step removes: those of a Deployment that a manifest or a chart installed (topology unified). As long as such a Lease
 * is renewed, agents serve.
 */
export function leasesOfOtherAgents({ deployments, leases }: Installation): KubernetesObject[] {
  const deleted = new Set(deployments.filter(isOfGroup).map(keyOf));
  return leases.filter((lease) => !deleted.has(keyOf(lease)) && readText(lease.spec, 'holderIdentity'));
}

/** The controller names the objects of a group after it. */
function isOfGroup({ metadata }: KubernetesObject): boolean {
  return metadata.labels?.[AGENT_LABEL] !== undefined && metadata.labels[AGENT_GROUP_LABEL] === metadata.name;
}

function isOfController({ metadata }: KubernetesObject): boolean {
  return metadata.labels?.[MANAGED_BY_LABEL] === CONTROLLER;
}

/** Agents of kubevirt-wol have the same labels, and no command. */
function isOfOurWakeAgents({ spec }: KubernetesObject): boolean {
  const [container] = readList(spec, 'template', 'spec', 'containers');
  return readList(container, 'args')[0] === WAKE_AGENT_COMMAND;
}

/** A pod of Harvester's vm-dhcp-controller: it has no Deployment that would remove it. */
function isBare({ metadata }: KubernetesObject): boolean {
  return (metadata.ownerReferences ?? []).length === 0;
}

/**
 * The agents of the topology unified may not create their Lease: it is installed with their Deployment, and goes with it. The controller
 * creates it only where it is missing.
 */
function isToBeDeleted({ metadata }: KubernetesObject): boolean {
  return metadata.name !== UNIFIED_GROUP || metadata.labels?.[MANAGED_BY_LABEL] === CONTROLLER;
}

/** As long as a pool names agents of a namespace, a successor whose agents run in another one does not serve it. */
function withoutAgents(object: KubernetesObject): UninstallStep[] {
  const names = ['agentDeploymentRef', 'agentPodRef', 'servedBy'].filter((name) => readField(object.status, name) !== undefined);
  if (names.length === 0) return [];
  const patch = { status: Object.fromEntries(names.map((name) => [name, null])) };
  return [{ kind: 'patch-status', of: 'ipPools', object, patch, removes: names.map((name) => `status.${name}`) }];
}

function withoutFinalizer(of: InstalledKind, object: KubernetesObject, finalizer: string): UninstallStep[] {
  const { finalizers = [] } = object.metadata;
  if (!finalizers.includes(finalizer)) return [];
  const patch = { metadata: { finalizers: finalizers.filter((one) => one !== finalizer) } };
  return [{ kind: 'patch', of, object, patch, removes: [`finalizer ${finalizer}`] }];
}

function withoutLabels(object: KubernetesObject): UninstallStep[] {
  const names = [IPPOOL_NAMESPACE_LABEL, IPPOOL_NAME_LABEL].filter((name) => object.metadata.labels?.[name] !== undefined);
  if (names.length === 0) return [];
  const patch = { metadata: { labels: Object.fromEntries(names.map((name) => [name, null])) } };
  return [{ kind: 'patch', of: 'networks', object, patch, removes: names.map((name) => `label ${name}`) }];
}
