import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { peekBindings } from '../bindings/peek-bindings.js';
import { viewsOf } from '../bindings/views-of.js';
import { formatLeaseTable } from '../state/lease-table.js';
import { type LeaseView, toLeaseView } from '../state/lease-view.js';
import { peekState } from '../state/state-directory.js';

export interface LeasesOptions {
  readonly agent: string;
  readonly state?: string;
  readonly pool?: string;
  readonly json?: boolean;
}

/** Prints the leases of a running agent, or those that one saved. */
export async function listLeases({ agent, state, pool, json = false }: LeasesOptions): Promise<void> {
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
  const tables = await peekBindings(path);
  const dynamic = [...tables].flatMap(([poolName, table]) => [...viewsOf(poolName, table.bindings(), Date.now())]);
  const assigned = [...pools].flatMap(([poolName, { assignments }]) =>
    assignments.map((assignment) => {
      const expiresAtMs = expiries.get(poolName)?.get(assignment.macAddress);
      const owner = owners.get(poolName)?.get(assignment.macAddress);
      return toLeaseView({ poolName, ...assignment, ...(expiresAtMs !== undefined && { expiresAtMs }) }, owner);
    }),
  );
  return [...assigned, ...dynamic];
}
