import type { Program } from '@vmdhcp/service-process';
import { auditCommand } from './commands/audit-command.js';
import { exportCommand } from './commands/export-command.js';
import { agentsCommand, eventsCommand, leasesCommand, poolsCommand } from './commands/list-commands.js';
import { captureCommand, topCommand } from './commands/traffic-commands.js';
import { whyCommand } from './commands/why-command.js';
import { pinCommand, releaseCommand, renewCommand } from './commands/write-commands.js';

/** The command line `kubectl vmdhcp`: kubectl starts the program `kubectl-vmdhcp` of the path. */
export const program: Program = {
  name: 'kubectl vmdhcp',
  description: 'Addresses of virtual machines: who has which one, who had it when, and why a virtual machine has none.',
  packageUrl: new URL('../package.json', import.meta.url),
  commands: [
    whyCommand(),
    poolsCommand(),
    leasesCommand(),
    agentsCommand(),
    eventsCommand(),
    topCommand(),
    captureCommand(),
    auditCommand(),
    pinCommand(),
    releaseCommand(),
    renewCommand(),
    exportCommand(),
  ],
  environment: {
    KUBECONFIG: 'kubeconfig, or several with colons between them, unless `--kubeconfig` names one.',
    FORCE_COLOR: 'Set: colours also where the output is not a terminal.',
    NO_COLOR: 'Set: no colours.',
    TERM: '`dumb`: no colours.',
  },
};
