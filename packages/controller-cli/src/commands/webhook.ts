import { booleanOption, CommandError, ExitCode, LOG_LEVELS, parseListenAddress } from '@vmdhcp/service-process';
import { Command, Option } from 'commander';
import type { WebhookOptions } from '../actions/run-webhook.js';
import { type ClusterNetworkOptions, clusterNetworkOptions, toClusterNetworks } from './cluster-network-options.js';
import { clusterOptions } from './cluster-options.js';

const EXAMPLES = `
Examples:
  vmdhcp-controller webhook
  vmdhcp-controller webhook --service-cidr 10.53.0.0/16 --pod-cidr 10.52.0.0/16
  vmdhcp-controller webhook --virtual-machines refuse
  vmdhcp-controller webhook --wake-on-lan --bare-metal
  vmdhcp-controller webhook --certificate-secret my-tls --inject-ca-from vm-dhcp-system/my-certificate   # cert-manager

Answers the API server's questions about IPPools, VirtualMachineNetworkConfigs and VirtualMachines: fills in what an IPPool leaves out, and
refuses what is wrong, with the remedy. Run two replicas behind a Service (manifests/vmdhcp.yaml).
Without an answer IPPools cannot be created, deleted, or changed in their spec; everything else can, and leases are not concerned.
Certificates are kept in the Secrets NAME-ca and NAME-tls, rotated without a restart; a Secret that is deleted is made anew. Both
webhook configurations NAME are registered, and repaired every ten seconds. vmdhcp-controller uninstall removes all of it.

Exit codes: 0 stopped by SIGTERM or SIGINT, 64 wrong usage, 66 there is no way to a cluster, 69 an address is in use.
`;

/** `vmdhcp-controller webhook` */
export function webhookCommand(): Command {
  const command = new Command('webhook')
    .description('Refuse what is wrong before it is stored, and fill in what is left out.')
    .addOption(
      new Option('--listen <host:port>', 'address for the API server')
        .argParser(parseListenAddress)
        .default({ host: '::', port: 8443 }, ':8443'),
    )
    .addOption(
      new Option('--http <host:port>', 'address for /healthz, /readyz and /metrics, or "off"')
        .argParser(parseListenAddress)
        .default({ host: '::', port: 8080 }, ':8080'),
    )
    .addOption(new Option('--name <name>', 'name of the Service and of both webhook configurations').default('vm-dhcp-webhook'))
    .option('--namespace <namespace>', 'namespace of the Service and the Secrets; default: POD_NAMESPACE')
    .option('--certificate-secret <name>', 'serve the certificate in this Secret, which is not written')
    .option('--inject-ca-from <namespace/name>', 'cert-manager writes what the API server trusts, from this Certificate')
    .addOption(booleanOption('--no-register', 'do not write webhook configurations'))
    .addOption(
      new Option('--virtual-machines <outcome>', 'what to do about a virtual machine that asks for what cannot be')
        .choices(['warn', 'refuse'])
        .default('warn'),
    )
    .addOption(booleanOption('--wake-on-lan', 'decide about WolConfigs too'))
    .addOption(booleanOption('--bare-metal', 'decide about ClusterAgents, HostEndpoints and HostOperations too'))
    .addOption(new Option('--log-level <level>', 'how much to log').choices(LOG_LEVELS).default('info'))
    .addHelpText('after', EXAMPLES);
  for (const option of [...clusterNetworkOptions(), ...clusterOptions()]) command.addOption(option);
  return command.action(async (options: Omit<WebhookOptions, 'clusterNetworks'> & ClusterNetworkOptions) => {
    assertUsage(options);
    const { runWebhook } = await import('../actions/run-webhook.js');
    await runWebhook({ ...options, clusterNetworks: toClusterNetworks(options) });
  });
}

/** @throws CommandError if options contradict each other. */
function assertUsage({ listen, certificateSecret, injectCaFrom, register }: Omit<WebhookOptions, 'clusterNetworks'>): void {
  if ((listen as unknown) === 'off') throw new CommandError('--listen: a webhook has to listen; write HOST:PORT', ExitCode.usage);
  if (certificateSecret !== undefined && injectCaFrom === undefined && register) {
    const message =
      'with --certificate-secret the API server must learn what to trust: give --inject-ca-from, or register the webhook yourself and give --no-register';
    throw new CommandError(message, ExitCode.usage);
  }
  if (injectCaFrom !== undefined && certificateSecret === undefined)
    throw new CommandError('--inject-ca-from needs the Secret of that Certificate: --certificate-secret', ExitCode.usage);
}
