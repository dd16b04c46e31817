import { Command, CommanderError } from 'commander';
import { CommandError, ExitCode } from './exit-code.js';
import { packageVersion } from './package-version.js';
import { printableText } from './printable-text.js';

/** For output that another program reads slowly. */
const LONGEST_END_MS = 5_000;

/** A command line: its commands, and the variables that it reads. */
export interface Program {
  readonly name: string;
  readonly description: string;
  /** The URL of the package.json whose version `--version` prints. */
  readonly packageUrl: URL;
  readonly commands: readonly Command[];
  /** Environment variables that it reads, besides those of options, with their meaning. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Runs a command line, and sets the exit code of the process. It prints one sentence for an error, and a stack only for a bug. */
export async function runProgram({ name, description, packageUrl, commands }: Program, argv: readonly string[]): Promise<void> {
  const program = new Command(name)
    .description(description)
    .version(packageVersion(packageUrl))
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', `\nEvery command has examples: ${name} ${commands[0]?.name() ?? ''} --help\n`);
  for (const command of commands) program.addCommand(command.copyInheritedSettings(program));
  // `... | head`: the reader has read enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(ExitCode.ok);
    process.stderr.write(`${name}: the output cannot be written: ${error.message}\n`);
    process.exit(ExitCode.cannotCreate);
  });
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(name, error);
    // What the command has begun must not keep its process alive: a service manager would wait for the end of it.
    setTimeout(() => process.exit(), LONGEST_END_MS).unref();
  }
}

/** Aborts when the process receives one of these signals; a second one of the same kind ends it at once, but not SIGHUP: shell and kernel send one each. */
export function stopSignal(signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT']): AbortSignal {
  const asked = new AbortController();
  for (const signal of signals) process[signal === 'SIGHUP' ? 'on' : 'once'](signal, () => asked.abort());
  return asked.signal;
}

function report(name: string, error: unknown): number {
  // Commander has printed the error already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
  if (error instanceof CommandError) {
    // The message may contain text of another program or server.
    process.stderr.write(`${name}: ${printableText(error.message)}\n`);
    return error.exitCode;
  }
  process.stderr.write(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return ExitCode.failed;
}
