import { readFile } from 'node:fs/promises';
import { describePoolsFileFinding, loadPoolsFile } from '@vmdhcp/bare-host-agent/pools-file';
import { type BindingRecord, formatIpv4Address, type Ipv4Address } from '@vmdhcp/dhcp-allocator';
import {
  findPoolOfLease,
  type ImportedIscLease,
  type IscLeaseProblem,
  type IscLeaseReading,
  isBrokenFile,
  parseIscLeases,
  toBindingRecords,
} from '@vmdhcp/dhcp-allocator/isc-leases';
import { describeCount } from '@vmdhcp/kube-runtime';
import { createBindings } from '@vmdhcp/lease-stores';
import { describeIscImport, describeIscProblems, describeOtherFile, toIscImportView } from '@vmdhcp/lease-stores/isc';
import { CommandError, ExitCode, printableJson, printableText } from '@vmdhcp/service-process';

export interface ImportOptions {
  readonly isc: string;
  readonly pools?: string;
  readonly pool?: string;
  readonly stateDir?: string;
  readonly json?: boolean;
  readonly dryRun?: boolean;
  readonly acceptProblems?: boolean;
  readonly clusterAgent?: string;
  readonly namespace?: string;
  readonly kubeconfig?: string;
  readonly kubecontext?: string;
}

/** The destination of leases. */
interface ImportTarget {
  readonly poolNameOf: (address: Ipv4Address) => string | undefined;
  /** Resolves with where they were written; undefined if they were only checked. */
  readonly write: ((records: readonly BindingRecord[]) => Promise<string>) | undefined;
  readonly close: () => void;
}

/** Prints the outcomes for a lease file of ISC dhcpd, and records the leases; sets the exit code. */
export async function importLeases(options: ImportOptions): Promise<void> {
  const target = await chooseTarget(options);
  try {
    await importInto(target, options);
  } finally {
    target.close();
  }
}

async function importInto({ poolNameOf, write }: ImportTarget, options: ImportOptions): Promise<void> {
  const { isc, dryRun = false, acceptProblems = false } = options;
  const text = await readOctets(isc);
  const reading = parseIscLeases(text);
  const other = describeOtherFile(text, reading);
  if (other !== undefined) throw new CommandError(`${isc} ${other}`, ExitCode.invalidData);
  const imported = toBindingRecords(reading, { poolNameOf, nowMs: Date.now() });
  const records = imported.flatMap(({ record }) => (record === undefined ? [] : [record]));
  const isRefused = reading.problems.some(isBrokenFile) && !acceptProblems;
  const writtenTo = dryRun || isRefused ? undefined : await write?.(records);
  print(options, { reading, imported, isRefused, writtenTo });
  if (isRefused) process.exitCode = ExitCode.invalidData;
}

interface ImportResult {
  readonly reading: IscLeaseReading;
  readonly imported: readonly ImportedIscLease[];
  readonly isRefused: boolean;
  readonly writtenTo: string | undefined;
}

function print({ isc, json = false }: ImportOptions, { reading, imported, isRefused, writtenTo }: ImportResult): void {
  const written = writtenTo !== undefined;
  if (json) {
    const [problems, leases] = [reading.problems.map(toProblemView), imported.map(toIscImportView)];
    process.stdout.write(`${printableJson({ ok: !isRefused, written, problems, leases }, 2)}\n`);
  } else {
    for (const problem of describeIscProblems(isc, reading.problems))
      process.stderr.write(`problem: ${printableText(problem)}\n`);
    process.stdout.write(printableText(describeIscImport(imported, reading)));
    const count = describeCount(imported.filter(({ record }) => record !== undefined).length, 'record');
    process.stdout.write(written ? `${count} written to ${writtenTo}\n` : `${count}; nothing was written\n`);
  }
  if (isRefused)
    process.stderr.write(
      `${isc} is broken: nothing is imported; copy it while dhcpd is stopped, or give --accept-problems to import the rest\n`,
    );
}

async function chooseTarget(options: ImportOptions): Promise<ImportTarget> {
  const { clusterAgent, namespace, stateDir } = options;
  if (clusterAgent === undefined) {
    const write = async (records: readonly BindingRecord[]) => {
      await createBindings(stateDir ?? '', records);
      return stateDir ?? '';
    };
    const poolNameOf = await choosePool(options);
    return { poolNameOf, write: stateDir === undefined ? undefined : write, close: () => undefined };
  }
  if (!namespace)
    throw new CommandError(
      '--cluster-agent needs --namespace, the namespace of the agents, for example vm-dhcp-agents',
      ExitCode.usage,
    );
  const { openClusterImport } = await import('./import-into-cluster.js');
  return openClusterImport({ ...options, clusterAgent, namespace });
}

/** The pool into which an address is imported. */
async function choosePool({ pools, pool }: ImportOptions): Promise<(address: Ipv4Address) => string | undefined> {
  if (pools === undefined) {
    if (pool === undefined)
      throw new CommandError(
        'import needs --pools FILE, or --pool for every lease (NAMESPACE/NAME of an IPPool, or the NAME of a ClusterAgent), or --cluster-agent NAME to write into a cluster',
        ExitCode.usage,
      );
    return () => pool;
  }
  const loaded = await loadPoolsFile(pools);
  if (!loaded.ok) {
    const problems = loaded.problems.map((finding) => describePoolsFileFinding(pools, finding)).join('\n');
    throw new CommandError(problems, loaded.missing ? ExitCode.noInput : ExitCode.invalidData);
  }
  const known = [...loaded.file.pools.values()].map((configured) => configured.pool);
  return (address) => {
    const found = findPoolOfLease(address, known);
    if (found.ok) return found.pool?.name;
    throw new CommandError(
      `${formatIpv4Address(address)} may be leased by the pools ${found.pools.map(({ name }) => name).join(' and ')}: nothing is imported; give pools whose ranges are apart, or --pool for every lease`,
      ExitCode.invalidData,
    );
  };
}

async function readOctets(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch (error) {
    throw new CommandError(
      `${path} cannot be read: ${(error as Error).message}; give the name of a dhcpd.leases file`,
      ExitCode.noInput,
      {
        cause: error,
      },
    );
  }
}

function toProblemView({ address, ...problem }: IscLeaseProblem): object {
  return { ...problem, ...(address !== undefined && { address: formatIpv4Address(address) }) };
}
