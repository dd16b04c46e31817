import { formatIpv4Address, formatIpv4Cidr, formatIpv4Range } from '@vmdhcp/dhcp-allocator';
import { NOTHING_RECORDED, planAssignments } from '@vmdhcp/reconciler/plan-assignments';
import { ExitCode } from '@vmdhcp/service-process';
import { Command } from 'commander';
import { describeFinding, type Finding } from '../pools-file/finding.js';
import { loadPoolsFile } from '../pools-file/load-pools-file.js';
import type { PoolsFile } from '../pools-file/parse-pools-file.js';

const EXAMPLES = `
Examples:
  vmdhcp-agent check pools.yaml
  vmdhcp-agent check pools.yaml --json | jq '.problems[].message'

Exit codes: 0 the file can be served, 65 it has problems, 66 it cannot be read.
Warnings, such as unknown fields, do not change the exit code.
`;

/** `vmdhcp-agent check FILE` */
export function checkCommand(): Command {
  return new Command('check')
    .description('Say everything that is wrong with a pools file, or what would be served.')
    .argument('<file>', 'YAML file of IPPool and VirtualMachineNetworkConfig objects')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', EXAMPLES)
    .action(check);
}

async function check(path: string, { json = false }: { readonly json?: boolean }): Promise<void> {
  const result = await loadPoolsFile(path);
  const pools = result.ok ? summarize(result.file) : [];
  const problems = result.ok ? [] : result.problems;
  if (json) {
    process.stdout.write(`${JSON.stringify({ ok: result.ok, problems, warnings: result.warnings, pools }, null, 2)}\n`);
  } else {
    print(path, 'problem', problems);
    print(path, 'warning', result.warnings);
    for (const pool of pools) process.stdout.write(describePool(pool));
  }
  if (!result.ok) process.exitCode = result.missing ? ExitCode.noInput : ExitCode.invalidData;
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
  readonly clients: number;
  /** Claims that could not be met, if nothing were assigned yet. */
  readonly refused: readonly string[];
}

function summarize({ pools }: PoolsFile): PoolSummary[] {
  return [...pools].map(([name, { pool, paused, claims }]) => {
    const { assignments, refused, counts } = planAssignments(pool, claims, { recorded: NOTHING_RECORDED, nowMs: 0 });
    return {
      pool: name,
      paused,
      cidr: formatIpv4Cidr(pool.cidr),
      range: formatIpv4Range(pool.range),
      server: formatIpv4Address(pool.serverAddress),
      size: counts.size,
      clients: assignments.length,
      refused: refused.map(({ owner, message }) => `${owner}: ${message}`),
    };
  });
}

function describePool({ pool, paused, cidr, range, server, size, clients, refused }: PoolSummary): string {
  const first = `pool ${pool}${paused ? ' (paused)' : ''}: ${cidr}, ${range}, server ${server}, ${size} addresses, ${clients} clients\n`;
  return first + refused.map((text) => `  refused: ${text}\n`).join('');
}
