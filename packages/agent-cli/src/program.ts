import { AGENT_NETWORK_CONFIGS_VARIABLE } from '@vmdhcp/ippool-api/agent';
import type { Program } from '@vmdhcp/service-process';
import { bindCommand, unbindCommand } from './commands/bind.js';
import { captureCommand } from './commands/capture.js';
import { checkCommand } from './commands/check.js';
import { clientsCommand } from './commands/clients.js';
import { exportCommand } from './commands/export.js';
import { hostsCommand } from './commands/hosts.js';
import { importCommand } from './commands/import.js';
import { leasesCommand } from './commands/leases.js';
import { probeCommand } from './commands/probe.js';
import { releaseCommand } from './commands/release.js';
import { serveCommand } from './commands/serve.js';
import { wakeCommand } from './commands/wake.js';
import { wolCommand } from './commands/wol.js';

/** The command line `vmdhcp-agent`. */
export const program: Program = {
  name: 'vmdhcp-agent',
  description: 'A DHCPv4 server for virtual machines and bare-metal hosts, in a cluster or on a bare host.',
  packageUrl: new URL('../package.json', import.meta.url),
  commands: [
    serveCommand(),
    checkCommand(),
    leasesCommand(),
    clientsCommand(),
    captureCommand(),
    probeCommand(),
    wakeCommand(),
    wolCommand(),
    hostsCommand(),
    bindCommand(),
    unbindCommand(),
    releaseCommand(),
    importCommand(),
    exportCommand(),
  ],
  environment: {
    [AGENT_NETWORK_CONFIGS_VARIABLE]:
      'JSON: the pools of the agent, and the interface and server address of each. The controller sets it in the Deployment.',
    POD_IP: 'Address of the pod. The status server listens on the interface that has it.',
    POD_NAME: 'Name of the pod, in the Lease as part of the holder; default: the host name.',
    POD_NAMESPACE: 'Namespace of the Lease; default: that of the ServiceAccount or of the context of the kubeconfig.',
    KUBERNETES_SERVICE_HOST: 'Kubernetes sets it in each pod: the address of the API server.',
    KUBERNETES_SERVICE_PORT: 'Kubernetes sets it in each pod: the TCP port of the API server.',
    NODE_OPTIONS: 'Options of Node. If it is set, the agent does not add those with which `serve` needs less memory.',
  },
};
