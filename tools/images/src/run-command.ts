import { execFile } from 'node:child_process';
import { CommandError, ExitCode } from '@vmdhcp/service-process';

const LARGEST_OUTPUT = 256 * 1024 * 1024;

export interface CommandSettings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The standard output of a program. @throws CommandError that has what the program printed, and where to get a program that is not there. */
export async function runCommand(
  [program = '', ...parameters]: readonly string[],
  { cwd, env }: CommandSettings = {},
): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const settings = { cwd, env: { ...process.env, ...env }, encoding: 'buffer' as const, maxBuffer: LARGEST_OUTPUT };
    execFile(program, parameters, settings, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else
        reject(new CommandError(describeFailure(program, parameters, { error, stderr }), ExitCode.unavailable, { cause: error }));
    });
  });
}

function describeFailure(
  program: string,
  parameters: readonly string[],
  { error, stderr }: { readonly error: Error; readonly stderr: Buffer },
): string {
  if ('code' in error && error.code === 'ENOENT') return `${program} is not installed; images are built on Debian or Ubuntu`;
  return `${program} ${parameters.join(' ')} failed:\n${stderr.toString('utf8').trim() || error.message}`;
}
