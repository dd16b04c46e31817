import type { LeaseView } from '@vmdhcp/lease-stores';
import { formatLeaseTable } from '@vmdhcp/lease-stores';
import { CommandError, ExitCode, printableJson, printableText } from '@vmdhcp/service-process';
import { readSavedLeases } from './read-saved-leases.js';

export interface PrintLeasesOptions {
  readonly agent: string;
  readonly state?: string;
  readonly pool?: string;
  readonly json?: boolean;
}

/** Prints the leases of a running agent, or those that one saved. */
export async function printLeases({ agent, state, pool, json = false }: PrintLeasesOptions): Promise<void> {
  const all = state === undefined ? await askAgent(agent) : await readSavedLeases(state);
  const leases = all.filter((lease) => pool === undefined || lease.pool === pool);
  process.stdout.write(json ? `${printableJson(leases, 2)}\n` : printableText(formatLeaseTable(leases)));
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
