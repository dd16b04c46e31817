/** Queries an agent in its pod, with a command of its own program. */

import { AGENT_PROGRAM } from '@vmdhcp/ippool-api/agent';
import type { ClusterConnection } from '@vmdhcp/kube-runtime/node';
import { ExitCode } from '@vmdhcp/service-process';
import { type AgentTrafficReport, parseAgentTraffic } from '../chain/agent-traffic.js';
import { collectCommand } from '../pod-exec/collect-command.js';
import { PodExecError, type PodName } from '../pod-exec/pod-exec-error.js';
import { inAgentContainer } from './agent-container.js';

/** What an agent answered about its clients, or why it did not. */
export type AskedAgent =
  | { readonly kind: 'answered'; readonly traffic: AgentTrafficReport }
  /** `isForbidden`: a right is missing. */
  | { readonly kind: 'failed'; readonly message: string; readonly isForbidden: boolean };

export interface AskSettings {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Limits the query to this pool, `namespace/name`. */
  readonly pool?: string | undefined;
  /** Limits the query to this client; canonical. */
  readonly macAddress?: string | undefined;
}

/** What the clients of the agent sent. Never throws for failures that an agent, a pod or a missing right may cause. */
export async function askAgent(
  cluster: ClusterConnection,
  name: PodName,
  { pool, macAddress, ...settings }: AskSettings,
): Promise<AskedAgent> {
  const words = [
    'clients',
    '--json',
    ...(pool === undefined ? [] : ['--pool', pool]),
    ...(macAddress === undefined ? [] : ['--mac', macAddress]),
  ];
  try {
    const command = [...AGENT_PROGRAM, ...words];
    const ended = await inAgentContainer(name, (container) => collectCommand(cluster, { ...container, command }, settings));
    const { exitCode, stdout, stderr } = ended;
    const traffic = exitCode === 0 ? parseAgentTraffic(stdout) : undefined;
    if (traffic !== undefined) return { kind: 'answered', traffic };
    return { kind: 'failed', message: describeAgentFailure(exitCode, stderr), isForbidden: false };
  } catch (error) {
    if (!(error instanceof PodExecError)) throw error;
    return { kind: 'failed', message: error.message, isForbidden: error.failure === 'forbidden' };
  }
}

/** What a person reads of a command of an agent that failed. */
export function describeAgentFailure(exitCode: number, stderr: string): string {
  const [line = ''] = stderr.trim().split('\n');
  if (exitCode === 0) return 'the reply of the agent is not a list of its clients: its version does not match this plugin';
  if (exitCode === ExitCode.usage && /unknown command/i.test(stderr))
    return 'the agent is of an earlier version, which does not support this command; upgrade it';
  return line === '' ? `the agent ended with exit code ${exitCode}` : line.slice(0, 300);
}
