import type { AgentTraffic } from '@vmdhcp/dhcp-agent/packet-path';
import { describeNames } from '@vmdhcp/kube-runtime';
import type { Logger } from '@vmdhcp/service-process';
import { clientsDocument } from './clients-document.js';
import { makePodControlFolder, podControlPath, podName, stateControlPath } from './control-path.js';
import type { ControlRequest } from './control-request.js';
import { type ControlContent, startControlServer } from './control-server.js';

export interface AgentControlSettings {
  /** Of an agent on a bare host; undefined: of one in a pod. */
  readonly stateDirectory?: string;
  readonly logger: Logger;
  readonly traffic: AgentTraffic;
  /** The pools that the agent is to serve now. */
  readonly pools: () => readonly string[];
}

/** Answers `vmdhcp-agent clients` until `close` is called. Never rejects. */
export function startAgentControl(settings: AgentControlSettings): Promise<{ readonly close: () => void }> {
  const { stateDirectory, logger } = settings;
  const path = stateDirectory === undefined ? podControlPath() : stateControlPath(stateDirectory);
  const prepare = stateDirectory === undefined ? () => makePodControlFolder(path) : undefined;
  return startControlServer({ path, logger, prepare, answer: (request) => answerOf(request, settings) });
}

function answerOf({ pool, mac }: ControlRequest, { traffic, pools }: AgentControlSettings): ControlContent {
  const found = pool === undefined ? undefined : findPool(pool, pools());
  if (pool !== undefined && found === undefined) {
    const has = pools().length === 0 ? 'it has no pool' : `it has ${describeNames([...pools()])}`;
    return { ok: false, problem: `--pool ${pool}: this agent does not serve the pool; ${has}` };
  }
  return { ok: true, content: clientsDocument(podName(), traffic, { pool: found, mac }) };
}

/** By its full name, or by its name alone if only one pool has it. */
function findPool(name: string, pools: readonly string[]): string | undefined {
  const matching = pools.filter((pool) => pool === name || pool.endsWith(`/${name}`));
  return matching.length === 1 ? matching[0] : undefined;
}
