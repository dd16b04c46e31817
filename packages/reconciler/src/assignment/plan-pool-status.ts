/** Computes the desired status of an IPPool, and the smallest patch towards it. */
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
import type { ParsedEntry, RecordedAddresses } from '../pool/recorded-addresses.js';
import type { AssignmentPlan } from './assignment-plan.js';

export interface WantedPoolStatus {
  /** Undefined if the owners of addresses are not known: then the record stays. */
  readonly addresses: { readonly pool: Pool; readonly plan: AssignmentPlan; readonly recorded: RecordedAddresses } | undefined;
  readonly conditions: readonly ConditionState[];
  readonly agents: WantedAgents;
  /** RFC 3339. */
  readonly now: string;
}

/** The pool's agents in the status. Undefined if not known, so that the status stays; null for none. */
interface WantedAgents {
  readonly deploymentRef: Readonly<Record<string, string>> | null | undefined;
  /** The pod of the leader. */
  readonly servedBy: string | null | undefined;
  /** True if no pod of an earlier version serves the pool any more. */
  readonly isMigrated: boolean;
}

/** A merge patch for the status subresource, or undefined if the status already has it. */
export function planPoolStatus(
  object: KubernetesObject,
  { addresses, conditions, agents, now }: WantedPoolStatus,
): MergePatch | undefined {
  const ipv4 = addresses === undefined ? undefined : ipv4Patch(object, addresses);
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

type WantedAddresses = NonNullable<WantedPoolStatus['addresses']>;

function ipv4Patch(object: KubernetesObject, wanted: WantedAddresses): MergePatch | undefined {
  const { plan } = wanted;
  const { used, free: available } = plan.counts;
  const allocated = allocatedPatch(object, wanted);
  const isCounted =
    readField(object.status, 'ipv4', 'used') === used && readField(object.status, 'ipv4', 'available') === available;
  const there = readField(object.status, 'ipv4', 'quarantined');
  const quarantined = difference(isRecord(there) ? there : {}, toQuarantined(plan.quarantines));
  if (allocated === undefined && quarantined === undefined && isCounted) return undefined;
  return { used, available, ...(allocated !== undefined && { allocated }), ...(quarantined !== undefined && { quarantined }) };
}

/** The changed keys, null for removed ones; undefined if there are none. */
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

/**
 * The differences in `status.ipv4.allocated`: address to MAC address or mark. Nearly all entries of a large pool are correct: only those are looked at
 * that may differ.
 */
function allocatedPatch({ spec }: KubernetesObject, wanted: WantedAddresses): Record<string, unknown> | undefined {
  const { plan, recorded } = wanted;
  const { allocated } = recorded.version;
  const after = new Map([...marksOf(spec, wanted.pool), ...newEntries(wanted)]);
  const before: Record<string, unknown> = {};
  for (const key of new Set([...after.keys(), ...doubtfulKeys(wanted)])) {
    const kept = keptEntry(recorded.entryAt(key), recorded, plan);
    // A client that keeps an excluded address is listed, not the mark.
    if (kept?.isCanonical === true) after.delete(key);
    else if (Object.hasOwn(allocated, key)) before[key] = allocated[key];
    if (kept?.isCanonical === false) after.set(formatIpv4Address(kept.assignment.address), kept.assignment.macAddress);
  }
  for (const { key, value } of recorded.unreadable) {
    before[key] = value;
    after.set(key, value);
  }
  return difference(before, after);
}

/** Entries of clients that have another address in the record, or none. */
function newEntries({ plan, recorded }: WantedAddresses): [string, unknown][] {
  return [...plan.planned].flatMap((macAddress): [string, unknown][] => {
    const address = plan.addressOf.get(macAddress);
    if (address === undefined || address === recorded.addressOf.get(macAddress)) return [];
    return [[formatIpv4Address(address), macAddress]];
  });
}

/** Keys of entries that may be wrong. */
function doubtfulKeys({ plan, recorded }: WantedAddresses): string[] {
  const addresses = [...plan.planned].flatMap((macAddress) => recorded.addressOf.get(macAddress) ?? []);
  return [...recorded.marks, ...recorded.misspelled, ...addresses.map(formatIpv4Address)];
}

/** The entry if its client keeps the address. */
function keptEntry(entry: ParsedEntry | undefined, recorded: RecordedAddresses, plan: AssignmentPlan) {
  if (entry?.assignment === undefined) return undefined;
  const { macAddress, address } = entry.assignment;
  return recorded.addressOf.get(macAddress) === address && plan.addressOf.get(macAddress) === address ? entry : undefined;
}

/** The addresses in `status.ipv4.allocated` that no client gets. */
function marksOf(spec: unknown, pool: Pool): Map<string, unknown> {
  const marks = new Map<string, unknown>();
  for (const address of [pool.serverAddress, pool.options.router]) {
    if (address !== undefined && rangeContains(pool.range, address)) marks.set(formatIpv4Address(address), ALLOCATED_RESERVED);
  }
  for (const address of excludedMarks(spec).addresses) marks.set(formatIpv4Address(address), ALLOCATED_EXCLUDED);
  return marks;
}
