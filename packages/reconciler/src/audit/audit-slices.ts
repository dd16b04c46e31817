/** The ConfigMaps of the records: their names, what is in them, and which one is written or deleted next. */
import { AUDIT_LABEL, AUDIT_POOL_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import { fnv1a64, isRecord, type KubernetesObject, type MergePatch, octetsOf, readField } from '@vmdhcp/kube-runtime';
import { type PoolLog, readPoolLog } from './pool-log.js';

/** The ConfigMap that tells until when all records are complete. */
export const AUDIT_STATE_NAME = 'vmdhcp-audit';
/** Records of a pool are in as many slices of this size as there is room for: the larger an object, the more each write of it costs. */
const MOST_SLICE_OCTETS = 131_072;

/** One ConfigMap with records of one pool. */
export interface AuditSlice {
  readonly name: string;
  /** A later slice of the pool has a higher one. */
  readonly number: number;
  readonly uid: string;
  readonly resourceVersion: string | undefined;
  readonly octets: number;
  /** Of the next batch. */
  readonly nextBatch: number;
}

/** What was read of all ConfigMaps. */
export interface StoredAudit {
  /** By key of the pool, oldest first. */
  readonly slices: ReadonlyMap<string, readonly AuditSlice[]>;
  readonly logs: ReadonlyMap<string, PoolLog>;
  /** As it is stored; undefined: there is none. */
  readonly state: unknown;
  readonly stateVersion: string | undefined;
}

/** Reads any objects; those that are no records do not count. Never throws. */
export function readStoredAudit(configMaps: Iterable<KubernetesObject>): StoredAudit {
  const objects = [...configMaps];
  const state = objects.find(({ metadata }) => metadata.name === AUDIT_STATE_NAME);
  const slices = new Map<string, AuditSlice[]>();
  const batches = new Map<string, unknown[]>();
  for (const object of objects) {
    const pool = poolOf(object);
    const slice = readSlice(object);
    if (pool === undefined || slice === undefined) continue;
    slices.set(pool, [...(slices.get(pool) ?? []), slice]);
    batches.set(pool, [...(batches.get(pool) ?? []), ...batchesOf(object)]);
  }
  for (const ofPool of slices.values()) ofPool.sort((one, other) => one.number - other.number);
  const logs = new Map([...batches].map(([pool, texts]) => [pool, readPoolLog(texts)]));
  return { slices, logs, state: readField(state, 'data', 'state'), stateVersion: state?.metadata.resourceVersion };
}

/** Undefined: the object is no slice, or was renamed. */
function poolOf({ metadata: { name, annotations } }: KubernetesObject): string | undefined {
  const pool = annotations?.[AUDIT_POOL_ANNOTATION];
  return pool !== undefined && name.startsWith(prefixOf(pool)) ? pool : undefined;
}

/** Undefined: the object is no slice. */
export function readSlice(object: KubernetesObject): AuditSlice | undefined {
  const { name, uid = '', resourceVersion } = object.metadata;
  const number = Number(name.slice(name.lastIndexOf('-') + 1));
  if (!Number.isSafeInteger(number) || number < 0) return undefined;
  const data = readField(object, 'data');
  const entries = Object.entries(isRecord(data) ? data : {});
  const octets = entries.reduce((sum, [key, text]) => sum + octetsOf(key) + (typeof text === 'string' ? octetsOf(text) : 0), 0);
  const last = Math.max(-1, ...entries.map(([key]) => Number(key)).filter(Number.isSafeInteger));
  return { name, number, uid, resourceVersion, octets, nextBatch: last + 1 };
}

/** The texts in a slice. */
export function batchesOf(object: KubernetesObject): unknown[] {
  const data = readField(object, 'data');
  return Object.values(isRecord(data) ? data : {});
}

export type SliceWrite =
  | { readonly kind: 'create'; readonly object: KubernetesObject }
  | { readonly kind: 'patch'; readonly name: string; readonly resourceVersion: string | undefined; readonly patch: MergePatch };

export interface SlicePlace {
  readonly pool: string;
  readonly namespace: string;
  /** How large a slice may become; undefined: `MOST_SLICE_OCTETS`. */
  readonly sliceOctets: number | undefined;
}

/** Where the next batch of a pool goes: to its last slice while that has room. */
export function planSliceWrite(
  { pool, namespace, sliceOctets = MOST_SLICE_OCTETS }: SlicePlace,
  slices: readonly AuditSlice[],
  text: string,
): SliceWrite {
  const last = slices.at(-1);
  if (last !== undefined && last.octets + octetsOf(text) <= sliceOctets)
    return {
      kind: 'patch',
      name: last.name,
      resourceVersion: last.resourceVersion,
      patch: { data: { [batchKey(last.nextBatch)]: text } },
    };
  const metadata = {
    namespace,
    name: sliceName(pool, (last?.number ?? -1) + 1),
    labels: { [AUDIT_LABEL]: 'true' },
    annotations: { [AUDIT_POOL_ANNOTATION]: pool },
  };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [batchKey(0)]: text } };
  return { kind: 'create', object };
}

/** What an assignment that has not ended needs, about. */
const OPEN_OCTETS = 300;

/**
 * The slice to delete, so that all records have no more than these octets; undefined: they have not. It is the oldest of the pool that has
 * the most: a pool with few changes keeps its records, whatever happens in others. Assignments that have not ended always have room.
 */
export function sliceToDrop(
  slices: ReadonlyMap<string, readonly AuditSlice[]>,
  mostOctets: number,
  openCount: number,
): { readonly pool: string; readonly slice: AuditSlice } | undefined {
  const sizes = [...slices].map(([pool, ofPool]) => ({ pool, ofPool, octets: octetsIn(ofPool) }));
  const total = sizes.reduce((sum, { octets }) => sum + octets, 0);
  if (total <= Math.max(mostOctets, 2 * openCount * OPEN_OCTETS)) return undefined;
  const [largest] = sizes.filter(({ ofPool }) => ofPool.length > 1).toSorted((one, other) => other.octets - one.octets);
  const oldest = largest?.ofPool[0];
  return largest === undefined || oldest === undefined ? undefined : { pool: largest.pool, slice: oldest };
}

function octetsIn(slices: readonly AuditSlice[]): number {
  return slices.reduce((sum, { octets }) => sum + octets, 0);
}

/** Names end with a number that grows. */
export function sliceName(pool: string, number: number): string {
  return `${prefixOf(pool)}${number}`;
}

function prefixOf(pool: string): string {
  return `${AUDIT_STATE_NAME}-${fnv1a64(pool).toString(16).padStart(16, '0')}-`;
}

function batchKey(number: number): string {
  return String(number).padStart(6, '0');
}
