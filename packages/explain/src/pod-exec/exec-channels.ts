/**
 * Maps the streams of a command to channels of one WebSocket: the first octet of a message is the channel number, and the last
 * message is a Status.
 */
import { readField, readList, readText } from '@vmdhcp/kube-runtime';
import { PodExecError, type PodName } from './pod-exec-error.js';

/** Newest first: only `v5` can close the standard input. Servers before Kubernetes 1.30 have only `v4`. */
export const EXEC_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const;

export const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, status: 3, close: 255 } as const;

/** The exit code of the command. @throws PodExecError if it could not be started. */
export function exitCodeIn(text: string, { namespace, pod }: PodName): number {
  const status = parse(text);
  if (readText(status, 'status') === 'Success') return 0;
  const cause = readList(status, 'details', 'causes').find((one) => readText(one, 'reason') === 'ExitCode');
  const exitCode = Number(readText(cause, 'message') ?? Number.NaN);
  if (readText(status, 'reason') === 'NonZeroExitCode' && Number.isInteger(exitCode)) return exitCode;
  const message = readText(status, 'message') ?? 'the API server gives no reason';
  if (/container not found|not running|container is not created/i.test(message))
    throw new PodExecError(
      'container-not-running',
      `the container of pod ${namespace}/${pod} does not run: ${message}; look at kubectl describe pod ${pod} -n ${namespace}`,
    );
  throw new PodExecError('refused', `the command could not be started in pod ${namespace}/${pod}: ${message}`);
}

function parse(text: string): unknown {
  try {
    const status: unknown = JSON.parse(text);
    return readField(status, 'status') === undefined ? {} : status;
  } catch {
    return { message: text.slice(0, 500) };
  }
}
