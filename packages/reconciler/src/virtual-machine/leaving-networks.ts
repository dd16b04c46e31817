/**
 * Keeps the entries of networks that a running guest may still use. KubeVirt changes the network of a VirtualMachineInstance first, and moves the
 * guest with a later live migration (VEP 140). It compares the pod with the instance, and says so by the condition `MigrationRequired`, some time
 * after the change and some time after a migration. So an address on a former network is free
 *
 * - at once, when the instance has ended: its pods are gone;
 * - five minutes after a migration that followed the change has succeeded;
 * - an hour after the change was seen, and five minutes after any migration, if KubeVirt requires none: the change was taken back, or was complete before it was seen.
 */
import { parseMacAddress } from '@vmdhcp/dhcp-allocator';
import type { NetworkConfig } from '@vmdhcp/ippool-api';
import { LEAVING_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import { formatTime, type KubernetesObject, parseTime, readText } from '@vmdhcp/kube-runtime';
import { networksOfMachine } from './machine-interfaces.js';
import { identityOf } from './network-config-entries.js';
import { parseAnnotationRecord } from './remembered-interfaces.js';
import type { RunningInstance } from './running-instance.js';
import type { MachineKnowledge } from './wanted-interfaces.js';

/** What ran when an instance was seen on another network than before. */
export interface LeavingNetwork {
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
  /** UID of the VirtualMachineInstance. */
  readonly instanceUid: string;
  /** UID of its last migration until then; empty for none. */
  readonly migrationUid: string;
}

/** By network and MAC address of the entry, as `identityOf` writes them. */
export type LeavingNetworks = ReadonlyMap<string, LeavingNetwork>;

const NONE: LeavingNetworks = new Map();
const AFTER_MIGRATION_MS = 300_000;
const WITHOUT_MIGRATION_MS = 3_600_000;

/** The content of the annotation of a VirtualMachineNetworkConfig. Invalid parts are left out. Never throws. */
export function readLeavingNetworks(object: KubernetesObject | undefined): LeavingNetworks {
  const text = object?.metadata.annotations?.[LEAVING_ANNOTATION];
  if (typeof text !== 'string') return NONE;
  const entries = Object.entries(parseAnnotationRecord(text)).flatMap(([identity, one]): [string, LeavingNetwork][] => {
    const sinceMs = parseTime(readText(one, 'since') ?? '');
    const [instanceUid, migrationUid = ''] = [readText(one, 'instance'), readText(one, 'migration')];
    return Number.isNaN(sinceMs) || instanceUid === undefined ? [] : [[identity, { sinceMs, instanceUid, migrationUid }]];
  });
  return new Map(entries);
}

/** The annotation's value; undefined for none. */
export function formatLeavingNetworks(leaving: LeavingNetworks): string | undefined {
  if (leaving.size === 0) return undefined;
  const entries = [...leaving].map(([identity, { sinceMs, instanceUid: instance, migrationUid: migration }]) => {
    return [identity, { since: formatTime(sinceMs), instance, ...(migration !== '' && { migration }) }];
  });
  return JSON.stringify(Object.fromEntries(entries));
}

export interface LeavingSettings {
  readonly virtualMachine: KubernetesObject;
  readonly observed: KubernetesObject | undefined;
  readonly known: MachineKnowledge;
  /** The entries of `observed` that no interface wants now. */
  readonly unwanted: readonly NetworkConfig[];
}

/** The networks that the guest may still use, of those entries. */
export function leavingNetworks({ virtualMachine, observed, known, unwanted }: LeavingSettings): LeavingNetworks {
  const { instance, nowMs } = known;
  if (instance === undefined) return NONE;
  const former = readLeavingNetworks(observed);
  const isLeft = hasChangedNetwork(virtualMachine, known);
  const entries = unwanted.flatMap((entry): [string, LeavingNetwork][] => {
    const identity = identityOf(entry);
    const before = former.get(identity);
    // What runs is not known: everything stays.
    if (typeof instance === 'string') return before === undefined ? [] : [[identity, before]];
    // A forged record of another MAC address counts for nothing, and one from the future begins now.
    if (!isLeft(entry)) return [];
    const one = before === undefined ? leavingNow(entry, instance, known) : notLater(before, nowMs);
    return one === undefined || isOver(one, instance, nowMs) ? [] : [[identity, one]];
  });
  return new Map(entries);
}

/** When to look again whether a guest has moved, milliseconds from now; undefined: never. */
export function untilNextLeave(leaving: LeavingNetworks, { instance, nowMs }: MachineKnowledge): number | undefined {
  if (leaving.size === 0 || nowMs === undefined || typeof instance !== 'object') return undefined;
  const times = [...leaving.values()].map((one) => overAtMs(one, instance) - nowMs);
  const next = Math.min(...times.filter((time) => Number.isFinite(time)));
  return Number.isFinite(next) ? Math.max(next, 0) : undefined;
}

/** True for an entry whose interface has another network in the instance now. */
function hasChangedNetwork(virtualMachine: KubernetesObject, known: MachineKnowledge): (entry: NetworkConfig) => boolean {
  const networksOf = networksOfMachine(virtualMachine, known);
  return ({ networkName, macAddress }) => {
    const networks = networksOf.get(parseMacAddress(macAddress) ?? '');
    return networks !== undefined && !networks.has(networkName);
  };
}

function notLater(one: LeavingNetwork, nowMs = one.sinceMs): LeavingNetwork {
  return one.sinceMs > nowMs ? { ...one, sinceMs: Math.floor(nowMs / 1_000) * 1_000 } : one;
}

/** Undefined if the interface was on that network only while another instance ran. */
function leavingNow(entry: NetworkConfig, instance: RunningInstance, known: MachineKnowledge): LeavingNetwork | undefined {
  const last = known.lastInstanceOn?.(identityOf(entry));
  if (last !== undefined && last !== instance.uid) return undefined;
  return { sinceMs: known.nowMs ?? 0, instanceUid: instance.uid, migrationUid: instance.migration?.uid ?? '' };
}

function isOver(one: LeavingNetwork, instance: RunningInstance, nowMs: number | undefined): boolean {
  if (one.instanceUid !== instance.uid) return true;
  return nowMs !== undefined && overAtMs(one, instance) <= nowMs;
}

/** When the former network counts as left, milliseconds since 1970; infinite if that is not known yet. */
function overAtMs({ sinceMs, migrationUid }: LeavingNetwork, { migration, needsMigration }: RunningInstance): number {
  const isUnderWay = migration !== undefined && migration.endedAtMs === undefined;
  if (needsMigration || isUnderWay) return Number.POSITIVE_INFINITY;
  const hasFollowed = migration?.hasSucceeded === true && migration.uid !== migrationUid;
  const afterMigrationMs = (migration?.endedAtMs ?? 0) + AFTER_MIGRATION_MS;
  return Math.max(afterMigrationMs, sinceMs + (hasFollowed ? AFTER_MIGRATION_MS : WITHOUT_MIGRATION_MS));
}
