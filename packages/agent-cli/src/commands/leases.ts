import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { Command } from 'commander';
import { formatLeaseTable } from '../state/lease-table.js';
import { type LeaseView, toLeaseView } from '../state/lease-view.js';
import { peekState } from '../state/state-directory.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent leases                              ask the agent on this host
  vmdhcp-agent leases --agent 127.0.0.1:9067       ... that listens elsewhere (serve --http)
  vmdhcp-agent leases --state /var/lib/vmdhcp-agent  read what an agent saved, running or not
  vmdhcp-agent leases --json | jq -r '.[] | select(.state == "bound") | .address'

Exit codes: 0 ok, 66 no state there, 69 no agent answers.
`;

interface LeasesOptions {
  readonly agent: string;
  readonly state?: string;
  readonly pool?: string;
  readonly json?: boolean;
}

/** `vmdhcp-agent leases` */
export function leasesCommand(): Command {
  return new Command('leases')
    .description('List the leases of an agent: who has which address, and until when.')
    .option('--agent <host:port>', 'the HTTP address of a running agent', '127.0.0.1:8080')
    .option('--state <dir>', 'read the state directory instead of asking an agent; expiry times lag up to 30 s')
    .option('--pool <namespace/name>', 'only this pool')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(listLeases);
}

async function listLeases({ agent, state, pool, json = false }: LeasesOptions): Promise<void> {
  const all = state === undefined ? await askAgent(agent) : await readState(state);
  const leases = all.filter((lease) => pool === undefined || lease.pool === pool);
  process.stdout.write(json ? `${JSON.stringify(leases, null, 2)}\n` : formatLeaseTable(leases));
}

async function askAgent(agent: string): Promise<LeaseView[]> {
  const url = `http://${agent}/leases`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    if (!response.ok) throw new Error(`it answers ${response.status}`);
    return (await response.json()) as LeaseView[];
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? cause.message : message;
    throw new CommandError(
      `no agent answers at ${url} (${why}); start one, or give its --agent address or --state directory`,
      ExitCode.unavailable,
    );
  }
}

async function readState(path: string): Promise<LeaseView[]> {
  const { pools, expiries, owners } = await peekState(path);
  return [...pools].flatMap(([poolName, { assignments }]) =>
    assignments.map((assignment) => {
      const expiresAtMs = expiries.get(poolName)?.get(assignment.macAddress);
      const owner = owners.get(poolName)?.get(assignment.macAddress);
      return toLeaseView({ poolName, ...assignment, ...(expiresAtMs !== undefined && { expiresAtMs }) }, owner);
    }),
  );
}
