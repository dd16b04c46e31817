import { type ClusterOptions, connect, failedRequest } from '@vmdhcp/controller-process';
import type { MigrationDirection } from '@vmdhcp/controller-process/migration';
import {
  describeLeftovers,
  findLeftovers,
  Migration,
  type MigrationOutlook,
  readPatiently,
  removeLeftovers,
} from '@vmdhcp/controller-process/migration';
import { keyOf } from '@vmdhcp/kube-runtime';
import { type ApiConnection, ApiRequestError, errorForLog } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode, printableJson } from '@vmdhcp/service-process';
import { describeEnd, describeOutlook, migrationRefusal, toJson } from './describe-migration.js';

export interface MigrateOptions extends ClusterOptions {
  readonly dryRun?: boolean;
  readonly back?: boolean;
  readonly backup: string;
  readonly removeLeftovers?: boolean;
  readonly output: 'text' | 'json';
  readonly timeout: number;
}

/** Moves a cluster from Harvester's vm-dhcp-controller to this one, or back. @throws CommandError if that cannot be done. */
export async function migrate(options: MigrateOptions): Promise<void> {
  if (options.back === true && options.removeLeftovers === true)
    throw new CommandError('--remove-leftovers deletes what --back needs; use one of them', ExitCode.usage);
  const connection = await connect(options);
  try {
    await migrateCluster(connection, options);
  } catch (error) {
    if (!(error instanceof ApiRequestError)) throw error;
    throw failedRequest(error, String(errorForLog(error)));
  } finally {
    connection.close();
  }
}

type Print = (text: string) => void;

async function migrateCluster(connection: ApiConnection, options: MigrateOptions): Promise<void> {
  const direction: MigrationDirection = options.back === true ? 'back' : 'forward';
  const dryRun = options.dryRun === true;
  // A program reads one document; a person reads the progress.
  const print: Print = (text) => void (options.output === 'json' ? process.stderr : process.stdout).write(`${text}\n`);
  const migration = new Migration(connection, {
    direction,
    backupPath: options.backup,
    timeoutMs: options.timeout * 1000,
    onStep: ({ title }, { number, of }) => print(`${number}/${of} ${title}`),
    onProgress: (text) => print(`    ${text}`),
  });
  const outlook = await migration.look();
  printAll(print, describeOutlook(outlook, { direction, dryRun }));
  const isRefused = outlook.problems.length > 0;
  if (!isRefused) printAll(print, await previewLeftovers(connection, options));
  const done = !isRefused && !dryRun;
  const leftovers = done ? await carryOut(migration, outlook, { connection, options, print }) : [];
  if (options.output === 'json')
    process.stdout.write(`${printableJson(toJson(outlook, { direction, dryRun, done, leftovers }))}\n`);
  if (isRefused) throw new CommandError(migrationRefusal(outlook.problems), ExitCode.failed);
}

/** @returns what is left afterwards, for people. */
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

/** @returns what `--remove-leftovers` would delete after everything has moved, for people. */
async function previewLeftovers(connection: ApiConnection, options: MigrateOptions): Promise<string[]> {
  if (options.removeLeftovers !== true) return [];
  const { others } = await readPatiently(() => findLeftovers(connection));
  return others.map(({ object }) => `then delete ${object.kind} ${keyOf(object)}`);
}

function printAll(print: Print, lines: readonly string[]): void {
  for (const line of lines) print(line);
}

/** @returns what is left afterwards, for people. */
async function clearLeftovers(connection: ApiConnection, options: MigrateOptions, print: Print): Promise<string[]> {
  const leftovers = await readPatiently(() => findLeftovers(connection));
  if (options.removeLeftovers !== true) return describeLeftovers(leftovers);
  await removeLeftovers(connection, leftovers, (what) => print(`deleted ${what}`));
  return describeLeftovers({ ...leftovers, others: [] });
}
