/** `kubectl vmdhcp audit`: reads the records and the current pools, and prints who had which address when. */
import { describeMissingRight } from '@vmdhcp/explain';
import type { ReaderOptions } from '@vmdhcp/explain/observe';
import { ClusterReader, currentRecords, describeNoRecords, readAudit, toCommandError } from '@vmdhcp/explain/observe';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { formatTime, keyOf } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { type AuditRow, auditColumns } from '../output/audit-rows.js';
import type { ListFormat } from '../output/list-formats.js';
import { printData } from '../output/print-data.js';
import { tableLines } from '../output/table.js';
import { terminalOf } from '../output/terminal.js';
import { parseWhen } from './parse-when.js';
import { byTime, type Knowledge, type Question, selectAuditRows } from './select-audit-rows.js';
import { clientIn, machineIn } from './subject.js';

export interface AuditQueryOptions extends ReaderOptions {
  readonly at?: string;
  readonly since?: string;
  readonly network?: string;
  readonly auditNamespace: string;
  readonly output: ListFormat;
}

/** @throws CommandError where the records cannot be read. */
export async function audit(subject: string | undefined, options: AuditQueryOptions): Promise<void> {
  const reader = await ClusterReader.open(options);
  try {
    const question = toQuestion(subject, options, reader);
    const knowledge = await readKnowledge(reader, options.auditNamespace);
    const rows = selectAuditRows(question, knowledge).toSorted(byTime);
    await print(rows, options, question.atMs);
    const isKnown = rows.length > 0 && rows.every(({ answer }) => answer !== 'not-known');
    process.exitCode = isKnown ? ExitCode.ok : ExitCode.failed;
  } catch (error) {
    throw toCommandError(error);
  } finally {
    reader.close();
  }
}

function toQuestion(text: string | undefined, options: AuditQueryOptions, reader: ClusterReader): Question {
  const { at, since, network } = options;
  if (at !== undefined && since !== undefined) throw new CommandError('give --at or --since, not both', ExitCode.usage);
  if (at !== undefined && text === undefined)
    throw new CommandError('--at needs an address, a MAC address or a virtual machine', ExitCode.usage);
  const subject = text === undefined ? undefined : (clientIn(text) ?? machineOf(text, reader.namespace));
  const named = network === undefined || network.includes('/') ? network : `${reader.namespace}/${network}`;
  return { subject, atMs: timeIn('--at', at, reader), sinceMs: timeIn('--since', since, reader), network: named };
}

function machineOf(text: string, inNamespace: string): Question['subject'] {
  const { namespace, name } = machineIn(text, inNamespace);
  return { kind: 'machine', machine: `${namespace}/${name}` };
}

function timeIn(option: string, text: string | undefined, { nowMs }: ClusterReader): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseWhen(text, nowMs);
  if (ms === undefined)
    throw new CommandError(
      `${option} ${text}: write 2026-11-17T10:00:00Z, "2026-11-17 10:00", or how long ago: 90m, 3d, 1w`,
      ExitCode.usage,
    );
  return ms;
}

async function readKnowledge(reader: ClusterReader, namespace: string): Promise<Knowledge> {
  const [stored, ipPools] = await Promise.all([readAudit(reader, namespace), reader.list(Resource.ipPools)]);
  for (const one of [stored, ipPools]) {
    if (one.kind === 'refused')
      throw new CommandError(`${describeMissingRight(one.right)}: ask for the verb list on it`, ExitCode.noPermission);
  }
  if (stored.kind !== 'found') throw new CommandError(describeNoRecords(namespace), ExitCode.failed);
  const objects = new Map((ipPools.kind === 'found' ? ipPools.objects : []).map((pool) => [keyOf(pool), pool]));
  return { pools: objects, records: currentRecords(stored, objects, reader.nowMs) };
}

async function print(rows: readonly AuditRow[], { output }: AuditQueryOptions, atMs: number | undefined): Promise<void> {
  if (output === 'json' || output === 'yaml') {
    return await printData(output, { ...(atMs !== undefined && { at: formatTime(atMs) }), items: rows });
  }
  if (output === 'name') {
    const names = new Set(rows.flatMap(({ virtualMachine }) => virtualMachine ?? []));
    return writeLines([...names].map((name) => `virtualmachine.kubevirt.io/${name.slice(name.indexOf('/') + 1)}`));
  }
  if (rows.length === 0) process.stderr.write('no record of it\n');
  else {
    const settings = { isWide: output === 'wide', terminal: terminalOf(process.stdout, process.env) };
    writeLines(tableLines(auditColumns(atMs !== undefined), rows, settings));
  }
}

function writeLines(lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
}
