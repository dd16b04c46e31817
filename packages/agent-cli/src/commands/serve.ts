import {
  booleanOption,
  CommandError,
  ExitCode,
  type ListenAddress,
  LOG_LEVELS,
  type LogLevel,
  parseListenAddress,
} from '@vmdhcp/service-process';
import { Command, Option } from 'commander';
import type { ClusterServeOptions } from '../actions/serve-cluster.js';
import { type BareHostPageOptions, bareHostPageOptions, toBareHostPage } from './bare-host-page-options.js';
import { clusterServeOptions } from './cluster-serve-options.js';
import { collectInterface } from './collect-interface.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent serve
  vmdhcp-agent serve --pools pools.yaml --interface net-48=eth1 --state /var/lib/vmdhcp-agent
  vmdhcp-agent serve --pools pools.yaml --interface default/net-48=br48 --interface default/net-49=br49 --configure-interfaces
  vmdhcp-agent check pools.yaml && vmdhcp-agent serve --pools pools.yaml --interface net-48=eth1 --log-level debug

Without --pools it is an agent in a cluster: the controller sets in AGENT_NETWORK_CONFIGS which pools are on which interfaces,
the replicas agree on a leader by a Lease in POD_NAMESPACE (AGENT_LEASE_NAME), and the leader has the server addresses.

With --pools it serves a bare host. The file holds IPPool and VirtualMachineNetworkConfig objects, as in a cluster. It is watched: a change takes effect
within a second, and a file with problems is refused while the old one stays in force. A client gets an answer only if a
VirtualMachineNetworkConfig or a reservation names its MAC address, or if the pool is open: spec.ipv4Config.dynamic has ranges
for unknown clients. A pool without --interface is logged and not served.

Needs CAP_NET_BIND_SERVICE and CAP_NET_RAW; in a cluster and with --configure-interfaces CAP_NET_ADMIN too.

Exit codes: 0 stopped by SIGTERM or SIGINT, 64 wrong usage, 65 the file has problems, 66 it cannot be read,
69 the HTTP address is in use, 73 the state directory cannot be used.
`;

interface ServeOptions extends ClusterServeOptions, BareHostPageOptions {
  readonly pools?: string;
  readonly interface?: ReadonlyMap<string, readonly string[]>;
  readonly state: string;
  readonly http: ListenAddress | 'off';
  readonly configureInterfaces?: boolean;
  readonly logLevel: LogLevel;
  readonly logPackets?: boolean;
}

/** `vmdhcp-agent serve` */
export function serveCommand(): Command {
  const command = new Command('serve')
    .description('Serve the pools of a cluster, or those of a file, on interfaces of this host.')
    .option('--pools <file>', 'YAML file of IPPool and VirtualMachineNetworkConfig objects: serve a bare host')
    .addOption(
      new Option('--interface <pool=iface>', 'serve this pool on this interface; give it once for each pool').argParser(
        collectInterface,
      ),
    )
    .option('--state <dir>', 'where leases are kept', '/var/lib/vmdhcp-agent')
    .addOption(
      new Option(
        '--http <host:port>',
        'address for /healthz, /readyz, /metrics and /leases, or "off"; in a cluster only on the interface that has it',
      )
        .argParser(parseListenAddress)
        .default({ host: '127.0.0.1', port: 8080 }, '127.0.0.1:8080'),
    )
    .option(
      '--configure-interfaces',
      'add the server address of each pool to its interface while the agent runs; addresses that are there already are not changed',
    )
    .addOption(new Option('--log-level <level>', 'how much to log').choices(LOG_LEVELS).default('info'))
    .addOption(
      booleanOption('--log-packets', 'log whole packets, decoded option by option, 200 at once and 50 a second for each pool'),
    )
    .addHelpText('after', EXAMPLES);
  for (const option of [...bareHostPageOptions(), ...clusterServeOptions()]) command.addOption(option);
  return command.action(serve);
}

async function serve({ pools, interface: interfaces, ...options }: ServeOptions): Promise<void> {
  if (pools === undefined) {
    if (interfaces !== undefined) throw new CommandError('--interface needs --pools FILE', ExitCode.usage);
    if (options.ui === true)
      throw new CommandError('--ui needs --pools FILE; in a cluster the controller serves the page', ExitCode.usage);
    const { serveCluster } = await import('../actions/serve-cluster.js');
    await serveCluster(options);
  } else if (options.dryRun) {
    throw new CommandError(
      `--dry-run is for agents in a cluster; look at a file with vmdhcp-agent check ${pools}`,
      ExitCode.usage,
    );
  } else if (interfaces === undefined) {
    throw new CommandError('--pools needs --interface POOL=INTERFACE for each pool', ExitCode.usage);
  } else {
    const { serveBareHost } = await import('../actions/serve-bare-host.js');
    await serveBareHost({ ...options, pools, interface: interfaces, page: toBareHostPage(options) });
  }
}
