import type { Readable } from 'node:stream';
import type { ClusterConnection } from '@vmdhcp/kube-runtime/node';
import { type ExecCommand, type ExecSettings, execInPod } from './exec-in-pod.js';
import { PodExecError } from './pod-exec-error.js';

export interface CollectedCommand {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;
const MOST_ERROR_BYTES = 64 * 1024;

/** Runs a command until it ends. @throws PodExecError if its end is not known, or its output is too large. */
export async function collectCommand(
  cluster: ClusterConnection,
  command: ExecCommand,
  settings: ExecSettings,
): Promise<CollectedCommand> {
  const tooLong = new AbortController();
  const signal = settings.signal === undefined ? tooLong.signal : AbortSignal.any([settings.signal, tooLong.signal]);
  const running = await execInPod(cluster, command, { ...settings, signal });
  const onTooLong = (): void => tooLong.abort();
  try {
    const [stdout, stderr, exitCode] = await Promise.all([
      readAll(running.stdout, MOST_OUTPUT_BYTES, onTooLong),
      readAll(running.stderr, MOST_ERROR_BYTES, () => undefined),
      running.exited,
    ]);
    return { exitCode, stdout, stderr };
  } catch (error) {
    if (!tooLong.signal.aborted) throw error;
    throw new PodExecError(
      'refused',
      `pod ${command.namespace}/${command.pod} answers with more than ${MOST_OUTPUT_BYTES >> 20} MiB`,
    );
  }
}

/** Output beyond the limit is dropped. */
async function readAll(output: Readable, mostBytes: number, onTooLong: () => void): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of output as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= mostBytes) chunks.push(chunk);
    else onTooLong();
  }
  return Buffer.concat(chunks).toString('utf8');
}
