/** The status that an IPPool should have, and the smallest patch towards it. */
import { formatIpv4Address, type Pool, rangeContains } from '@vmdhcp/dhcp-allocator';
import { ALLOCATED_EXCLUDED, ALLOCATED_RESERVED } from '@vmdhcp/ippool-api';
import {
  type ConditionState,
  isRecord,
  type KubernetesObject,
  type MergePatch,
  mergePatchTowards,
  readConditions,
  readField,
  withConditions,
} from '@vmdhcp/kube-runtime';
import { excludedMarks } from '../pool/excluded-marks.js';
import { toQuarantined } from '../pool/quarantines.js';
import { readRecordedAddresses } from '../pool/recorded-addresses.js';
import type { AssignmentPlan } from './assignment-plan.js';

export interface WantedPoolStatus {
  /** Undefined: it is not known who should have which address, so what is recorded stays. */
  readonly addresses: { readonly pool: Pool; readonly plan: AssignmentPlan } | undefined;
  readonly conditions: readonly ConditionState[];
  readonly agents: WantedAgents;
  /** RFC 3339. */
  readonly now: string;
}

/** The pool's agents in the status. Undefined: not known now, so the status stays as it is; null: none. */
interface WantedAgents {
  readonly deploymentRef: Readonly<Record<string, string>> | null | undefined;
  /** The pod that is leader. */
  readonly servedBy: string | null | undefined;
  /** True: no pod of an earlier version serves the pool any more. */
  readonly isMigrated: boolean;
}

/** A merge patch for the status subresource, or undefined if the status already has it. */
export function planPoolStatus(
  object: KubernetesObject,
  { addresses, conditions, agents, now }: WantedPoolStatus,
): MergePatch | undefined {
  const ipv4 = addresses === undefined ? undefined : ipv4Patch(object, addresses.pool, addresses.plan);
  const ofAgents = agentsPatch(object.status, agents);
  const isWritten = ipv4 !== undefined || ofAgents !== undefined;
  const before = readConditions(object.status);
  const after = withConditions(before, conditions, { now, generation: object.metadata.generation, isWritten });
  const conditionsDiffer = JSON.stringify(before) !== JSON.stringify(after);
  if (!isWritten && !conditionsDiffer) return undefined;
  return {
    status: {
      lastUpdate: now,
      ...(ipv4 !== undefined && { ipv4 }),
      ...ofAgents,
      ...(conditionsDiffer && { conditions: after }),
    },
  };
}

function agentsPatch(
  status: unknown,
  { deploymentRef, servedBy, isMigrated }: WantedPoolStatus['agents'],
): MergePatch | undefined {
  return mergePatchTowards(
    {
      ...(deploymentRef !== undefined && { agentDeploymentRef: deploymentRef ?? undefined }),
      ...(servedBy !== undefined && { servedBy: servedBy ?? undefined }),
      ...(isMigrated && { agentPodRef: undefined }),
    },
    isRecord(status) ? status : {},
  );
}

function ipv4Patch(object: KubernetesObject, pool: Pool, plan: AssignmentPlan): MergePatch | undefined {
  const recorded = readField(object.status, 'ipv4', 'allocated');
  const { used, free: available } = plan.counts;
  const allocated = difference(isRecord(recorded) ? recorded : {}, allocatedOf(object, pool, plan));
  const isCounted =
    readField(object.status, 'ipv4', 'used') === used && readField(object.status, 'ipv4', 'available') === available;
  const there = readField(object.status, 'ipv4', 'quarantined');
  const quarantined = difference(isRecord(there) ? there : {}, toQuarantined(plan.quarantines));
  if (allocated === undefined && quarantined === undefined && isCounted) return undefined;
  return { used, available, ...(allocated !== undefined && { allocated }), ...(quarantined !== undefined && { quarantined }) };
}

/** The keys that differ, null for what is to go; undefined if none does. */
function difference(
  before: Readonly<Record<string, unknown>>,
  after: ReadonlyMap<string, unknown>,
): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {};
  for (const [key, value] of after) {
    if (before[key] !== value && JSON.stringify(before[key]) !== JSON.stringify(value)) patch[key] = value;
  }
  for (const key of Object.keys(before)) {
    if (!after.has(key)) patch[key] = null;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** Address to MAC address or mark, as `status.ipv4.allocated` has it. */
function allocatedOf({ metadata, spec, status }: KubernetesObject, pool: Pool, plan: AssignmentPlan): Map<string, string> {
  const allocated = new Map<string, string>();
  for (const address of [pool.serverAddress, pool.options.router]) {
    if (address !== undefined && rangeContains(pool.range, address))
      allocated.set(formatIpv4Address(address), ALLOCATED_RESERVED);
  }
  for (const address of excludedMarks(spec).addresses) allocated.set(formatIpv4Address(address), ALLOCATED_EXCLUDED);
  for (const { address, macAddress } of plan.assignments) allocated.set(formatIpv4Address(address), macAddress);
  for (const { key, value } of readRecordedAddresses({ metadata, status }).unreadable) allocated.set(key, value as string);
  return allocated;
}
