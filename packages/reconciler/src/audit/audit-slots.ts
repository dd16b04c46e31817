/**
 * The ConfigMaps of the records: their names, their content, and the next write or deletion. The number of slots is fixed, so that the rights of the
 * controller can name each one; a slot contains batches of any pools.
 */
import { AUDIT_LABEL } from '@vmdhcp/ippool-api/agent';
import { isRecord, type KubernetesObject, type MergePatch, octetsOf, readField, readText } from '@vmdhcp/kube-runtime';
import { type PoolLog, readPoolLog } from './pool-log.js';

/** The ConfigMap that says until when all records are complete. */
export const AUDIT_STATE_NAME = 'vmdhcp-audit';
/** As many as the Role of the chart names. */
export const AUDIT_SLOT_COUNT = 64;
/** `vmdhcp-audit-00` and so on. */
export const AUDIT_SLOT_NAMES: readonly string[] = Array.from(
  { length: AUDIT_SLOT_COUNT },
  (_, number) => `${AUDIT_STATE_NAME}-${String(number).padStart(2, '0')}`,
);
/** Slots are filled one after the other up to this size, because each write of a larger object costs more. */
export const SLOT_OCTETS = 131_072;
/** A ConfigMap has at most 1 MiB. */
const MOST_SLOT_OCTETS = 1_000_000;
/** The maximum of all stored octets: spread evenly, each slot still has room for one more batch. */
const MOST_OCTETS = AUDIT_SLOT_COUNT * 700_000;
/** The approximate octets of an assignment that has not ended. */
const OPEN_OCTETS = 300;
/** The octets of a pool without assignments, which stores since when its records are complete. */
const POOL_OCTETS = 150;
const KEY = /^\d{12}$/;

/** Records of one pool that were written together. */
export interface SlotBatch {
  readonly pool: string;
  /** Unique among all batches in all slots; a later batch has a higher number. */
  readonly number: number;
  readonly octets: number;
}

export interface AuditSlot {
  readonly name: string;
  readonly resourceVersion: string | undefined;
  readonly octets: number;
  /** Oldest first. */
  readonly batches: readonly SlotBatch[];
}

/** The content of all ConfigMaps. */
export interface StoredAudit {
  /** By name. */
  readonly slots: ReadonlyMap<string, AuditSlot>;
  /** By key of the pool. */
  readonly logs: ReadonlyMap<string, PoolLog>;
  /** The stored state; undefined if there is none. */
  readonly state: unknown;
}

/** Reads any objects, and ignores those that are not records. Never throws. */
export function readStoredAudit(configMaps: Iterable<KubernetesObject>): StoredAudit {
  const objects = [...configMaps];
  const state = objects.find(({ metadata }) => metadata.name === AUDIT_STATE_NAME);
  const slots = new Map<string, AuditSlot>();
  const batches = new Map<string, string[]>();
  for (const object of objects.filter(({ metadata }) => AUDIT_SLOT_NAMES.includes(metadata.name))) {
    slots.set(object.metadata.name, readSlot(object));
    for (const { pool, lines } of batchesOf(object)) {
      const ofPool = batches.get(pool) ?? [];
      ofPool.push(lines);
      batches.set(pool, ofPool);
    }
  }
  const logs = new Map([...batches].map(([pool, texts]) => [pool, readPoolLog(texts)]));
  return { slots, logs, state: readField(state, 'data', 'state') };
}

/** Never throws: invalid content only takes room. */
export function readSlot(object: KubernetesObject): AuditSlot {
  const { name, resourceVersion } = object.metadata;
  const octets = Object.entries(dataOf(object)).reduce((sum, [key, text]) => sum + sizeOf(key, text), 0);
  const batches = batchesOf(object).map(({ pool, number, octets: ofBatch }) => ({ pool, number, octets: ofBatch }));
  return { name, resourceVersion, octets, batches: batches.sort((one, other) => one.number - other.number) };
}

/** The size of these batches of a slot. */
export function readBatches(object: KubernetesObject, numbers: ReadonlySet<number>): PoolLog {
  return readPoolLog(batchesOf(object).flatMap(({ number, lines }) => (numbers.has(number) ? [lines] : [])));
}

/** An empty slot. */
export function emptySlot(namespace: string, name: string): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, labels: { [AUDIT_LABEL]: 'true' } } };
}

export interface SlotWrite {
  readonly slot: AuditSlot;
  readonly patch: MergePatch;
}

/**
 * The slot for the next batch of a pool: the first one with room, or the smallest one if all are full.
 *
 * @param text - the lines of the batch.
 * @returns undefined if there is no room in any.
 */
export function planSlotWrite(
  slots: ReadonlyMap<string, AuditSlot>,
  { pool, text }: { readonly pool: string; readonly text: string },
  slotOctets = SLOT_OCTETS,
): SlotWrite | undefined {
  const all = AUDIT_SLOT_NAMES.flatMap((name) => slots.get(name) ?? []);
  const batch = `${JSON.stringify({ pool })}\n${text}`;
  const octets = octetsOf(batch);
  const [smallest] = all.toSorted((one, other) => one.octets - other.octets);
  const slot = all.find((one) => one.octets + octets <= slotOctets) ?? smallest;
  if (slot === undefined || slot.octets + octets > MOST_SLOT_OCTETS) return undefined;
  const last = all.reduce((highest, { batches }) => Math.max(highest, batches.at(-1)?.number ?? 0), 0);
  return { slot, patch: { data: { [batchKey(last + 1)]: batch } } };
}

/** Batches of one pool, all in one slot. */
export interface SlotDrop {
  readonly pool: string;
  readonly slot: string;
  readonly numbers: ReadonlySet<number>;
}

/**
 * The batches to delete so that all records stay below this limit; undefined if they are below it. It selects the oldest of the pool with the most
 * octets besides assignments that have not ended, so a pool with few changes keeps its records, whatever happens in others. Assignments that have not
 * ended always have room.
 *
 * @param openOf - how many assignments of a pool have not ended.
 */
export function batchesToDrop(
  slots: ReadonlyMap<string, AuditSlot>,
  { mostOctets, slotOctets = SLOT_OCTETS }: { readonly mostOctets: number; readonly slotOctets?: number | undefined },
  openOf: (pool: string) => number,
): SlotDrop | undefined {
  const all = [...slots.values()];
  const total = all.reduce((sum, { octets }) => sum + octets, 0);
  if (total <= mostOctets) return undefined;
  const pools = [...octetsByPool(all)].map(([pool, octets]) => ({
    pool,
    octets,
    needed: openOf(pool) * OPEN_OCTETS + POOL_OCTETS,
  }));
  const needed = pools.reduce((sum, one) => sum + one.needed, 0);
  if (total <= Math.min(Math.max(mostOctets, 2 * needed), Math.max(MOST_OCTETS, needed))) return undefined;
  const [most] = pools.toSorted((one, other) => other.octets - other.needed - (one.octets - one.needed));
  return most === undefined ? undefined : oldestOf(most.pool, all, slotOctets);
}

/** The oldest batches that one patch can delete. */
function oldestOf(pool: string, slots: readonly AuditSlot[], mostOctets: number): SlotDrop | undefined {
  const own = slots.flatMap(({ name, batches }) =>
    batches.filter((batch) => batch.pool === pool).map((batch) => ({ name, ...batch })),
  );
  own.sort((one, other) => one.number - other.number);
  const slot = own[0]?.name;
  if (slot === undefined) return undefined;
  const numbers = new Set<number>();
  let octets = 0;
  for (const batch of own) {
    if (batch.name !== slot || octets >= mostOctets) break;
    numbers.add(batch.number);
    octets += batch.octets;
  }
  return { pool, slot, numbers };
}

/** Deletes batches. */
export function planSlotDrop({ numbers }: SlotDrop): MergePatch {
  return { data: Object.fromEntries([...numbers].map((number) => [batchKey(number), null])) };
}

function octetsByPool(slots: readonly AuditSlot[]): Map<string, number> {
  const octets = new Map<string, number>();
  for (const { batches } of slots)
    for (const batch of batches) octets.set(batch.pool, (octets.get(batch.pool) ?? 0) + batch.octets);
  return octets;
}

/** The first line names the pool. */
function batchesOf(object: KubernetesObject): (SlotBatch & { readonly lines: string })[] {
  return Object.entries(dataOf(object)).flatMap(([key, text]) => {
    if (!KEY.test(key) || typeof text !== 'string') return [];
    const end = text.includes('\n') ? text.indexOf('\n') : text.length;
    const pool = poolIn(text.slice(0, end));
    return pool === undefined ? [] : [{ pool, number: Number(key), octets: sizeOf(key, text), lines: text.slice(end + 1) }];
  });
}

function poolIn(line: string): string | undefined {
  try {
    return readText(JSON.parse(line), 'pool');
  } catch {
    return undefined;
  }
}

function dataOf(object: KubernetesObject): Readonly<Record<string, unknown>> {
  const data = readField(object, 'data');
  return isRecord(data) ? data : {};
}

function sizeOf(key: string, text: unknown): number {
  return octetsOf(key) + (typeof text === 'string' ? octetsOf(text) : 0);
}

function batchKey(number: number): string {
  return String(number).padStart(12, '0');
}
