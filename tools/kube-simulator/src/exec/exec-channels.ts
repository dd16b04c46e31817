/**
 * The streams of a command as channels of one WebSocket: the first octet of a message is the number of its channel.
 *
 * Source: k8s.io/apimachinery/pkg/util/remotecommand; KEP 4006 for v5.
 */
import type { JsonObject } from '../api-object.js';

/** The newest first. `v5` can close the standard input of the command. */
export const execProtocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const;
export type ExecProtocol = (typeof execProtocols)[number];

export const channels = { stdin: 0, stdout: 1, stderr: 2, status: 3, close: 255 } as const;

/** The newest protocol that the client offers and this server has; undefined if there is none. */
export function selectExecProtocol(offered: ReadonlySet<string>): ExecProtocol | undefined {
  return execProtocols.find((protocol) => offered.has(protocol));
}

/** The content of the last message of a command that was started. */
export function statusOfExit(exitCode: number): JsonObject {
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}
