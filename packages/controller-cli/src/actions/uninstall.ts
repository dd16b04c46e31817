import { type ClusterOptions, connect, failedRequest } from '@vmdhcp/controller-process';
import {
  type InstalledKind,
  UNINSTALL_PHASES,
  Uninstall,
  type UninstallPlan,
  type UninstallStep,
} from '@vmdhcp/controller-process/uninstall';
import { describeCount } from '@vmdhcp/kube-runtime';
import { ApiRequestError, errorForLog } from '@vmdhcp/kube-runtime/node';
import { printableJson } from '@vmdhcp/service-process';

export interface UninstallOptions extends ClusterOptions {
  readonly dryRun?: boolean;
  readonly deleteData?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
  readonly timeout: number;
}

const KIND_NAMES: Readonly<Record<InstalledKind, string>> = {
  deployments: 'Deployment',
  pods: 'Pod',
  leases: 'Lease',
  roleBindings: 'RoleBinding',
  roles: 'Role',
  serviceAccounts: 'ServiceAccount',
  controllerLeases: 'Lease',
  mutatingWebhooks: 'MutatingWebhookConfiguration',
  validatingWebhooks: 'ValidatingWebhookConfiguration',
  webhookSecrets: 'Secret',
  memoryConfigMaps: 'ConfigMap',
  auditRecords: 'ConfigMap',
  wakeDaemonSets: 'DaemonSet',
  wakePods: 'Pod',
  wakeSecrets: 'Secret',
  wolConfigs: 'WolConfig',
  hostDeployments: 'Deployment',
  hostPods: 'Pod',
  hostLeases: 'Lease',
  hostRoleBindings: 'RoleBinding',
  hostRoles: 'Role',
  hostServiceAccounts: 'ServiceAccount',
  hostClusterRoleBindings: 'ClusterRoleBinding',
  hostClusterRoles: 'ClusterRole',
  clusterAgents: 'ClusterAgent',
  hostEndpoints: 'HostEndpoint',
  hostStatuses: 'HostStatus',
  hostOperations: 'HostOperation',
  leaseSlices: 'LeaseSlice',
  ipPools: 'IPPool',
  networkConfigs: 'VirtualMachineNetworkConfig',
  networks: 'NetworkAttachmentDefinition',
  customResourceDefinitions: 'CustomResourceDefinition',
};

const CONTENT_NAMES: Readonly<Record<string, string>> = {
  auditRecords: ' with records of assignments',
  leaseSlices: ' with leases of hosts, unless you delete their namespace',
};

/** Removes what the controller put into a cluster, and prints each step. @throws CommandError if that cannot be done. */
export async function uninstall(options: UninstallOptions): Promise<void> {
  const { dryRun = false, deleteData = false, force = false, json = false, timeout } = options;
  const connection = await connect(options);
  const print = (text: string) => void (json ? process.stderr : process.stdout).write(`${text}\n`);
  try {
    const plan = await new Uninstall(connection, {
      dryRun,
      deleteData,
      force,
      timeoutMs: timeout * 1000,
      onStep: (step) => {
        if (!json) print(describeStep(step, dryRun));
      },
      onProgress: print,
    }).run();
    if (json) process.stdout.write(`${printableJson(toJson(plan, dryRun))}\n`);
    else for (const line of describeEnd(plan, dryRun)) print(line);
  } catch (error) {
    if (!(error instanceof ApiRequestError)) throw error;
    throw failedRequest(error, String(errorForLog(error)));
  } finally {
    connection.close();
  }
}

function describeStep(step: UninstallStep, dryRun: boolean): string {
  const name = nameOf(step);
  const would = dryRun ? 'would ' : '';
  if (step.kind === 'delete') return `${would}delete ${KIND_NAMES[step.of]} ${name}`;
  return `${would}remove from ${KIND_NAMES[step.of]} ${name}: ${step.removes.join(', ')}`;
}

function describeEnd(plan: UninstallPlan, dryRun: boolean): string[] {
  const count = new Set(stepsOf(plan).map((step) => `${step.of} ${nameOf(step)}`)).size;
  const done =
    count === 0
      ? 'nothing to remove'
      : `${describeCount(count, 'object')} ${dryRun ? 'would be deleted or changed' : 'deleted or changed'}`;
  const kept = Object.entries(plan.kept).map(([kind, number]) => {
    const name = KIND_NAMES[kind as InstalledKind];
    const objects = describeCount(number, name, name.endsWith('s') ? `${name}es` : `${name}s`);
    return `${objects}${CONTENT_NAMES[kind] ?? ''}`;
  });
  return kept.length === 0 ? [done] : [done, `kept for a successor: ${kept.join(', ')}; --delete-data deletes them`];
}

function toJson(plan: UninstallPlan, dryRun: boolean): Readonly<Record<string, unknown>> {
  const steps = stepsOf(plan).map((step) => ({
    action: step.kind === 'delete' ? 'delete' : 'patch',
    kind: KIND_NAMES[step.of],
    name: nameOf(step),
    ...(step.kind !== 'delete' && { removes: step.removes }),
  }));
  const kept = Object.fromEntries(Object.entries(plan.kept).map(([kind, number]) => [KIND_NAMES[kind as InstalledKind], number]));
  return { dryRun, steps, kept };
}

function stepsOf({ phases }: UninstallPlan): UninstallStep[] {
  return UNINSTALL_PHASES.flatMap((phase) => phases[phase]);
}

function nameOf({ object: { metadata } }: UninstallStep): string {
  return metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
}
