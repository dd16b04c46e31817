/** `kubectl vmdhcp top`: queries the leader of each group of agents in its pod. */

import type { Leader, ReaderOptions } from '@vmdhcp/explain/observe';
import {
  type AskedAgent,
  askAgent,
  ClusterReader,
  findLeaders,
  findLeadersOf,
  mapBounded,
  toCommandError,
  untilNext,
} from '@vmdhcp/explain/observe';
import { CommandError, ExitCode, stopSignal } from '@vmdhcp/service-process';
import type { ListFormat } from '../output/list-formats.js';
import { printData } from '../output/print-data.js';
import { tableLines } from '../output/table.js';
import { terminalOf } from '../output/terminal.js';
import { TOP_CLIENT_COLUMNS, TOP_POOL_COLUMNS } from '../output/top-columns.js';
import { type AskedLeader, type TopOrder, type TopRows, topRows } from '../output/top-rows.js';

export interface TopOptions extends ReaderOptions {
  readonly pool?: string;
  readonly sort: TopOrder;
  readonly limit: number;
  readonly output: ListFormat;
  readonly watch?: boolean;
  /** Seconds. */
  readonly interval: number;
}

/** Commands in pods are expensive for an API server. */
const MOST_AT_ONCE = 8;
const ANSWER_WITHIN_MS = 10_000;

/** @throws CommandError if no agent can be found or queried. */
export async function top(options: TopOptions): Promise<void> {
  const reader = await ClusterReader.open(options);
  try {
    if (options.watch) await watchTop(reader, options);
    else await printTop(reader, options, undefined);
  } catch (error) {
    throw toCommandError(error);
  } finally {
    reader.close();
  }
}

async function printTop(reader: ClusterReader, options: TopOptions, signal: AbortSignal | undefined): Promise<void> {
  const pool = options.pool === undefined || options.pool.includes('/') ? options.pool : `${reader.namespace}/${options.pool}`;
  const leaders = await (pool === undefined ? findLeaders(reader, options.namespace) : findLeadersOf(reader, pool));
  if (pool !== undefined && leaders.length === 0)
    throw new CommandError(`no agent reports pool ${pool}: kubectl vmdhcp agents`, ExitCode.failed);
  const asked = await mapBounded(leaders, MOST_AT_ONCE, async (leader): Promise<AskedLeader> => {
    return { leader, asked: await ask(reader, leader, { pool, signal }) };
  });
  if (signal?.aborted) return;
  const rows = topRows(asked, { pool, sort: options.sort, limit: options.limit, nowMs: reader.nowMs });
  await print(rows, options);
  assertAllowed(asked);
}

async function ask(
  reader: ClusterReader,
  { namespace, pod }: Leader,
  { pool, signal }: { readonly pool: string | undefined; readonly signal: AbortSignal | undefined },
): Promise<AskedAgent> {
  if (pod === undefined) return { kind: 'failed', message: 'no pod of the group is leader', isForbidden: false };
  const settings = { timeoutMs: ANSWER_WITHIN_MS, pool, ...(signal !== undefined && { signal }) };
  return await askAgent(reader.cluster, { namespace, pod }, settings);
}

/** @throws CommandError that names the missing right, after printing what could be read. */
function assertAllowed(asked: readonly AskedLeader[]): void {
  const messages = asked.flatMap(({ asked: one }) => (one.kind === 'failed' && one.isForbidden ? [one.message] : []));
  if (messages.length > 0) throw new CommandError([...new Set(messages)].join('; '), ExitCode.noPermission);
}

async function print({ pools, clients }: TopRows, { output, watch }: TopOptions): Promise<void> {
  if (output === 'json' || output === 'yaml')
    return await printData(output, { pools, clients }, watch === true ? 'stream' : undefined);
  if (output === 'name') return writeLines(clients.map(({ macAddress }) => macAddress));
  if (pools.length === 0)
    return void process.stderr.write(
      'no agents found in the namespaces that IPPools name (status.agentDeploymentRef): kubectl vmdhcp agents\n',
    );
  const settings = { isWide: output === 'wide', terminal: terminalOf(process.stdout, process.env) };
  const below = clients.length === 0 ? [] : ['', ...tableLines(TOP_CLIENT_COLUMNS, clients, settings)];
  writeLines([...tableLines(TOP_POOL_COLUMNS, pools, settings), ...below]);
}

function writeLines(lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
}

/** On a terminal each table replaces the one before. */
async function watchTop(reader: ClusterReader, options: TopOptions): Promise<void> {
  const asked = stopSignal();
  const isTerminal = process.stdout.isTTY && (options.output === 'table' || options.output === 'wide');
  while (!asked.aborted) {
    if (isTerminal) process.stdout.write('\u001b[H\u001b[2J');
    await printTop(reader, options, asked);
    await untilNext(asked, options.interval * 1000);
  }
}
