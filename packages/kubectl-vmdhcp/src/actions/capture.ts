/** `kubectl vmdhcp capture`: the packets of a pool, captured by the leader of its agents in its pod. */

import type { Readable } from 'node:stream';
import type { ReaderOptions } from '@vmdhcp/explain/observe';
import {
  ClusterReader,
  describeAgentFailure,
  execInPod,
  findLeadersOf,
  inAgentContainer,
  PodExecError,
  type PodName,
  type RunningCommand,
  toCommandError,
} from '@vmdhcp/explain/observe';
import { AGENT_PROGRAM } from '@vmdhcp/ippool-api/agent';
import { CommandError, ExitCode, stopSignal } from '@vmdhcp/service-process';
import { printableLine } from '../output/printable-line.js';
import { describeTally, printLines, type Tally, writeBlocks } from './copy-capture.js';

export interface CaptureOptions extends ReaderOptions {
  /** A file, or `-` for the standard output; undefined for decoded lines. */
  readonly write?: string;
  readonly seconds: number;
  readonly packets: number;
  /** In canonical form. */
  readonly mac?: string;
}

/** How long the agent may take to end the capture itself after Ctrl-C. */
const END_WITHIN_MS = 3_000;

/** In addition to the time of the capture: the agent may be slow to begin. */
const MARGIN_MS = 30_000;

const MOST_ERROR_OCTETS = 64 * 1024;

/**
 * @throws CommandError if nothing could be captured, or the capture ended early: what was written is then complete up to its end.
 */
export async function capture(pool: string, options: CaptureOptions): Promise<void> {
  if (options.write === '-' && process.stdout.isTTY)
    throw new CommandError(
      'a capture is not text for a terminal: give --write FILE.pcapng, or a pipe as in --write - | wireshark -k -i -',
      ExitCode.usage,
    );
  const reader = await ClusterReader.open(options);
  try {
    const key = pool.includes('/') ? pool : `${reader.namespace}/${pool}`;
    const leader = await leaderOf(reader, key);
    await captureIn(reader, { leader, pool: key, options });
  } catch (error) {
    if (error instanceof PodExecError) throw new CommandError(error.message, error.exitCode, { cause: error });
    throw toCommandError(error);
  } finally {
    reader.close();
  }
}

async function leaderOf(reader: ClusterReader, pool: string): Promise<PodName> {
  const leaders = await findLeadersOf(reader, pool);
  const found = leaders.find(({ pod }) => pod !== undefined) ?? leaders[0];
  if (found === undefined) throw new CommandError(`no agent reports pool ${pool}: kubectl vmdhcp agents`, ExitCode.failed);
  const { namespace, group, pod } = found;
  if (pod !== undefined) return { namespace, pod };
  throw new CommandError(`no pod of group ${namespace}/${group} is leader: kubectl vmdhcp agents`, ExitCode.unavailable);
}

interface Capture {
  readonly leader: PodName;
  readonly pool: string;
  readonly options: CaptureOptions;
}

async function captureIn(reader: ClusterReader, { leader, pool, options }: Capture): Promise<void> {
  const { write, seconds, packets, mac } = options;
  const asked = stopSignal();
  const cut = new AbortController();
  const bounds = ['--seconds', String(seconds), '--packets', String(packets)];
  const only = mac === undefined ? [] : ['--mac', mac];
  const words = ['capture', '--until-input-ends', '--pool', pool, ...bounds, ...only];
  const command = [...AGENT_PROGRAM, ...words, ...(write === undefined ? [] : ['--write', '-'])];
  const settings = { signal: cut.signal, timeoutMs: 1000 * seconds + MARGIN_MS };
  const running = await inAgentContainer(leader, (container) => execInPod(reader.cluster, { ...container, command }, settings));
  process.stderr.write(`capturing packets of ${pool} in pod ${leader.namespace}/${leader.pod}; Ctrl-C ends it\n`);
  endWhenAsked(running, { asked, cut });
  const errors = collectErrors(running.stderr);
  const tally = await (write === undefined
    ? printLines(running.stdout, cut)
    : writeBlocks(running.stdout, { path: write, packets, cut }));
  // Lines have no statistics: the agent reports lost packets at its end.
  if (write !== undefined) process.stderr.write(`${describeTally(tally, write)}\n`);
  const isOver = asked.aborted || cut.signal.aborted;
  const exitCode = await endOf(running, isOver);
  if (exitCode !== 0 && !isOver) throw new CommandError(describeAgentFailure(exitCode, await errors), exitCode);
  if (write === undefined) printSummary(await errors, tally);
}

/** Closing the standard input ends the capture in the pod; if the server does not support that, or nothing follows, the connection is ended. */
function endWhenAsked(
  running: RunningCommand,
  { asked, cut }: { readonly asked: AbortSignal; readonly cut: AbortController },
): void {
  const end = (): void => {
    const timer = setTimeout(() => cut.abort(), running.closeInput() ? END_WITHIN_MS : 0);
    const clear = (): void => clearTimeout(timer);
    running.exited.then(clear, clear);
  };
  if (asked.aborted) end();
  else asked.addEventListener('abort', end, { once: true });
}

async function collectErrors(stderr: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stderr as AsyncIterable<Buffer>) if (text.length < MOST_ERROR_OCTETS) text += chunk.toString('utf8');
  return text;
}

/** @param text - what the agent wrote at its end; empty if it did not get there. */
function printSummary(text: string, tally: Tally): void {
  const lines = text.trim() === '' ? [describeTally(tally, undefined)] : text.trim().split('\n');
  process.stderr.write(`${lines.map(printableLine).join('\n')}\n`);
}

/** @param isOver - true if the capture was ended here, so that an end of the connection is as good as one of the program. */
async function endOf({ exited }: RunningCommand, isOver: boolean): Promise<number> {
  return await exited.catch((error: unknown) => {
    if (isOver && error instanceof PodExecError && error.failure === 'aborted') return 0;
    throw error;
  });
}
