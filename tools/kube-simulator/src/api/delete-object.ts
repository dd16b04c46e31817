import type { ApiObject, JsonObject, ObjectMeta } from '../api-object.js';
import { notFound, preconditionFailed } from '../failures.js';
import { formatTime } from '../resources/go-time.js';
import type { StoredObject } from '../store/collection.js';
import { type ApiCall, type ApiContext, admit, collectionOf, fromStored, keyOf, mutate, toStored } from './api-call.js';
import type { DeleteOptions } from './api-client.js';

const orphan = 'orphan';
const foreground = 'foregroundDeletion';

/** Deletes an object, or marks it if it has a finalizer. Returns the answer: a Status, or the object. */
export async function deleteObject(context: ApiContext, call: ApiCall, options: DeleteOptions): Promise<JsonObject> {
  const { type, attributes } = call;
  const key = keyOf(type, attributes.namespace, attributes.name);
  for (;;) {
    const stored = collectionOf(context, type).get(key);
    if (stored === undefined) throw notFound(type, attributes.name);
    assertPreconditions(call, options, stored.object.metadata);
    const warned = call.warnings.length;
    const review = { operation: 'DELETE', oldObject: fromStored(type, stored) } as const;
    await mutate(context, call, review);
    await admit(context, call, review);
    if (collectionOf(context, type).get(key) === stored) return remove(context, call, { key, stored, options });
    call.warnings.length = warned;
  }
}

function assertPreconditions(call: ApiCall, { preconditions }: DeleteOptions, metadata: ObjectMeta): void {
  const { uid, resourceVersion } = preconditions ?? {};
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw preconditionFailed(call.type, call.attributes.name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw preconditionFailed(call.type, call.attributes.name, why);
  }
}

interface Deletion {
  readonly key: string;
  readonly stored: StoredObject;
  readonly options: DeleteOptions;
}

function remove(context: ApiContext, call: ApiCall, deletion: Deletion): JsonObject {
  const { type } = call;
  const { key, stored, options } = deletion;
  const marked = mark(context, call, deletion);
  if (marked === undefined) return removeNow(context, call, { key, last: stored.object, options });
  const canonical = toStored(type, type.strategy.canonical(fromStored(type, { ...stored, object: marked }), undefined));
  if (options.dryRun === true) return canonical;
  const written =
    canonical.metadata === stored.object.metadata ? stored : putChanged(context, call, { key, stored, object: canonical });
  const mustStay = type.holdsItself?.(written.object) === true || finalizersOf(written.object.metadata).length > 0;
  if (mustStay || Number(written.object.metadata['deletionGracePeriodSeconds'] ?? 0) > 0) return fromStored(type, written);
  return removeNow(context, call, { key, last: written.object, options });
}

function putChanged(
  context: ApiContext,
  call: ApiCall,
  change: { readonly key: string; readonly stored: StoredObject; readonly object: ApiObject },
): StoredObject {
  if (JSON.stringify(change.object) === JSON.stringify(change.stored.object)) return change.stored;
  return context.store.put(call.type.storage, change.key, change.object);
}

interface Removal {
  readonly key: string;
  readonly last: ApiObject;
  readonly options: DeleteOptions;
}

function removeNow(context: ApiContext, call: ApiCall, { key, last, options }: Removal): JsonObject {
  const { type } = call;
  const removed = options.dryRun === true ? undefined : context.store.remove(type.storage, key, last);
  if (type.deletionAnswersObject) return removed === undefined ? last : fromStored(type, removed);
  const { name, uid } = last.metadata;
  const group = type.group === '' ? {} : { group: type.group };
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: name ?? '', ...group, kind: type.plural, uid: uid ?? '' },
  };
}

/** The stored object as the deletion changes it; undefined if it may be removed at once. */
function mark(context: ApiContext, call: ApiCall, { stored, options }: Deletion): ApiObject | undefined {
  const { type } = call;
  const { object } = stored;
  const nowMs = context.nowMs();
  if (type.markForDeletion !== undefined) return type.markForDeletion(object, formatTime(nowMs));
  const finalizers = finalizersForPropagation(finalizersOf(object.metadata), options);
  const grace = graceOf(type, object, options);
  if (grace === undefined && finalizers.length === 0) return undefined;
  return { ...object, metadata: markedMetadata(object.metadata, { finalizers, grace, nowMs }) };
}

/** Seconds that the deletion has to wait from now on; undefined for kinds that do not wait. */
function graceOf(type: ApiCall['type'], object: ApiObject, options: DeleteOptions): number | undefined {
  if (type.gracePeriodSeconds === undefined) return undefined;
  const requested = options.gracePeriodSeconds;
  const pending = object.metadata['deletionGracePeriodSeconds'];
  if (object.metadata['deletionTimestamp'] === undefined) return type.gracePeriodSeconds(object, requested);
  return typeof pending === 'number' ? Math.min(pending, requested ?? pending) : 0;
}

interface Marks {
  readonly finalizers: readonly string[];
  readonly grace: number | undefined;
  readonly nowMs: number;
}

function markedMetadata(metadata: ObjectMeta, { finalizers, grace, nowMs }: Marks): ObjectMeta {
  const { finalizers: _old, ...rest } = metadata;
  const kept = finalizers.length === 0 ? rest : { ...rest, finalizers };
  const isMarked = metadata['deletionTimestamp'] !== undefined;
  const pending = metadata['deletionGracePeriodSeconds'];
  if (isMarked && (grace === undefined || grace === pending)) return kept;
  const generation = metadata['generation'];
  return {
    ...kept,
    ...(isMarked || typeof generation !== 'number' ? {} : { generation: generation + 1 }),
    deletionTimestamp: formatTime(nowMs + (grace ?? 0) * 1000),
    deletionGracePeriodSeconds: grace ?? 0,
  };
}

function finalizersOf(metadata: ObjectMeta): readonly string[] {
  return (metadata['finalizers'] ?? []) as readonly string[];
}

/** The garbage collector removes its finalizer when it has done what the policy asks for. */
function finalizersForPropagation(finalizers: readonly string[], { propagationPolicy }: DeleteOptions): readonly string[] {
  if (propagationPolicy === undefined) return finalizers;
  const others = finalizers.filter((finalizer) => finalizer !== orphan && finalizer !== foreground);
  if (propagationPolicy === 'Orphan') return [...others, orphan];
  return propagationPolicy === 'Foreground' ? [...others, foreground] : others;
}
