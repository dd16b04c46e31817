/** Describes a migration in words, and as JSON. */
import type { MigrationOutlook } from '@vmdhcp/controller-process/migration';
import {
  type MigrationDirection,
  type MigrationObservation,
  type MigrationProblem,
  NOTHING_OBSERVED,
  type WorkloadRole,
} from '@vmdhcp/controller-process/migration';
import { describeCount, keyOf } from '@vmdhcp/kube-runtime';

const ROLES: Readonly<Record<WorkloadRole, string>> = {
  'upstream-controller': "Harvester's vm-dhcp-controller",
  'upstream-webhook': "Harvester's webhook",
  'own-controller': 'vmdhcp-controller',
  'own-webhook': 'the webhook of vmdhcp',
};

export function describeOutlook(
  { observed, problems, warnings, steps, losses }: MigrationOutlook,
  { direction, dryRun }: { readonly direction: MigrationDirection; readonly dryRun: boolean },
): string[] {
  const plan = steps.map(({ title }, index) => `  ${String(index + 1).padStart(2)}. ${title}`);
  // When the way back begins at once, it is too late to save anything.
  const canSave = losses.length > 0 && (dryRun || problems.length > 0);
  return [
    ...(observed === NOTHING_OBSERVED ? [] : describeFound(observed)).map((text) => `found: ${text}`),
    ...problems.map((problem) => `problem: ${describeProblem(problem)}`),
    ...warnings.map((warning) => `warning: ${describeProblem(warning)}`),
    ...losses.map((loss) => `lost: ${loss}`),
    ...(canSave ? ['save it first: kubectl get ippools,vmnetcfg -A -o yaml > later.yaml'] : []),
    ...(plan.length > 0 ? ['plan:', ...plan] : problems.length > 0 ? [] : [nothingToDo(direction)]),
  ];
}

function nothingToDo(direction: MigrationDirection): string {
  return direction === 'forward'
    ? "nothing to do: Harvester's vm-dhcp-controller is not running"
    : 'nothing to do: vmdhcp is not running';
}

function describeFound({ workloads, addOns, registrations, pools, agentPods }: MigrationObservation): string[] {
  const bare = agentPods.filter(({ metadata }) => (metadata.ownerReferences ?? []).length === 0).length;
  return [
    ...workloads.map(
      ({ role, deployment, pods }) => `${ROLES[role]}: Deployment ${keyOf(deployment)}, ${describeCount(pods, 'pod')}`,
    ),
    ...addOns.map((addOn) => `the add-on ${keyOf(addOn)}`),
    ...registrations.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    `${describeCount(pools.length, 'IPPool')}, ${describeCount(bare, 'agent')} of Harvester, ${describeCount(agentPods.length - bare, 'agent')} of ours`,
  ];
}

function describeProblem({ object, message, remedy }: MigrationProblem): string {
  return `${object}: ${message}; ${remedy}`;
}

export function migrationRefusal(problems: readonly MigrationProblem[]): string {
  return `${describeCount(problems.length, 'problem')}: nothing was changed; solve them and run the command again`;
}

export function describeEnd({ observed }: MigrationOutlook, direction: MigrationDirection): string[] {
  const pools = describeCount(observed.pools.length, 'IPPool');
  return direction === 'forward'
    ? [`done: vmdhcp-controller is in charge of ${pools}; kubectl get ippools -A shows which are served (AGENTREADY)`]
    : [
        `done: Harvester's vm-dhcp-controller is in charge of ${pools}`,
        'left of vmdhcp: its chart or manifest (helm uninstall, or kubectl delete -f); after that, vmdhcp-controller uninstall removes the rest',
      ];
}

export function toJson(
  { problems, warnings, losses, steps }: MigrationOutlook,
  result: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return {
    ...result,
    problems,
    warnings,
    losses,
    steps: steps.map(({ id, title }, index) => ({ number: index + 1, id, title })),
  };
}
