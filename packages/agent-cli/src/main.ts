import { runProgram } from '@vmdhcp/service-process';
import { checkCommand } from './commands/check.js';
import { leasesCommand } from './commands/leases.js';
import { probeCommand } from './commands/probe.js';
import { serveCommand } from './commands/serve.js';

/** Runs the command line; sets the exit code of the process. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = {
    name: 'vmdhcp-agent',
    description: 'A DHCPv4 server for virtual machines: serves IPPools on real interfaces.',
    packageUrl: new URL('../package.json', import.meta.url),
    commands: [serveCommand(), checkCommand(), leasesCommand(), probeCommand()],
  };
  await runProgram(program, argv);
}
