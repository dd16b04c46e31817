import { type ClusterOptions, connect } from '@vmdhcp/controller-process';
import {
  describeLeftovers,
  findLeftovers,
  Migration,
  type MigrationOutlook,
  removeLeftovers,
} from '@vmdhcp/controller-process/migration';
import { describeCount, keyOf } from '@vmdhcp/kube-runtime';
import { type ApiConnection, ApiRequestError, errorForLog } from '@vmdhcp/kube-runtime/node';
import {
  type MigrationDirection,
  type MigrationObservation,
  type MigrationProblem,
  NOTHING_OBSERVED,
  type WorkloadRole,
} from '@vmdhcp/reconciler';
import { CommandError, ExitCode, printableJson } from '@vmdhcp/service-process';

export interface MigrateOptions extends ClusterOptions {
  readonly dryRun?: boolean;
  readonly back?: boolean;
  readonly backup: string;
  readonly removeLeftovers?: boolean;
  readonly output: 'text' | 'json';
  readonly timeout: number;
}

/** Moves a cluster from Harvester's vm-dhcp-controller to this one, or back. @throws CommandError where that cannot be done. */
export async function migrate(options: MigrateOptions): Promise<void> {
  if (options.back === true && options.removeLeftovers === true)
    throw new CommandError('--remove-leftovers deletes what --back needs; use one of them', ExitCode.usage);
  const connection = await connect(options);
  try {
    await migrateCluster(connection, options);
  } catch (error) {
    if (!(error instanceof ApiRequestError)) throw error;
    throw new CommandError(String(errorForLog(error)), ExitCode.failed, { cause: error });
  } finally {
    connection.close();
  }
}

type Print = (text: string) => void;

async function migrateCluster(connection: ApiConnection, options: MigrateOptions): Promise<void> {
  const direction: MigrationDirection = options.back === true ? 'back' : 'forward';
  const dryRun = options.dryRun === true;
  // A program reads one document; a person reads what happens.
  const print: Print = (text) => void (options.output === 'json' ? process.stderr : process.stdout).write(`${text}\n`);
  const migration = new Migration(connection, {
    direction,
    backupPath: options.backup,
    timeoutMs: options.timeout * 1000,
    onStep: ({ title }, { number, of }) => print(`${number}/${of} ${title}`),
    onProgress: (text) => print(`    ${text}`),
  });
  const outlook = await migration.look();
  printAll(print, describeOutlook(outlook, direction));
  const isRefused = outlook.problems.length > 0;
  if (!isRefused) printAll(print, await previewLeftovers(connection, options));
  const done = !isRefused && !dryRun;
  const leftovers = done ? await carryOut(migration, outlook, { connection, options, print }) : [];
  if (options.output === 'json')
    process.stdout.write(`${printableJson(toJson(outlook, { direction, dryRun, done, leftovers }))}\n`);
  if (isRefused) throw new CommandError(refusalOf(outlook.problems), ExitCode.failed);
}

/** @returns what is left then, for people. */
async function carryOut(
  migration: Migration,
  outlook: MigrationOutlook,
  { connection, options, print }: { readonly connection: ApiConnection; readonly options: MigrateOptions; readonly print: Print },
): Promise<string[]> {
  await migration.run(outlook.steps.length);
  if (outlook.steps.length > 0) printAll(print, describeEnd(outlook, options.back === true ? 'back' : 'forward'));
  const leftovers = options.back === true ? [] : await clearLeftovers(connection, options, print);
  printAll(print, leftovers);
  return leftovers;
}

/** @returns what `--remove-leftovers` would delete when everything has moved, for people. */
async function previewLeftovers(connection: ApiConnection, options: MigrateOptions): Promise<string[]> {
  if (options.removeLeftovers !== true) return [];
  const { others } = await findLeftovers(connection);
  return others.map(({ object }) => `then delete ${object.kind} ${keyOf(object)}`);
}

function printAll(print: Print, lines: readonly string[]): void {
  for (const line of lines) print(line);
}

/** @returns what is left then, for people. */
async function clearLeftovers(connection: ApiConnection, options: MigrateOptions, print: Print): Promise<string[]> {
  const leftovers = await findLeftovers(connection);
  if (options.removeLeftovers !== true) return describeLeftovers(leftovers);
  await removeLeftovers(connection, leftovers, (what) => print(`deleted ${what}`));
  return describeLeftovers({ ...leftovers, others: [] });
}

const ROLES: Readonly<Record<WorkloadRole, string>> = {
  'upstream-controller': "Harvester's vm-dhcp-controller",
  'upstream-webhook': "Harvester's webhook",
  'own-controller': 'vmdhcp-controller',
  'own-webhook': 'the webhook of vmdhcp',
};

function describeOutlook(
  { observed, problems, warnings, steps, losses }: MigrationOutlook,
  direction: MigrationDirection,
): string[] {
  const plan = steps.map(({ title }, index) => `  ${String(index + 1).padStart(2)}. ${title}`);
  const isBack = direction === 'back' && losses.length > 0;
  return [
    ...(observed === NOTHING_OBSERVED ? [] : describeFound(observed)).map((text) => `found: ${text}`),
    ...problems.map((problem) => `problem: ${describeProblem(problem)}`),
    ...warnings.map((warning) => `warning: ${describeProblem(warning)}`),
    ...(isBack ? losses.map((loss) => `lost: ${loss}`) : []),
    ...(plan.length > 0 ? ['plan:', ...plan] : problems.length > 0 ? [] : [nothingToDo(direction)]),
  ];
}

function nothingToDo(direction: MigrationDirection): string {
  return direction === 'forward'
    ? "nothing to do: nothing of Harvester's vm-dhcp-controller is at work"
    : 'nothing to do: nothing of vmdhcp is at work';
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

function refusalOf(problems: readonly MigrationProblem[]): string {
  return `${describeCount(problems.length, 'problem')}: nothing was changed; solve them and run the command again`;
}

function describeEnd({ observed }: MigrationOutlook, direction: MigrationDirection): string[] {
  const pools = describeCount(observed.pools.length, 'IPPool');
  return direction === 'forward'
    ? [`done: vmdhcp-controller is in charge of ${pools}; kubectl get ippools -A shows which are served (AGENTREADY)`]
    : [
        `done: Harvester's vm-dhcp-controller is in charge of ${pools}`,
        'left of vmdhcp: its chart or manifest; helm uninstall, or kubectl delete -f',
      ];
}

function toJson(
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
