import type { ReaderOptions } from '@vmdhcp/explain/observe';
import type { WriteRefusal, WriteResult } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { type DataFormat, printData } from '../output/print-data.js';

export interface WriteOptions extends ReaderOptions {
  readonly dryRun?: boolean;
  readonly output: 'text' | 'name' | DataFormat;
}

/** The change to write. */
export interface PlannedWrite {
  /** `set annotation ...`: the change in words. */
  readonly what: string;
  /** In the form of `kubectl get -o name`: `virtualmachine.kubevirt.io/web`. */
  readonly object: string;
  readonly namespace: string;
}

/** The result. */
type Result = 'done' | 'dry-run' | 'nothing-to-do';

const REMEDIES: Partial<Readonly<Record<WriteRefusal, string>>> = {
  conflict: 'it has changed meanwhile; run the command again',
  forbidden: 'ask for this right',
};
const WORDS: Readonly<Record<Result, string>> = { done: 'done: ', 'dry-run': 'would ', 'nothing-to-do': 'nothing to do: ' };

/** Prints the change, and applies it unless this is a dry run. @throws CommandError if the API server refuses. */
export async function writeObject(
  planned: PlannedWrite,
  options: WriteOptions,
  write: () => Promise<WriteResult<unknown>>,
): Promise<void> {
  if (options.dryRun) return await printResult('dry-run', planned, options);
  const result = await write();
  if (result.ok) return await printResult('done', planned, options);
  const remedy = REMEDIES[result.reason];
  const code = result.reason === 'forbidden' ? ExitCode.noPermission : ExitCode.failed;
  throw new CommandError(remedy === undefined ? result.message : `${result.message}; ${remedy}`, code);
}

/** `name` prints only written objects. */
export async function printResult(
  result: Result,
  { what, ...of }: Partial<PlannedWrite>,
  { output }: WriteOptions,
): Promise<void> {
  if (output === 'json' || output === 'yaml') return await printData(output, { result, message: what, ...of });
  if (output === 'text') process.stdout.write(`${WORDS[result]}${what}\n`);
  else if (result !== 'nothing-to-do') process.stdout.write(`${of.object}\n`);
}
