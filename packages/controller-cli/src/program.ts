import type { Program } from '@vmdhcp/service-process';
import { checkCommand } from './commands/check.js';
import { crdsCommand } from './commands/crds.js';
import { migrateCommand } from './commands/migrate.js';
import { readyCommand } from './commands/ready.js';
import { runCommand } from './commands/run.js';
import { uninstallCommand } from './commands/uninstall.js';
import { webhookCommand } from './commands/webhook.js';

/** The command line `vmdhcp-controller`. */
export const program: Program = {
  name: 'vmdhcp-controller',
  description: 'Addresses for the virtual machines of a Kubernetes cluster.',
  packageUrl: new URL('../package.json', import.meta.url),
  commands: [runCommand(), checkCommand(), crdsCommand(), migrateCommand(), uninstallCommand(), webhookCommand(), readyCommand()],
  environment: {
    POD_NAMESPACE: 'Namespace of the agents, or of the webhook, unless `--namespace` names one; default: harvester-system.',
    VM_DHCP_CONTROLLER_DEBUG: '`true`: the same as `--log-level debug`.',
    VM_DHCP_CONTROLLER_TRACE: '`true`: the same as `--log-level trace`.',
    CATTLE_ELECTION_LEASE_DURATION: 'How long the Lease of the leader lasts, as in `15s`; default: 15s.',
    CATTLE_ELECTION_RENEW_DEADLINE: 'How long a leader that cannot renew the Lease stays leader; default: 10s.',
    CATTLE_ELECTION_RETRY_PERIOD: 'How often the Lease is renewed, and its renewal looked for; default: 2s.',
    CATTLE_DEV_MODE: 'Set: the Lease lasts 45 hours, so that a controller that a debugger stops stays leader.',
    KUBERNETES_SERVICE_HOST: 'Kubernetes sets it in each pod: the address of the API server.',
    KUBERNETES_SERVICE_PORT: 'Kubernetes sets it in each pod: the TCP port of the API server.',
  },
};
