/**
 * Writes the leader's part of the status of the ClusterAgent: how many addresses of its range clients have, and what it found on
 * the network. It writes when this changes, but at most every few seconds.
 */
import type { OpenPoolCounts } from '@vmdhcp/dhcp-allocator';
import type { HostConditionOf } from '@vmdhcp/ippool-api/bare-metal/keys';
import {
  type ConditionState,
  describeProblems,
  type KubernetesObject,
  mergePatchTowards,
  type ObjectClient,
  readConditions,
  withConditions,
} from '@vmdhcp/kube-runtime';
import type { ExhaustedRange } from './exhausted-range.js';
import type { OtherServers } from './other-servers.js';
import type { SelfProbe } from './self-probe.js';

const LEAST_INTERVAL_MS = 5_000;
const MOST_TROUBLES = { most: 5, longest: 360 } as const;

/** The findings of this agent; the controller writes the other conditions. */
export type FoundCondition = Extract<
  HostConditionOf<'ClusterAgent'>,
  { readonly type: 'AddressesExhausted' | 'CannotServe' | 'RogueServer' | 'SelfIpInUse' }
>;

export interface AgentStatusPorts {
  /** Behind the fence of leadership. */
  readonly client: Pick<ObjectClient<KubernetesObject>, 'patchStatus'>;
  readonly nowMs: () => number;
  /** RFC 3339. */
  readonly now: () => string;
  readonly onError: (error: unknown) => void;
}

export interface FoundStatus {
  /** Undefined if not known: then the stored value stays. */
  readonly counts: OpenPoolCounts | undefined;
  readonly conditions: readonly FoundCondition[];
  /** True if DHCP is switched off: there are no addresses then. Default: false. */
  readonly isOff?: boolean;
}

export class AgentStatus {
  readonly #ports: AgentStatusPorts;
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  #isWriting = false;

  constructor(ports: AgentStatusPorts) {
    this.#ports = ports;
  }

  /** Writes if the stored value differs. Call it every second while this replica is leader; never rejects. */
  async report(clusterAgent: KubernetesObject, found: FoundStatus): Promise<void> {
    const { nowMs, client, onError, now } = this.#ports;
    if (this.#isWriting || nowMs() - this.#writtenAtMs < LEAST_INTERVAL_MS) return;
    const status = mergePatchTowards(wanted(clusterAgent, found, now()), { ...(clusterAgent.status as object | undefined) });
    if (status === undefined) return;
    this.#isWriting = true;
    this.#writtenAtMs = nowMs();
    const { name: key, resourceVersion } = clusterAgent.metadata;
    // Conditions are one list with two writers: a writer that has not seen the newest version tries again.
    const target = 'conditions' in status ? { key, resourceVersion } : { key };
    try {
      const result = await client.patchStatus(target, { status });
      if (!result.ok && result.reason !== 'not-found' && result.reason !== 'conflict') onError(new Error(result.message));
    } catch (error) {
      onError(error);
    } finally {
      this.#isWriting = false;
    }
  }
}

/** What the leader found on the network. What is not known yet stays unchanged. */
export function foundConditions(
  { problem: ofSelf, isUsed }: Pick<SelfProbe, 'problem' | 'isUsed'>,
  { problem: ofServers, found }: Pick<OtherServers, 'problem' | 'found'>,
): FoundCondition[] {
  return [...selfCondition(isUsed, ofSelf), ...serversCondition(found !== undefined, ofServers)];
}

/** Whether a client got no address. What is not known yet stays unchanged. */
export function rangeCondition({ message, isKnown }: Pick<ExhaustedRange, 'message' | 'isKnown'>): FoundCondition[] {
  if (!isKnown) return [];
  if (message === undefined) return [{ type: 'AddressesExhausted', status: 'False' }];
  return [{ type: 'AddressesExhausted', status: 'True', reason: 'AddressesExhausted', message }];
}

const OF_DHCP = ['AddressesExhausted', 'RogueServer', 'SelfIpInUse'] as const;

/** What was true while DHCP was switched on, and does not apply any more. */
export function withdrawnConditions({ status }: KubernetesObject): FoundCondition[] {
  const known = readConditions(status).flatMap((one) => (one.status === 'True' ? [one.type] : []));
  return OF_DHCP.filter((type) => known.includes(type)).map((type) => ({ type, status: 'False' }));
}

/** Whether the leader answers clients. @param troubles - what prevents that. */
export function serviceCondition(troubles: readonly string[], isServing: boolean): FoundCondition[] {
  if (troubles.length > 0) {
    const message = describeProblems(troubles, MOST_TROUBLES);
    return [{ type: 'CannotServe', status: 'True', reason: 'HostAgentCannotServe', message }];
  }
  return isServing ? [{ type: 'CannotServe', status: 'False' }] : [];
}

function selfCondition(isUsed: boolean | undefined, message: string | undefined): FoundCondition[] {
  if (isUsed === undefined) return [];
  if (!isUsed || message === undefined) return [{ type: 'SelfIpInUse', status: 'False' }];
  return [{ type: 'SelfIpInUse', status: 'True', reason: 'SelfIpInUse', message }];
}

function serversCondition(isKnown: boolean, message: string | undefined): FoundCondition[] {
  if (!isKnown) return [];
  if (message === undefined) return [{ type: 'RogueServer', status: 'False' }];
  return [{ type: 'RogueServer', status: 'True', reason: 'OtherServerAnswers', message }];
}

function wanted(clusterAgent: KubernetesObject, { counts, conditions, isOff }: FoundStatus, now: string) {
  const { generation } = clusterAgent.metadata;
  const states = conditions as readonly ConditionState[];
  return {
    ...(isOff && { addresses: undefined }),
    ...(counts !== undefined && { addresses: { total: counts.size, used: counts.valid, available: counts.free } }),
    ...(states.length > 0 && { conditions: withConditions(readConditions(clusterAgent.status), states, { now, generation }) }),
  };
}
