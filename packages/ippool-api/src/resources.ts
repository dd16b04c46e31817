import { BARE_METAL_GROUP, BARE_METAL_VERSION } from './bare-metal/keys.js';
import { GROUP, VERSION, WOL_GROUP, WOL_VERSION } from './labels.js';

/** The component in the controller's Events. */
export const EVENT_COMPONENT = 'vm-dhcp-controller';
/** On objects that the controller creates, and not a manifest or a chart. */
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
/** The name of the controller: of its objects, and in what it writes. */
export const CONTROLLER = 'vm-dhcp-controller';
/** On pods: which networks Multus attaches. */
export const MULTUS_NETWORKS_ANNOTATION = 'k8s.v1.cni.cncf.io/networks';

/** The Lease by which replicas of the controller elect their leader; Harvester's controller uses the same. */
export const CONTROLLER_LEASE = { namespace: 'kube-system', name: 'vm-dhcp-controllers' } as const;

interface ResourceName {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** The API resources that the controller and the agents read and write. */
export const Resource = {
  ipPools: { group: GROUP, version: VERSION, plural: 'ippools', namespaced: true },
  networkConfigs: { group: GROUP, version: VERSION, plural: 'virtualmachinenetworkconfigs', namespaced: true },
  networks: { group: 'k8s.cni.cncf.io', version: 'v1', plural: 'network-attachment-definitions', namespaced: true },
  virtualMachines: { group: 'kubevirt.io', version: 'v1', plural: 'virtualmachines', namespaced: true },
  virtualMachineInstances: { group: 'kubevirt.io', version: 'v1', plural: 'virtualmachineinstances', namespaced: true },
  events: { group: '', version: 'v1', plural: 'events', namespaced: true },
  deployments: { group: 'apps', version: 'v1', plural: 'deployments', namespaced: true },
  daemonSets: { group: 'apps', version: 'v1', plural: 'daemonsets', namespaced: true },
  wolConfigs: { group: WOL_GROUP, version: WOL_VERSION, plural: 'wolconfigs', namespaced: false },
  pods: { group: '', version: 'v1', plural: 'pods', namespaced: true },
  leases: { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespaced: true },
  configMaps: { group: '', version: 'v1', plural: 'configmaps', namespaced: true },
  serviceAccounts: { group: '', version: 'v1', plural: 'serviceaccounts', namespaced: true },
  roles: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'roles', namespaced: true },
  roleBindings: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'rolebindings', namespaced: true },
  clusterRoles: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles', namespaced: false },
  clusterRoleBindings: { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterrolebindings', namespaced: false },
  persistentVolumeClaims: { group: '', version: 'v1', plural: 'persistentvolumeclaims', namespaced: true },
  secrets: { group: '', version: 'v1', plural: 'secrets', namespaced: true },
  clusterAgents: { group: BARE_METAL_GROUP, version: BARE_METAL_VERSION, plural: 'clusteragents', namespaced: false },
  hostEndpoints: { group: BARE_METAL_GROUP, version: BARE_METAL_VERSION, plural: 'hostendpoints', namespaced: false },
  hostStatuses: { group: BARE_METAL_GROUP, version: BARE_METAL_VERSION, plural: 'hoststatuses', namespaced: false },
  hostOperations: { group: BARE_METAL_GROUP, version: BARE_METAL_VERSION, plural: 'hostoperations', namespaced: false },
  leaseSlices: { group: BARE_METAL_GROUP, version: BARE_METAL_VERSION, plural: 'leaseslices', namespaced: true },
  customResourceDefinitions: {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    plural: 'customresourcedefinitions',
    namespaced: false,
  },
} as const satisfies Readonly<Record<string, ResourceName>>;
