import { OUTPUT_FORMATS } from '@vmdhcp/admission/output-formats';
import type { Ipv4Address } from '@vmdhcp/dhcp-allocator/address';
import { Command, Option } from 'commander';
import type { CheckOptions } from '../actions/check.js';
import {
  addressOption,
  type ClusterNetworkOptions,
  clusterNetworkOptions,
  toClusterNetworks,
} from './cluster-network-options.js';

const EXAMPLES = `
Examples:
  vmdhcp-controller check -f pools.yaml
  vmdhcp-controller check -f manifests/ -f vm.yaml --service-cidr 10.53.0.0/16 --pod-cidr 10.52.0.0/16
  vmdhcp-controller check -f wol-configs.yaml
  vmdhcp-controller check -f examples/cluster/bare-metal.yaml
  kustomize build . | vmdhcp-controller check -f -
  kubectl get ippool,vmnetcfg,vm,net-attach-def -A -o yaml | vmdhcp-controller check -f - --output json
  npx vmdhcp-controller check -f . --output github    # annotations in a pull request
  npx vmdhcp-controller check -f . --output sarif > vmdhcp.sarif

Checks IPPools, VirtualMachineNetworkConfigs, VirtualMachines, NetworkAttachmentDefinitions, WolConfigs, and ClusterAgents, HostEndpoints and HostOperations by the rules of the admission webhook, without
a cluster: each by itself, and together, as if a cluster had only these objects. Objects of other kinds are ignored. Fields that the
webhook fills in may be omitted.

It also reports as problems: an unknown field that looks like a misspelling, because the intended setting would be missing; an object that appears
twice; and requests of a virtual machine that cannot be fulfilled. A network or a pool that the files lack is a warning: the cluster may have it.
For bare-metal hosts it finds addresses that do not fit, ClusterAgents that have the same addresses on one network, and addresses of two HostEndpoints.
For WolConfigs it finds what the controller would report in the condition Ready, and mappings that allow nothing (warnings).

Exit codes: 0 no problems, 65 problems, 66 a file cannot be read, 64 wrong usage. Warnings do not change the exit code.
`;

/** `vmdhcp-controller check` */
export function checkCommand(): Command {
  const command = new Command('check')
    .description('List every problem of manifest files, without a cluster.')
    .requiredOption('-f, --filename <path...>', 'files, folders (with their folders), or - for the standard input')
    .addOption(new Option('-o, --output <format>', 'how to print it').choices(OUTPUT_FORMATS).default('text'))
    .option('-n, --namespace <namespace>', 'namespace of objects that name none', 'default')
    // Its name in earlier versions.
    .addOption(addressOption('--api-server <address>').hideHelp())
    .addHelpText('after', EXAMPLES);
  for (const option of clusterNetworkOptions()) command.addOption(option);
  return command.action(
    async (options: Omit<CheckOptions, 'clusterNetworks'> & ClusterNetworkOptions & { apiServer: readonly Ipv4Address[] }) => {
      const { apiServers, ...cidrs } = toClusterNetworks(options);
      const clusterNetworks = { ...cidrs, apiServers: [...apiServers, ...options.apiServer] };
      await (await import('../actions/check.js')).check({ ...options, clusterNetworks });
    },
  );
}
