import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { checkCommand } from './commands/check.js';
import { leasesCommand } from './commands/leases.js';
import { probeCommand } from './commands/probe.js';
import { serveCommand } from './commands/serve.js';
import { CommandError, ExitCode } from './exit-code.js';

/** Runs the command line; sets the exit code of the process. */
export async function main(argv: readonly string[]): Promise<void> {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  const program = new Command('vmdhcp-agent')
    .description('A DHCPv4 server for virtual machines: serves IPPools on real interfaces.')
    .version(version)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', `\nEvery command has examples: vmdhcp-agent serve --help\n`);
  for (const command of [serveCommand(), checkCommand(), leasesCommand(), probeCommand()]) {
    program.addCommand(command.copyInheritedSettings(program));
  }
  // `vmdhcp-agent leases | head`: who reads has read enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(ExitCode.ok);
    throw error;
  });
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = report(error);
  }
}

function report(error: unknown): number {
  // Commander has said what is wrong already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
  if (error instanceof CommandError) {
    process.stderr.write(`vmdhcp-agent: ${error.message}\n`);
    return error.exitCode;
  }
  process.stderr.write(`vmdhcp-agent: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return ExitCode.failed;
}
