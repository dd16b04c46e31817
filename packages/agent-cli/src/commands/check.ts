import { formatIpv4Address, formatIpv4Cidr, formatIpv4Range } from '@vmdhcp/dhcp-allocator';
import { describeCount } from '@vmdhcp/kube-runtime';
import { NOTHING_RECORDED, planAssignments } from '@vmdhcp/reconciler/plan-assignments';
import { ExitCode } from '@vmdhcp/service-process';
import { Command } from 'commander';
import { findRefusedClaims } from '../pools-file/find-refused-claims.js';
import { describeFinding, type Finding } from '../pools-file/finding.js';
import { loadPoolsFile } from '../pools-file/load-pools-file.js';
import type { PoolsFile } from '../pools-file/parse-pools-file.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent check pools.yaml
  vmdhcp-agent check pools.yaml --json | jq '.problems[].message'

Every problem is printed, with line and column. Problems are also: an unknown field that looks like a misspelling of a known one, as the
setting that was meant would be left out; and a claim that cannot be met (a MAC address or an IP address that two claim, an address
outside the pool, a pool that is too small). "serve" starts with claims that cannot be met, logs them, and serves the others.

Other unknown fields are warnings, as files may come from a cluster of another version, and so is a network without a pool.

Exit codes: 0 the file can be served and every claim can be met, 65 it has problems, 66 it cannot be read.
Warnings do not change the exit code.
`;

/** `vmdhcp-agent check FILE` */
export function checkCommand(): Command {
  return new Command('check')
    .description('List every problem of a pools file, or what would be served.')
    .argument('<file>', 'YAML file of IPPool and VirtualMachineNetworkConfig objects')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', EXAMPLES)
    .action(check);
}

async function check(path: string, { json = false }: { readonly json?: boolean }): Promise<void> {
  const result = await loadPoolsFile(path);
  const pools = result.ok ? summarize(result.file) : [];
  const refused = findRefusedClaims(result.ok ? result.file : result.rest);
  const problems = [...(result.ok ? [] : result.problems), ...refused];
  const ok = problems.length === 0;
  if (json) {
    process.stdout.write(`${JSON.stringify({ ok, problems, warnings: result.warnings, pools }, null, 2)}\n`);
  } else {
    print(path, 'problem', problems);
    print(path, 'warning', result.warnings);
    for (const pool of pools) process.stdout.write(describePool(pool));
  }
  if (!ok) process.exitCode = result.missing ? ExitCode.noInput : ExitCode.invalidData;
}

function print(path: string, kind: string, findings: readonly Finding[]): void {
  for (const finding of findings) process.stderr.write(`${kind}: ${describeFinding(path, finding)}\n`);
}

interface PoolSummary {
  readonly pool: string;
  readonly paused: boolean;
  readonly cidr: string;
  readonly range: string;
  readonly server: string;
  readonly size: number;
  /** How many claims can be met, if nothing is assigned yet. */
  readonly clients: number;
}

function summarize({ pools }: PoolsFile): PoolSummary[] {
  return [...pools].map(([name, { pool, paused, claims }]) => {
    const { assignments, counts } = planAssignments(pool, claims, { recorded: NOTHING_RECORDED, nowMs: 0 });
    return {
      pool: name,
      paused,
      cidr: formatIpv4Cidr(pool.cidr),
      range: formatIpv4Range(pool.range),
      server: formatIpv4Address(pool.serverAddress),
      size: counts.size,
      clients: assignments.length,
    };
  });
}

function describePool({ pool, paused, cidr, range, server, size, clients }: PoolSummary): string {
  return `pool ${pool}${paused ? ' (paused)' : ''}: ${cidr}, ${range}, server ${server}, ${describeCount(size, 'address', 'addresses')}, ${describeCount(clients, 'client')}\n`;
}
