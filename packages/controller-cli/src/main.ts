import { runProgram } from '@vmdhcp/service-process';
import { crdsCommand } from './commands/crds.js';
import { runCommand } from './commands/run.js';
import { uninstallCommand } from './commands/uninstall.js';

/** Runs the command line; sets the exit code of the process. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = {
    name: 'vmdhcp-controller',
    description: 'Addresses for the virtual machines of a Kubernetes cluster.',
    packageUrl: new URL('../package.json', import.meta.url),
    commands: [runCommand(), crdsCommand(), uninstallCommand()],
  };
  await runProgram(program, argv);
}
