import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { type Installation, leasesOfOtherAgents, planUninstall, UNINSTALL_PHASES, type UninstallPlan } from './plan-uninstall.js';

const LABEL = 'network.harvesterhci.io/vm-dhcp-controller';
const GROUP_LABEL = 'network.harvesterhci.io/agent-group';
const OURS = { [LABEL]: 'agent', [GROUP_LABEL]: 'g' };
const NOTHING: Installation = {
  deployments: [],
  pods: [],
  leases: [],
  roleBindings: [],
  roles: [],
  serviceAccounts: [],
  controllerLeases: [],
  mutatingWebhooks: [],
  validatingWebhooks: [],
  webhookSecrets: [],
  memoryConfigMaps: [],
  auditRecords: [],
  wakeDaemonSets: [],
  wakePods: [],
  wakeSecrets: [],
  wolConfigs: [],
  hostDeployments: [],
  hostPods: [],
  hostLeases: [],
  hostRoleBindings: [],
  hostRoles: [],
  hostServiceAccounts: [],
  hostClusterRoleBindings: [],
  hostClusterRoles: [],
  clusterAgents: [],
  hostEndpoints: [],
  hostStatuses: [],
  hostOperations: [],
  leaseSlices: [],
  ipPools: [],
  networkConfigs: [],
  networks: [],
  customResourceDefinitions: [],
};
const object = (name: string, more: Partial<KubernetesObject['metadata']> = {}): KubernetesObject => ({
  metadata: { namespace: 'ns', name, ...more },
});
const described = ({ phases }: UninstallPlan) =>
  UNINSTALL_PHASES.flatMap((phase) =>
    phases[phase].map(({ kind, of, object: { metadata } }) => `${phase}: ${kind} ${of} ${metadata.name}`),
  );

/** A DaemonSet of Wake-on-LAN; that of kubevirt-wol has flags only. */
function wakeAgents(name: string, args: readonly string[]): KubernetesObject {
  return { ...object(name), spec: { template: { spec: { containers: [{ name: 'agent', args }] } } } };
}

const INSTALLED: Installation = {
  deployments: [object('g', { labels: OURS }), object('another', { labels: OURS })],
  pods: [
    object('of-a-deployment', {
      labels: OURS,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'g', uid: 'u' }],
    }),
    object('upstream', { labels: { [LABEL]: 'agent' } }),
  ],
  leases: [object('g', { labels: OURS })],
  roleBindings: [object('g', { labels: OURS }), object('another', { labels: OURS })],
  roles: [object('g', { labels: OURS }), object('another', { labels: OURS })],
  serviceAccounts: [object('g', { labels: OURS }), object('another', { labels: OURS })],
  controllerLeases: [object('vm-dhcp-controllers')],
  mutatingWebhooks: [object('hook')],
  validatingWebhooks: [object('hook')],
  webhookSecrets: [object('hook-ca'), object('hook-tls')],
  memoryConfigMaps: [object('vmdhcp-mac-addresses-0')],
  auditRecords: [object('vmdhcp-audit')],
  wakeDaemonSets: [
    wakeAgents('wol-agent-office', ['wol', '--manager', 'm:1']),
    wakeAgents('wol-agent-other', ['--node-name=$(N)']),
  ],
  wakePods: [object('wol-agent-office-x')],
  wakeSecrets: [object('vmdhcp-wake-on-lan-ca')],
  wolConfigs: [object('office')],
  hostDeployments: [],
  hostPods: [],
  hostLeases: [],
  hostRoleBindings: [],
  hostRoles: [],
  hostServiceAccounts: [],
  hostClusterRoleBindings: [],
  hostClusterRoles: [],
  clusterAgents: [object('rack')],
  hostEndpoints: [object('bmc-1')],
  hostStatuses: [object('rack-192-168-0-10'), object('bmc-1-status')],
  hostOperations: [object('reboot')],
  leaseSlices: [object('rack-head')],
  ipPools: [object('pool', { finalizers: ['other', 'wrangler.cattle.io/vm-dhcp-ippool-controller'] }), object('plain')],
  networkConfigs: [object('vm', { finalizers: ['wrangler.cattle.io/vm-dhcp-vmnetcfg-controller'] })],
  networks: [
    object('net', {
      labels: { 'network.harvesterhci.io/ippool-name': 'pool', 'network.harvesterhci.io/clusternetwork': 'mgmt' },
    }),
    object('untouched', { labels: { 'network.harvesterhci.io/clusternetwork': 'mgmt' } }),
  ],
  customResourceDefinitions: [object('ippools.network.harvesterhci.io')],
};

describe('planUninstall', () => {
  it('is empty where nothing is installed', () => {
    expect(described(planUninstall(NOTHING, true))).toEqual([]);
    expect(planUninstall(NOTHING, false).kept).toEqual({});
  });

  it('removes the registration of the webhook, then agents, then what they had, then finalizers and labels, and counts the data that it keeps', () => {
    const plan = planUninstall(INSTALLED, false);
    expect(described(plan)).toEqual([
      'webhook: delete mutatingWebhooks hook',
      'webhook: delete validatingWebhooks hook',
      'webhook: delete webhookSecrets hook-ca',
      'webhook: delete webhookSecrets hook-tls',
      'agents: delete deployments g',
      'agents: delete pods upstream',
      'agents: delete wakeDaemonSets wol-agent-office',
      'rights: delete leases g',
      'rights: delete roleBindings g',
      'rights: delete roles g',
      'rights: delete serviceAccounts g',
      'rights: delete controllerLeases vm-dhcp-controllers',
      'rights: delete memoryConfigMaps vmdhcp-mac-addresses-0',
      'rights: delete wakeSecrets vmdhcp-wake-on-lan-ca',
      'marks: patch networkConfigs vm',
      'marks: patch ipPools pool',
      'marks: patch networks net',
    ]);
    expect(plan.kept).toEqual({
      ...{ ipPools: 2, networkConfigs: 1, wolConfigs: 1, customResourceDefinitions: 1, auditRecords: 1 },
      ...{ clusterAgents: 1, hostEndpoints: 1, hostStatuses: 2, hostOperations: 1, leaseSlices: 1 },
    });
  });

  it('takes only its own finalizers and labels away', () => {
    const { marks } = planUninstall(INSTALLED, false).phases;
    expect(marks.map((step) => (step.kind === 'patch' ? [step.patch, step.removes] : undefined))).toEqual([
      [{ metadata: { finalizers: [] } }, ['finalizer wrangler.cattle.io/vm-dhcp-vmnetcfg-controller']],
      [{ metadata: { finalizers: ['other'] } }, ['finalizer wrangler.cattle.io/vm-dhcp-ippool-controller']],
      [{ metadata: { labels: { 'network.harvesterhci.io/ippool-name': null } } }, ['label network.harvesterhci.io/ippool-name']],
    ]);
  });

  it('takes both labels of a network away, and leaves a network without labels as it is', () => {
    const labels = { 'network.harvesterhci.io/ippool-name': 'pool', 'network.harvesterhci.io/ippool-namespace': 'ns' };
    expect(planUninstall({ ...NOTHING, networks: [object('net', { labels }), object('plain')] }, false).phases.marks).toEqual([
      {
        kind: 'patch',
        of: 'networks',
        object: object('net', { labels }),
        patch: {
          metadata: { labels: { 'network.harvesterhci.io/ippool-namespace': null, 'network.harvesterhci.io/ippool-name': null } },
        },
        removes: ['label network.harvesterhci.io/ippool-namespace', 'label network.harvesterhci.io/ippool-name'],
      },
    ]);
  });

  it.each<[what: string, labels: Record<string, string> | undefined]>([
    ['of another group', { [LABEL]: 'agent', [GROUP_LABEL]: 'other' }],
    ['without a group', { [LABEL]: 'agent' }],
    ['that is none of its agents', { [GROUP_LABEL]: 'g' }],
    ['without labels', undefined],
  ])('leaves a Deployment %s as it is', (_what, labels) => {
    const deployments = [object('g', labels && { labels })];
    expect(described(planUninstall({ ...NOTHING, deployments }, true))).toEqual([]);
  });

  it('takes from the status of a pool what agents it names: a successor may run its own in another namespace', () => {
    const status = { agentDeploymentRef: { namespace: 'ns', name: 'g' }, agentPodRef: { name: 'p' }, servedBy: 'p', ipv4: {} };
    const installed = {
      ...NOTHING,
      ipPools: [
        { ...object('pool'), status },
        { ...object('plain'), status: { ipv4: {} } },
      ],
    };
    expect(planUninstall(installed, false).phases.marks).toMatchObject([
      {
        kind: 'patch-status',
        object: { metadata: { name: 'pool' } },
        patch: { status: { agentDeploymentRef: null, agentPodRef: null, servedBy: null } },
        removes: ['status.agentDeploymentRef', 'status.agentPodRef', 'status.servedBy'],
      },
    ]);
    expect(planUninstall(installed, true).phases.marks).toEqual([]);
  });

  it('leaves the Lease that a manifest installed with the agents of unified, and deletes the one that the controller created', () => {
    const labels = { [LABEL]: 'agent', [GROUP_LABEL]: 'vm-dhcp-agents' };
    const manifest = object('vm-dhcp-agents', { labels });
    const created = object('vm-dhcp-agents', { labels: { ...labels, 'app.kubernetes.io/managed-by': 'vm-dhcp-controller' } });
    expect(described(planUninstall({ ...NOTHING, leases: [manifest, object('vm-dhcp-agents')] }, true))).toEqual([]);
    expect(described(planUninstall({ ...NOTHING, leases: [created] }, true))).toEqual(['rights: delete leases vm-dhcp-agents']);
  });

  it('deletes the data, and its kinds last, where that is asked for', () => {
    const plan = planUninstall(INSTALLED, true);
    expect(described(plan).slice(-12)).toEqual([
      'objects: delete networkConfigs vm',
      'objects: delete ipPools pool',
      'objects: delete ipPools plain',
      'objects: delete wolConfigs office',
      'objects: delete hostOperations reboot',
      'objects: delete hostStatuses rack-192-168-0-10',
      'objects: delete hostStatuses bmc-1-status',
      'objects: delete leaseSlices rack-head',
      'objects: delete hostEndpoints bmc-1',
      'objects: delete clusterAgents rack',
      'objects: delete auditRecords vmdhcp-audit',
      'kinds: delete customResourceDefinitions ippools.network.harvesterhci.io',
    ]);
    expect(plan.kept).toEqual({});
  });
});

describe('leasesOfOtherAgents', () => {
  it('are those that an agent holds and whose Deployment is not to be deleted', () => {
    const lease = (name: string, holderIdentity: string): KubernetesObject => ({
      ...object(name, { labels: { [LABEL]: 'agent' } }),
      spec: { holderIdentity },
    });
    const leases = [lease('g', 'pod-of-g'), lease('another', 'pod'), lease('unified', 'pod'), lease('left', '')];
    const names = leasesOfOtherAgents({ ...INSTALLED, leases }).map(({ metadata }) => metadata.name);
    expect(names).toEqual(['another', 'unified']);
  });
});

it('agents of bare-metal hosts go before their rights; what others made with the same label stays', () => {
  const labels = { 'bmc.spidernet.io/cluster-agent': 'rack' };
  const ours = object('agent-rack', { labels: { ...labels, 'app.kubernetes.io/managed-by': 'vm-dhcp-controller' } });
  const both = [ours, object('other', { labels })];
  const plan = planUninstall(
    {
      ...NOTHING,
      ...{
        hostDeployments: both,
        hostPods: [object('pod', { labels })],
        hostLeases: both,
        hostRoleBindings: both,
        hostRoles: both,
      },
      ...{ hostServiceAccounts: both, hostClusterRoleBindings: both, hostClusterRoles: both },
    },
    true,
  );
  expect(described(plan)).toEqual([
    'agents: delete hostDeployments agent-rack',
    'rights: delete hostLeases agent-rack',
    'rights: delete hostRoleBindings agent-rack',
    'rights: delete hostRoles agent-rack',
    'rights: delete hostServiceAccounts agent-rack',
    'rights: delete hostClusterRoleBindings agent-rack',
    'rights: delete hostClusterRoles agent-rack',
  ]);
});
