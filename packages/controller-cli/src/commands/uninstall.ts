import { describeCount } from '@vmdhcp/kube-runtime';
import { type InstalledKind, UNINSTALL_PHASES, type UninstallPlan, type UninstallStep } from '@vmdhcp/reconciler';

import { Command, InvalidArgumentError } from 'commander';
import { type ClusterOptions, clusterOptions, connect } from '../run/connect.js';
import { Uninstall } from '../run/uninstall.js';

const EXAMPLES = `
Examples:
  vmdhcp-controller uninstall --dry-run
  vmdhcp-controller uninstall
  vmdhcp-controller uninstall --delete-data --kubeconfig ~/.kube/config
  vmdhcp-controller uninstall --dry-run --json | jq .steps

Removes, in this order: the agents' Deployments and pods; their Leases, Roles, RoleBindings and ServiceAccounts; the finalizers
of IPPools and VirtualMachineNetworkConfigs, and the labels ippool-namespace and ippool-name of NetworkAttachmentDefinitions.
Keeps IPPools, VirtualMachineNetworkConfigs and their definitions, so that a successor assigns each virtual machine the address that it
has; --delete-data deletes them too. Stop the controller first. You can run it again at any time.
It does not delete what a manifest or a chart installed: kubectl delete -f examples/cluster/rbac.yaml, or helm uninstall. Agents that
they installed (topology unified) have to be deleted first: kubectl delete -f examples/cluster/agent.yaml.

Exit codes: 0 removed, or nothing was there; 1 a controller or such agents run, the API server refused, or an object is not deleted in time;
64 wrong usage, 66 no connection to a cluster.
`;

interface UninstallOptions extends ClusterOptions {
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
  ipPools: 'IPPool',
  networkConfigs: 'VirtualMachineNetworkConfig',
  networks: 'NetworkAttachmentDefinition',
  customResourceDefinitions: 'CustomResourceDefinition',
};

/** `vmdhcp-controller uninstall` */
export function uninstallCommand(): Command {
  const command = new Command('uninstall')
    .description('Remove everything that the controller put into a cluster.')
    .option('--dry-run', 'list what would be removed, and remove nothing')
    .option('--delete-data', 'delete IPPools, VirtualMachineNetworkConfigs and their definitions too')
    .option(
      '--force',
      'do not check whether a controller works, which would make everything again, or agents that a manifest installed',
    )
    .option('--timeout <seconds>', 'how long to wait until pods and other objects are deleted', parseSeconds, 120)
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES);
  for (const option of clusterOptions()) command.addOption(option);
  return command.action(uninstall);
}

async function uninstall(options: UninstallOptions): Promise<void> {
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
    if (json) process.stdout.write(`${JSON.stringify(toJson(plan, dryRun))}\n`);
    else for (const line of describeEnd(plan, dryRun)) print(line);
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
  const kept = Object.entries(plan.kept).map(
    ([kind, number]) => `${number} ${KIND_NAMES[kind as InstalledKind]}${number === 1 ? '' : 's'}`,
  );
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

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 3_600)) throw new InvalidArgumentError('write seconds, more than 0 and up to 3600.');
  return seconds;
}
