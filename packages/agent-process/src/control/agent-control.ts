import type { AgentTraffic, LeaseEnd, PacketCaptures } from '@vmdhcp/dhcp-agent/packet-path';
import { type Ipv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import { describeNames } from '@vmdhcp/kube-runtime';
import type { Logger } from '@vmdhcp/service-process';
import { captureStream } from './capture-stream.js';
import { clientsDocument } from './clients-document.js';
import { makePodControlFolder, podControlPath, podName, stateControlPath } from './control-path.js';
import type { CaptureRequest, ControlRequest } from './control-request.js';
import { type ControlContent, startControlServer } from './control-server.js';
import { describeKept } from './describe-kept.js';

export interface AgentControlSettings {
  /** The state directory of an agent on a bare host; undefined in a pod. */
  readonly stateDirectory?: string;
  readonly logger: Logger;
  readonly traffic: AgentTraffic;
  readonly captures: PacketCaptures;
  /** The pools that the agent serves now, each with its interfaces. */
  readonly pools: () => ReadonlyMap<string, readonly string[]>;
  /** Ends the lease of an unknown client, or a quarantine. Absent if this agent has neither. */
  readonly endLease?: (address: Ipv4Address) => Promise<LeaseEnd>;
}

/** Responds to `vmdhcp-agent clients`, `vmdhcp-agent capture` and `vmdhcp-agent release` until `close` is called. Never rejects. */
export function startAgentControl(settings: AgentControlSettings): Promise<{ readonly close: () => void }> {
  const { stateDirectory, logger } = settings;
  const path = stateDirectory === undefined ? podControlPath() : stateControlPath(stateDirectory);
  const prepare = stateDirectory === undefined ? () => makePodControlFolder(path) : undefined;
  return startControlServer({ path, logger, prepare, answer: (request, signal) => answerOf(request, signal, settings) });
}

function answerOf(request: ControlRequest, signal: AbortSignal, settings: AgentControlSettings): ControlContent {
  const pools = settings.pools();
  const pool = request.pool === undefined ? undefined : findPool(request.pool, [...pools.keys()]);
  if (request.pool !== undefined && pool === undefined) {
    const has = pools.size === 0 ? 'it has no pool' : `it has ${describeNames([...pools.keys()])}`;
    return { ok: false, problem: `--pool ${request.pool}: this agent does not serve the pool; ${has}` };
  }
  if (request.ask === 'capture')
    return captureOf(request, { ...settings, signal, poolName: pool ?? '', interfaceNames: pools.get(pool ?? '') ?? [] });
  if (request.ask === 'release') return releaseIn(request.address, settings);
  return { ok: true, content: clientsDocument(podName(), settings.traffic, { pool, mac: request.mac }) };
}

function releaseIn(text: string, { endLease }: AgentControlSettings): ControlContent {
  const address = parseIpv4Address(text);
  if (endLease === undefined || address === undefined)
    return {
      ok: false,
      problem: 'this agent leases no addresses to unknown clients: ask the agent of the ClusterAgent by its HostStatus',
    };
  return { ok: true, content: releaseDocument(text, endLease(address)) };
}

async function* releaseDocument(ipAddress: string, ending: Promise<LeaseEnd>): AsyncGenerator<string> {
  yield JSON.stringify(toAnswer(ipAddress, await ending));
}

/** The first line of the response to `vmdhcp-agent release`. */
export interface ReleaseAnswer {
  readonly macAddress?: string;
  readonly wasQuarantined?: true;
  /** Why the lease or the quarantine stays. */
  readonly kept?: string;
}

function toAnswer(ipAddress: string, end: LeaseEnd): ReleaseAnswer {
  switch (end.kind) {
    case 'ended':
      return { macAddress: end.macAddress };
    case 'quarantine-ended':
      return { wasQuarantined: true };
    case 'no-lease':
      return {};
    case 'kept':
    case 'not-recorded':
      return { kept: describeKept({ ipAddress }, end) };
  }
}

function captureOf(request: CaptureRequest, parts: Omit<Parameters<typeof captureStream>[0], 'request'>): ControlContent {
  const content = captureStream({ ...parts, request });
  if (content !== undefined) return { ok: true, content };
  return {
    ok: false,
    problem: 'this agent already runs the largest number of captures; end one of them, or wait until one ends',
  };
}

/** Finds a pool by its full name, or by its name alone if only one pool has it. */
function findPool(name: string, pools: readonly string[]): string | undefined {
  const matching = pools.filter((pool) => pool === name || pool.endsWith(`/${name}`));
  return matching.length === 1 ? matching[0] : undefined;
}
