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
  roleBindings: [object('g', { labels: OURS })],
  roles: [object('g', { labels: OURS })],
  serviceAccounts: [object('g', { labels: OURS })],
  controllerLeases: [object('vm-dhcp-controllers')],
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

  it('removes agents, then what they had, then finalizers and labels, and counts the data that it keeps', () => {
    const plan = planUninstall(INSTALLED, false);
    expect(described(plan)).toEqual([
      'agents: delete deployments g',
      'agents: delete pods upstream',
      'rights: delete leases g',
      'rights: delete roleBindings g',
      'rights: delete roles g',
      'rights: delete serviceAccounts g',
      'rights: delete controllerLeases vm-dhcp-controllers',
      'marks: patch networkConfigs vm',
      'marks: patch ipPools pool',
      'marks: patch networks net',
    ]);
    expect(plan.kept).toEqual({ ipPools: 2, networkConfigs: 1, customResourceDefinitions: 1 });
  });

  it('takes only its own finalizers and labels away', () => {
    const { marks } = planUninstall(INSTALLED, false).phases;
    expect(marks.map((step) => (step.kind === 'patch' ? step.patch : undefined))).toEqual([
      { metadata: { finalizers: [] } },
      { metadata: { finalizers: ['other'] } },
      { metadata: { labels: { 'network.harvesterhci.io/ippool-name': null } } },
    ]);
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
      },
    ]);
    expect(planUninstall(installed, true).phases.marks).toEqual([]);
  });

  it('leaves the Lease that a manifest installed with the agents of unified, and deletes the one that the controller created', () => {
    const labels = { [LABEL]: 'agent', [GROUP_LABEL]: 'vm-dhcp-agents' };
    const manifest = object('vm-dhcp-agents', { labels });
    const created = object('vm-dhcp-agents', { labels: { ...labels, 'app.kubernetes.io/managed-by': 'vm-dhcp-controller' } });
    expect(described(planUninstall({ ...NOTHING, leases: [manifest] }, true))).toEqual([]);
    expect(described(planUninstall({ ...NOTHING, leases: [created] }, true))).toEqual(['rights: delete leases vm-dhcp-agents']);
  });

  it('deletes the data, and its kinds last, where that is asked for', () => {
    const plan = planUninstall(INSTALLED, true);
    expect(described(plan).slice(-4)).toEqual([
      'objects: delete networkConfigs vm',
      'objects: delete ipPools pool',
      'objects: delete ipPools plain',
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
    const leases = [lease('g', 'pod-of-g'), lease('unified', 'pod'), lease('left', '')];
    expect(leasesOfOtherAgents({ ...INSTALLED, leases }).map(({ metadata }) => metadata.name)).toEqual(['unified']);
  });
});
