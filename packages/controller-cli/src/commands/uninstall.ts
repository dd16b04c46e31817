import { Command } from 'commander';
import type { UninstallOptions } from '../actions/uninstall.js';
import { clusterOptions } from './cluster-options.js';
import { parseSeconds } from './parse-seconds.js';

const EXAMPLES = `
Examples:
  vmdhcp-controller uninstall --dry-run
  vmdhcp-controller uninstall
  vmdhcp-controller uninstall --delete-data --kubeconfig ~/.kube/config
  vmdhcp-controller uninstall --dry-run --json | jq .steps

Removes, in this order: the registration of the webhook and its Secrets; the agents' Deployments, the DaemonSets of Wake-on-LAN, and their pods; their Leases, Roles, RoleBindings and ServiceAccounts;
ConfigMaps with MAC addresses, and Secrets with certificates of Wake-on-LAN; the finalizers of IPPools and VirtualMachineNetworkConfigs, and the labels ippool-namespace and ippool-name of NetworkAttachmentDefinitions.
Keeps IPPools, VirtualMachineNetworkConfigs, WolConfigs, ClusterAgents, hosts with their leases, and the definitions of all these, so that a successor assigns each virtual machine
and each host the address that it has, and the ConfigMaps with records of who had which address; --delete-data deletes them too. It leaves WolConfigs and the kinds of bare-metal hosts whose
definition neither a controller nor the chart applied: they are those of kubevirt-wol or spidernet-io/bmc.
LeaseSlices, which have leases of hosts, and the records of who had which address are in the namespace of the agents: save them before you delete it, as helm uninstall does.
It needs the rights of an administrator. Stop the controller first. You can run it again at any time.
It does not delete what a manifest or a chart installed: kubectl delete -f manifests/vmdhcp.yaml, or helm uninstall. Agents that
they installed (topology unified) have to be deleted first: kubectl delete -f manifests/vmdhcp-unified.yaml.

Exit codes: 0 removed, or nothing was there; 1 a controller or such agents run, the API server refused, or an object is not deleted in time;
64 wrong usage, 66 there is no way to a cluster, 69 it does not answer.
`;

/** `vmdhcp-controller uninstall` */
export function uninstallCommand(): Command {
  const command = new Command('uninstall')
    .description('Remove everything that the controller put into a cluster.')
    .option('--dry-run', 'list what would be removed, and remove nothing')
    .option(
      '--delete-data',
      'delete IPPools, VirtualMachineNetworkConfigs, WolConfigs, ClusterAgents, hosts, their definitions and the records of who had which address too',
    )
    .option(
      '--force',
      'do not check whether a controller works, which would make everything again, or agents that a manifest installed',
    )
    .option('--timeout <seconds>', 'how long to wait until pods and other objects are deleted', parseSeconds, 120)
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES);
  for (const option of clusterOptions()) command.addOption(option);
  return command.action(async (options: UninstallOptions) => (await import('../actions/uninstall.js')).uninstall(options));
}
