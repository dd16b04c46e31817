/**
 * Plans the writes that make an object of any kind what a controller wants. The plan is a value: it can be printed, compared and tested without a
 * cluster.
 *
 * The controller owns the fields that `desired` specifies, and no others. Additions of other clients stay: labels, annotations, defaults, a number of
 * replicas that `desired` does not mention. After the plan is carried out, planning again gives `nothing`.
 */
import type { MergePatch } from '../api/object-client.js';
import { cutText } from '../object/cut-text.js';
import { isBeingDeleted, type KubernetesObject, type OwnerReference } from '../object/kubernetes-object.js';
import { isRecord, readField } from '../object/read-field.js';
import { type ImmutableField, immutableFieldsOf } from './immutable-fields.js';
import { mergePatchTowards } from './merge-patch-towards.js';

/** What has to be done so that an object is as it should be. */
export type OwnedObjectPlan =
  | { readonly kind: 'create'; readonly object: KubernetesObject }
  /** Changes only fields that `desired` specifies; to be written at the version of `object`. */
  | { readonly kind: 'patch'; readonly object: KubernetesObject; readonly patch: MergePatch }
  /** Deletes only this object, by its uid. `isReplaced`: it is created again once it is gone. */
  | { readonly kind: 'delete'; readonly object: KubernetesObject; readonly isReplaced: boolean }
  /** Nothing is written before a person decides; the message says what is wrong and what to do. */
  | { readonly kind: 'refuse'; readonly object: KubernetesObject; readonly message: string }
  /** The object is as desired, or is being deleted. */
  | { readonly kind: 'nothing' };

/** How a controller recognizes its own objects. An object of another owner is neither patched nor deleted. */
export interface Ownership {
  /** The owner of the objects. Each object records it, and the garbage collector deletes the objects with it. */
  readonly owner?: OwnerReference;
  /** Without an owner (objects in other namespaces cannot have one): true for the controller's own objects, by a label for example. */
  readonly isOwn?: (object: KubernetesObject) => boolean;
}

const NOTHING: OwnedObjectPlan = { kind: 'nothing' };
const MOST_VALUE_OCTETS = 200;

/**
 * The plan for one object.
 *
 * @param desired - undefined if it must not exist.
 * @param observed - the object of the same kind and name in the cluster; undefined if it does not exist.
 */
export function planOwnedObject(
  desired: KubernetesObject | undefined,
  observed: KubernetesObject | undefined,
  ownership: Ownership,
): OwnedObjectPlan {
  if (observed === undefined) return desired === undefined ? NOTHING : { kind: 'create', object: withOwner(desired, ownership) };
  if (isBeingDeleted(observed)) return NOTHING;
  const isOwn = isOwnedBy(observed, ownership);
  if (desired === undefined) return isOwn ? { kind: 'delete', object: observed, isReplaced: false } : NOTHING;
  if (!isOwn) return { kind: 'refuse', object: observed, message: describeOtherOwner(observed, ownership) };
  const changed = immutableFieldsOf(desired.kind, observed);
  const field = changed.fields.find((one) => isOther(desired, observed, one));
  if (field === undefined) return planPatch(desired, observed, ownership);
  if (changed.remedy === 'replace') return { kind: 'delete', object: observed, isReplaced: true };
  return { kind: 'refuse', object: observed, message: describeImmutable(desired, observed, field) };
}

/**
 * The plans for all objects of an owner: writes of the desired ones, and deletions of its own that are no longer desired. Empty plans are left out.
 *
 * @param observed - every object that may be the owner's; objects of others are left alone.
 */
export function planOwnedObjects(
  desired: readonly KubernetesObject[],
  observed: readonly KubernetesObject[],
  ownership: Ownership,
): readonly Exclude<OwnedObjectPlan, { readonly kind: 'nothing' }>[] {
  const there = new Map(observed.map((object) => [identityOf(object), object]));
  const wanted = new Set(desired.map(identityOf));
  const surplus = observed.filter((object) => !wanted.has(identityOf(object)));
  const plans = [
    ...desired.map((object) => planOwnedObject(object, there.get(identityOf(object)), ownership)),
    ...surplus.map((object) => planOwnedObject(undefined, object, ownership)),
  ];
  return plans.filter((plan) => plan.kind !== 'nothing');
}

/** True for an object of this controller. An owner is recognized by its uid: a later object of the same name is another owner. */
export function isOwnedBy({ metadata, ...object }: KubernetesObject, { owner, isOwn }: Ownership): boolean {
  if (owner !== undefined) return controllerOf({ metadata })?.uid === owner.uid;
  return isOwn?.({ ...object, metadata }) ?? false;
}

/** The owner that manages an object; there is at most one. */
export function controllerOf({ metadata }: KubernetesObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/**
 * The reference that objects carry to their owner: it manages them, and is not deleted before them in the foreground.
 *
 * @throws TypeError if the object has no apiVersion, kind or uid, or comes from a source with `metadataOnly`.
 */
export function toOwnerReference(owner: KubernetesObject): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  const { name, uid } = metadata;
  if (apiVersion === undefined || kind === undefined || uid === undefined)
    throw new TypeError(`owner ${name}: apiVersion, kind and metadata.uid are needed`);
  if (kind === 'PartialObjectMetadata')
    throw new TypeError(`owner ${name}: the kind of an object with metadata only is not known; add its apiVersion and kind`);
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

function planPatch(desired: KubernetesObject, observed: KubernetesObject, ownership: Ownership): OwnedObjectPlan {
  const patch = mergePatchTowards(ownedFieldsOf(withOwner(desired, ownership), observed), asRecord(observed));
  return patch === undefined ? NOTHING : { kind: 'patch', object: observed, patch };
}

/** Identity, status and other owners are never written. */
function ownedFieldsOf(desired: KubernetesObject, observed: KubernetesObject): Readonly<Record<string, unknown>> {
  const { apiVersion: _, kind: __, status: ___, metadata, ...fields } = asRecord(desired);
  const { labels, annotations, ownerReferences = [] } = metadata as KubernetesObject['metadata'];
  // Each stays in its place, so that the order of other owners does not change.
  const there = observed.metadata.ownerReferences ?? [];
  const owners = there.map((one) => ownerReferences.find(({ uid }) => uid === one.uid) ?? one);
  const missing = ownerReferences.filter((one) => !there.some(({ uid }) => uid === one.uid));
  return {
    metadata: {
      ...(!isEmpty(labels) && { labels }),
      ...(!isEmpty(annotations) && { annotations }),
      // A list is replaced as a whole.
      ...(ownerReferences.length > 0 && { ownerReferences: [...owners, ...missing] }),
    },
    ...fields,
  };
}

/** A server leaves out empty lists and objects. */
function isEmpty(entries: object | undefined): boolean {
  return Object.keys(entries ?? {}).length === 0;
}

function withOwner(desired: KubernetesObject, { owner }: Ownership): KubernetesObject {
  if (owner === undefined) return desired;
  const { metadata } = desired;
  const others = (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.uid);
  return { ...desired, metadata: { ...metadata, ownerReferences: [...others, owner] } };
}

/** True if `desired` specifies the field, and the object has something else there. */
function isOther(desired: KubernetesObject, observed: KubernetesObject, { path, isExact = false }: ImmutableField): boolean {
  const [wanted, there] = [desired, observed].map((object) => readField(object, ...path));
  if (wanted === undefined) return false;
  return differs(wanted, there) || (isExact && differs(there, wanted));
}

function differs(wanted: unknown, there: unknown): boolean {
  return mergePatchTowards({ field: wanted }, { field: there }) !== undefined;
}

function describeOtherOwner(observed: KubernetesObject, { owner }: Ownership): string {
  const manager = controllerOf(observed);
  const whose = manager === undefined ? 'has no owner' : `is owned by ${manager.kind} ${manager.name}`;
  const expected = owner === undefined ? 'by this controller' : `for ${owner.kind} ${owner.name}`;
  return `${describeObject(observed)} exists and was not created ${expected}: it ${whose}; delete it, or use another name`;
}

function describeImmutable(desired: KubernetesObject, observed: KubernetesObject, { path }: ImmutableField): string {
  const [wanted, there] = [desired, observed].map((object) => cutText(textOf(readField(object, ...path)), MOST_VALUE_OCTETS));
  const name = describeObject(observed);
  return `${path.join('.')} of ${name} is ${there} and cannot be changed to ${wanted}; delete the ${observed.kind ?? 'object'}, and it is created again`;
}

function describeObject({ kind = 'object', metadata: { namespace, name } }: KubernetesObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

/** The same for equal values, whatever the order of their keys. */
function textOf(value: unknown): string {
  if (value === undefined) return 'not set';
  return JSON.stringify(value, (_, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1))) : part,
  );
}

function identityOf({ kind, metadata: { namespace, name } }: KubernetesObject): string {
  return `${kind} ${namespace ?? ''}/${name}`;
}

function asRecord(object: KubernetesObject): Readonly<Record<string, unknown>> {
  return object as unknown as Readonly<Record<string, unknown>>;
}
