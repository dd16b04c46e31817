import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { CommandError, ExitCode } from './exit-code.js';
import { printableText } from './printable-text.js';

export interface Program {
  readonly name: string;
  readonly description: string;
  /** Of the package.json whose version `--version` prints. */
  readonly packageUrl: URL;
  readonly commands: readonly Command[];
  /** Environment variables that it reads, besides those of options; what each means. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Runs a command line; sets the exit code of the process. What goes wrong is one sentence, and only a bug is a stack. */
export async function runProgram({ name, description, packageUrl, commands }: Program, argv: readonly string[]): Promise<void> {
  const { version } = JSON.parse(readFileSync(packageUrl, 'utf8')) as { version: string };
  const program = new Command(name)
    .description(description)
    .version(version)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', `\nEvery command has examples: ${name} ${commands[0]?.name() ?? ''} --help\n`);
  for (const command of commands) program.addCommand(command.copyInheritedSettings(program));
  // `... | head`: who reads has read enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(ExitCode.ok);
    throw error;
  });
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(name, error);
  }
}

/** Aborts when the process is asked to end; a second time ends it at once. */
export function stopSignal(): AbortSignal {
  const asked = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => asked.abort());
  return asked.signal;
}

function report(name: string, error: unknown): number {
  // Commander has printed the error already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
  if (error instanceof CommandError) {
    // It may have what another program or a server wrote.
    process.stderr.write(`${name}: ${printableText(error.message)}\n`);
    return error.exitCode;
  }
  process.stderr.write(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return ExitCode.failed;
}
