/** The options of `serve` for an agent in a cluster. */
import { DEFAULT_LEASE_SECONDS, LEAST_LEASE_SECONDS } from '@vmdhcp/dhcp-agent/leadership-times';
import { AGENT_DRY_RUN_VARIABLE, AGENT_LEASE_VARIABLE, UNIFIED_GROUP } from '@vmdhcp/ippool-api/agent';
import { booleanOption } from '@vmdhcp/service-process';
import { InvalidArgumentError, Option } from 'commander';

export const clusterServeOptions = (): Option[] => [
  new Option('--kubeconfig <file>', 'kubeconfig; default: the ServiceAccount of the pod').env('KUBECONFIG'),
  new Option('--kubecontext <name>', 'context of the kubeconfig').env('KUBECONTEXT'),
  new Option('--name <name>', 'name in the log').env('VM_DHCP_AGENT_NAME'),
  new Option('--lease-seconds <seconds>', 'how long the Lease of a leader lasts, after which another replica becomes leader')
    .argParser(parseSeconds)
    .default(DEFAULT_LEASE_SECONDS),
  new Option('--lease-name <name>', 'Lease by which the replicas agree on a leader')
    .env(AGENT_LEASE_VARIABLE)
    .default(UNIFIED_GROUP),
  booleanOption(
    '--no-leader-election',
    'there is no other replica: stay leader whatever happens; the Lease is written all the same',
  ),
  booleanOption(
    '--dry-run',
    'follow the pools and report, and serve nothing: no UDP port is opened, no server address added',
  ).env(AGENT_DRY_RUN_VARIABLE),
  booleanOption('--enable-cache-dump-api', 'serve /leases; an agent on a bare host always does'),
];

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= LEAST_LEASE_SECONDS && seconds <= 3600)) {
    throw new InvalidArgumentError(`write seconds, ${LEAST_LEASE_SECONDS} to 3600.`);
  }
  return seconds;
}
