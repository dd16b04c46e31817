import { OUTPUT_FORMATS } from '@vmdhcp/admission/output-formats';
import { type Ipv4Address, type Ipv4Cidr, parseIpv4Address, parseIpv4Cidr } from '@vmdhcp/dhcp-allocator/address';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { CheckOptions } from '../actions/check.js';

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
  return (
    new Command('check')
      .description('List every problem of manifest files, without a cluster.')
      .requiredOption('-f, --filename <path...>', 'files, folders (with their folders), or - for the standard input')
      .addOption(new Option('-o, --output <format>', 'how to print it').choices(OUTPUT_FORMATS).default('text'))
      .option('-n, --namespace <namespace>', 'namespace of objects that name none', 'default')
      .addOption(
        networkOption('--service-cidr <cidr>', 'a network of Services, which no pool may overlap; may be given several times'),
      )
      .addOption(networkOption('--pod-cidr <cidr>', 'a network of pods, which no pool may overlap; may be given several times'))
      .addOption(
        new Option(
          '--api-server-address <address>',
          'an address of the API server, which no client may get; may be given several times',
        )
          .argParser(collect(parseAddress))
          .default([], 'none'),
      )
      // Its name in earlier versions.
      .addOption(new Option('--api-server <address>').argParser(collect(parseAddress)).default([]).hideHelp())
      .addHelpText('after', EXAMPLES)
      .action(async (options: CheckOptions) => (await import('../actions/check.js')).check(options))
  );
}

function networkOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser(collect(parseCidr)).default([], 'none');
}

function collect<Value>(parse: (text: string) => Value): (text: string, before: unknown) => Value[] {
  return (text, before) => [...(Array.isArray(before) ? (before as Value[]) : []), parse(text)];
}

function parseCidr(text: string): Ipv4Cidr {
  const cidr = parseIpv4Cidr(text);
  if (cidr === undefined) throw new InvalidArgumentError('write address/prefix length, as in 10.53.0.0/16.');
  return cidr;
}

function parseAddress(text: string): Ipv4Address {
  const address = parseIpv4Address(text);
  if (address === undefined) throw new InvalidArgumentError('write an IPv4 address, as in 192.168.48.10.');
  return address;
}
