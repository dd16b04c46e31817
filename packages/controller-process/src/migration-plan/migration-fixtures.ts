/** An in-memory cluster with Harvester's vm-dhcp-controller: writes of a migration take effect, and the reactions of controllers follow. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { isRecord, keyOf, readField } from '@vmdhcp/kube-runtime';
import type { MigrationObservation, ObservedWorkload, WorkloadRole } from './migration-observation.js';
import type { MigrationStep, MigrationWrite } from './migration-step.js';

const AGENT_LABEL = 'network.harvesterhci.io/vm-dhcp-controller';
const GROUP_LABEL = 'network.harvesterhci.io/agent-group';
const POOL = 'default/net';

export function deploymentOf(role: WorkloadRole, replicas = 1): KubernetesObject {
  const [owner = '', component = ''] = role.split('-', 2);
  const chart = component === 'webhook' ? 'harvester-vm-dhcp-controller-webhook' : 'harvester-vm-dhcp-controller';
  const name = owner === 'upstream' ? chart : `vm-dhcp-${component}`;
  const args = owner === 'upstream' ? ['--name', name] : [component === 'webhook' ? 'webhook' : 'run'];
  const env = [
    { name: 'AGENT_NAMESPACE', value: 'vm-dhcp-agents' },
    { name: 'AGENT_PREVIOUS_NAMESPACE', value: 'harvester-system' },
  ];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      namespace: 'harvester-system',
      name,
      labels: { 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': component },
    },
    spec: { replicas, template: { spec: { containers: [{ name, image: 'vm-dhcp', args, env }] } } },
    status: { availableReplicas: replicas },
  };
}

export function workload(role: WorkloadRole, replicas = 1): ObservedWorkload {
  return { role, deployment: deploymentOf(role, replicas), pods: replicas };
}

export function agentPod(key = POOL): KubernetesObject {
  const [namespace = '', name = ''] = key.split('/', 2);
  const labels = {
    [AGENT_LABEL]: 'agent',
    'network.harvesterhci.io/ippool-namespace': namespace,
    'network.harvesterhci.io/ippool-name': name,
  };
  return {
    kind: 'Pod',
    metadata: { namespace: 'harvester-system', name: `${namespace}-${name}-agent`, labels },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

/** On a node that does not answer: only a person, or the node, removes it. */
export function lostAgentPod(key = POOL): KubernetesObject {
  const pod = agentPod(key);
  return { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }, status: {} };
}

export function poolOf(
  status: Readonly<Record<string, unknown>> = {},
  more: Readonly<Record<string, unknown>> = {},
): KubernetesObject {
  const ipv4Config = { cidr: '10.1.0.0/24', serverIP: '10.1.0.2', pool: { start: '10.1.0.10', end: '10.1.0.99' }, ...more };
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { namespace: 'default', name: 'net' },
    spec: { networkName: POOL, ipv4Config },
    status,
  };
}

export function registration(owner: 'upstream' | 'own', kind = 'ValidatingWebhookConfiguration'): KubernetesObject {
  const labels = { 'app.kubernetes.io/managed-by': 'vmdhcp-controller' };
  const rules = [{ apiGroups: ['network.harvesterhci.io'], resources: ['ippools'] }];
  const path = `/v1/webhook/${kind.startsWith('Mutating') ? 'mutation' : 'validation'}`;
  const clientConfig = { service: { namespace: 'harvester-system', name: 'harvester-vm-dhcp-controller-webhook', path } };
  return {
    kind,
    metadata: { name: `${owner}-webhook`, ...(owner === 'own' && { labels }) },
    ...{ webhooks: [{ rules, clientConfig }] },
  };
}

/** A webhook of a policy engine with a policy about IPPools. */
export function policyRegistration(): KubernetesObject {
  const rules = [{ apiGroups: ['network.harvesterhci.io'], resources: ['ippools'] }];
  const clientConfig = { service: { namespace: 'policies', name: 'policies', path: '/validate/fail' } };
  return { kind: 'ValidatingWebhookConfiguration', metadata: { name: 'policies' }, ...{ webhooks: [{ rules, clientConfig }] } };
}

/** If it is not enabled, a migration disabled it. */
export function addOn(enabled: boolean): KubernetesObject {
  const annotations = { 'network.harvesterhci.io/before-migration': 'enabled' };
  return {
    kind: 'Addon',
    metadata: { namespace: 'harvester-system', name: 'harvester-vm-dhcp-controller', ...(!enabled && { annotations }) },
    spec: { enabled, chart: 'harvester-vm-dhcp-controller' },
  };
}

export function definitions(isOurs: boolean): MigrationObservation['definitions'] {
  const definition = { kind: 'CustomResourceDefinition', metadata: { name: 'ippools.network.harvesterhci.io' } };
  return [{ definition, isOurs, isAsBackedUp: !isOurs }];
}

/** Harvester's controller serves one pool; ours waits. */
export const SERVED_UPSTREAM: MigrationObservation = {
  workloads: [workload('upstream-controller'), workload('upstream-webhook'), workload('own-controller', 0)],
  definitions: definitions(false),
  missingDefinitions: [],
  addOns: [addOn(true)],
  registrations: [registration('upstream', 'MutatingWebhookConfiguration'), registration('upstream')],
  pools: [poolOf({ agentPodRef: { namespace: 'harvester-system', name: 'default-net-agent' } })],
  agentPods: [agentPod()],
  agentDeployments: [],
  agentLeases: [],
  agentRights: [],
  hasBackup: false,
};

const ofGroup = (kind: string): KubernetesObject => ({
  kind,
  metadata: { namespace: 'vm-dhcp-agents', name: 'g', labels: { [AGENT_LABEL]: 'agent', [GROUP_LABEL]: 'g' } },
});

/** Ours serves it; the rest of Harvester's is stopped. */
export const SERVED_HERE: MigrationObservation = {
  ...SERVED_UPSTREAM,
  workloads: [workload('upstream-controller', 0), workload('upstream-webhook', 0), workload('own-controller')],
  definitions: definitions(true),
  addOns: [addOn(false)],
  registrations: [],
  pools: [poolOf({ agentDeploymentRef: { name: 'g' } })],
  agentPods: [{ ...ofGroup('Pod'), metadata: { ...ofGroup('Pod').metadata, ownerReferences: [] } }],
  agentDeployments: [ofGroup('Deployment')],
  agentLeases: [{ ...ofGroup('Lease'), spec: { holderIdentity: 'g-1', leaseDurationSeconds: 3 } }],
  agentRights: [ofGroup('RoleBinding'), ofGroup('Role'), ofGroup('ServiceAccount')],
  hasBackup: true,
};

/** The cluster after the writes of a step, before any controller has done anything. */
export function afterWrites(observed: MigrationObservation, { writes }: MigrationStep): MigrationObservation {
  return writes.reduce(afterWrite, observed);
}

function afterWrite(observed: MigrationObservation, write: MigrationWrite): MigrationObservation {
  switch (write.kind) {
    case 'back-up':
      return { ...observed, hasBackup: true };
    case 'define':
      return { ...observed, definitions: definitions(true) };
    case 'restore':
      return { ...observed, definitions: definitions(false) };
    case 'patch':
    case 'patch-status':
      return mapObjects(observed, (one) => (isSame(one, write.object) ? [merge(one, write.patch) as KubernetesObject] : [one]));
    case 'delete':
      return mapObjects(observed, (one) => (isSame(one, write.object) ? [] : [one]));
  }
}

const isSame = (one: KubernetesObject, other: KubernetesObject) => one.kind === other.kind && keyOf(one) === keyOf(other);

function mapObjects(
  observed: MigrationObservation,
  change: (object: KubernetesObject) => readonly KubernetesObject[],
): MigrationObservation {
  return {
    ...observed,
    workloads: observed.workloads.flatMap((one) => change(one.deployment).map((deployment) => ({ ...one, deployment }))),
    addOns: observed.addOns.flatMap(change),
    registrations: observed.registrations.flatMap(change),
    pools: observed.pools.flatMap(change),
    agentPods: observed.agentPods.flatMap(change),
    agentDeployments: observed.agentDeployments.flatMap(change),
    agentLeases: observed.agentLeases.flatMap(change),
    agentRights: observed.agentRights.flatMap(change),
  };
}

/** A JSON merge patch. */
function merge(value: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = isRecord(value) ? { ...value } : {};
  for (const [name, content] of Object.entries(patch)) {
    if (content === null) delete merged[name];
    else merged[name] = merge(merged[name], content);
  }
  return merged;
}

/** The cluster after the reactions of all controllers. */
export function settled(observed: MigrationObservation): MigrationObservation {
  const workloads = observed.workloads.map(({ role, deployment }) => {
    const replicas = Number(readField(deployment.spec, 'replicas'));
    return { role, deployment: { ...deployment, status: { availableReplicas: replicas } }, pods: replicas };
  });
  const runs = (role: WorkloadRole) => workloads.some((one) => one.role === role && one.pods > 0);
  const after = { ...observed, workloads };
  if (runs('upstream-controller')) return upstreamServes(after);
  return runs('own-controller') ? ownServes(after) : endPods(after);
}

function upstreamServes(observed: MigrationObservation): MigrationObservation {
  const bare = observed.agentPods.filter(({ metadata }) => metadata.labels?.[GROUP_LABEL] === undefined);
  const others = endPods(observed).agentPods.filter((pod) => !bare.includes(pod));
  return { ...observed, agentPods: [...(bare.length > 0 ? bare : [agentPod()]), ...others] };
}

function ownServes(observed: MigrationObservation): MigrationObservation {
  const { agentDeployments, agentLeases, agentRights, agentPods } = SERVED_HERE;
  return { ...observed, agentDeployments, agentLeases, agentRights, agentPods, pools: SERVED_HERE.pools };
}

/** Pods end with their Deployment. */
function endPods(observed: MigrationObservation): MigrationObservation {
  const groups = new Set(observed.agentDeployments.map(({ metadata }) => metadata.name));
  const agentPods = observed.agentPods.filter(
    ({ metadata }) => metadata.labels?.[GROUP_LABEL] === undefined || groups.has(metadata.labels[GROUP_LABEL]),
  );
  return { ...observed, agentPods };
}
