import { Command } from 'commander';
import type { CrdsOptions } from '../actions/crds.js';
import { clusterOptions } from './cluster-options.js';

const EXAMPLES = `
Examples:
  vmdhcp-controller crds > crds.yaml
  vmdhcp-controller crds --apply
  vmdhcp-controller crds --apply --wake-on-lan
  vmdhcp-controller crds --apply --bare-metal
  vmdhcp-controller crds --apply --kubeconfig ~/.kube/config --json

Exit codes: 0 printed or applied, 1 the server refused, 66 there is no way to a cluster, 69 it does not answer.
`;

/** `vmdhcp-controller crds` */
export function crdsCommand(): Command {
  const command = new Command('crds')
    .description('Print the CustomResourceDefinitions, or apply them to a cluster.')
    .option('--apply', 'create them or bring them up to date, and wait until they are served')
    .option('--wake-on-lan', 'with that of WolConfig, which Wake-on-LAN needs')
    .option('--bare-metal', 'with those of bare-metal hosts: ClusterAgent, HostEndpoint, HostStatus and HostOperation')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES);
  for (const option of clusterOptions()) command.addOption(option);
  return command.action(async (options: CrdsOptions) => (await import('../actions/crds.js')).crds(options));
}
