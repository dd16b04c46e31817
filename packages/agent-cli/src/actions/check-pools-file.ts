import type { PoolsFile } from '@vmdhcp/bare-host-agent/pools-file';
import {
  describePoolsFileFinding,
  findRefusedClaims,
  loadPoolsFile,
  type PoolsFileFinding,
} from '@vmdhcp/bare-host-agent/pools-file';
import { formatIpv4Address, formatIpv4Cidr, formatIpv4Range } from '@vmdhcp/dhcp-allocator';
import { describeCount } from '@vmdhcp/kube-runtime';
import { NOTHING_RECORDED, planAssignments } from '@vmdhcp/reconciler/plan-assignments';
import { ExitCode, printableJson, printableText } from '@vmdhcp/service-process';

export interface CheckPoolsFileOptions {
  readonly json?: boolean;
}

/** Prints every problem of a pools file, or what would be served; sets the exit code. */
export async function checkPoolsFile(path: string, { json = false }: CheckPoolsFileOptions): Promise<void> {
  const result = await loadPoolsFile(path);
  const pools = result.ok ? summarize(result.file) : [];
  const refused = findRefusedClaims(result.ok ? result.file : result.rest);
  const problems = [...(result.ok ? [] : result.problems), ...refused];
  const ok = problems.length === 0;
  if (json) {
    process.stdout.write(`${printableJson({ ok, problems, warnings: result.warnings, pools }, 2)}\n`);
  } else {
    print(path, 'problem', problems);
    print(path, 'warning', result.warnings);
    for (const pool of pools) process.stdout.write(printableText(describePool(pool)));
  }
  if (!ok) process.exitCode = result.missing ? ExitCode.noInput : ExitCode.invalidData;
}

function print(path: string, kind: string, findings: readonly PoolsFileFinding[]): void {
  for (const finding of findings) process.stderr.write(`${kind}: ${printableText(describePoolsFileFinding(path, finding))}\n`);
}

interface PoolSummary {
  readonly pool: string;
  readonly paused: boolean;
  readonly cidr: string;
  readonly range: string;
  readonly server: string;
  readonly size: number;
  /** How many claims can be fulfilled if nothing is assigned yet. */
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
