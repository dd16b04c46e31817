import type { WriteRefusal, WriteResult } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import type { ReaderOptions } from './inspect-options.js';

export interface WriteOptions extends ReaderOptions {
  readonly dryRun?: boolean;
}

const REMEDIES: Partial<Readonly<Record<WriteRefusal, string>>> = {
  conflict: 'it has changed meanwhile; run the command again',
  forbidden: 'ask for this right',
};

/** Prints what is done, and does it unless this is a dry run. @throws CommandError where the API server refuses. */
export async function writeObject(
  what: string,
  { dryRun = false }: WriteOptions,
  write: () => Promise<WriteResult<unknown>>,
): Promise<void> {
  if (dryRun) {
    process.stdout.write(`would ${what}\n`);
    return;
  }
  const result = await write();
  if (result.ok) process.stdout.write(`done: ${what}\n`);
  else {
    const remedy = REMEDIES[result.reason];
    const code = result.reason === 'forbidden' ? ExitCode.noPermission : ExitCode.failed;
    throw new CommandError(remedy === undefined ? result.message : `${result.message}; ${remedy}`, code);
  }
}
