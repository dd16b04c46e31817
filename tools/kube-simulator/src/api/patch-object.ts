import { ApiError } from '../api-error.js';
import type { ApiObject, Json, JsonObject, ObjectMeta } from '../api-object.js';
import { badRequest, conflict, invalidSubject, modifiedMeanwhile, notFound, unsupportedMediaType } from '../failures.js';
import { section, textOf } from '../json-parts.js';
import { applyJsonPatch } from '../patch/json-patch.js';
import { applyMergePatch } from '../patch/merge-patch.js';
import { applyConfiguration } from '../patch/server-side-apply.js';
import { applyStrategicMergePatch } from '../patch/strategic-merge-patch.js';
import { formatTime } from '../resources/go-time.js';
import { isObject } from '../resources/go-type.js';
import { type ApiCall, type ApiContext, collectionOf, keyOf, subresourceOf, type Written } from './api-call.js';
import type { PatchType } from './api-client.js';
import { assertSameNamespace, createObject } from './create-object.js';
import { assertSameName, updateObject } from './update-object.js';

export interface Patch {
  readonly type: PatchType;
  readonly body: Json;
}

/** Changes an object by a patch and returns it. Server-side apply creates what does not exist. */
export async function patchObject(context: ApiContext, call: ApiCall, patch: Patch): Promise<Written> {
  const { type, attributes } = call;
  const key = keyOf(type, attributes.namespace, attributes.name);
  const isNew = collectionOf(context, type).get(key) === undefined;
  if (patch.type === 'apply' && isNew && attributes.subresource === '') return applyNew(context, call, patch);
  if (isNew) throw notFound(type, attributes.name);
  return updateObject(context, call, (existing) => patched(context, call, { patch, existing }));
}

function applyNew(context: ApiContext, call: ApiCall, patch: Patch): Promise<Written> {
  return createObject(context, call, applied(context, call, { patch, live: undefined }));
}

/** The object after a server-side apply. */
function applied(
  context: ApiContext,
  call: ApiCall,
  { patch, live }: { readonly patch: Patch; readonly live: JsonObject | undefined },
): JsonObject {
  const { type, attributes, options } = call;
  if (!isObject(patch.body)) throw badRequest('error decoding patch');
  assertApplicable(call, patch.body, live);
  const metadata = { ...(patch.body['metadata'] as JsonObject | undefined), name: attributes.name };
  const hasStatus = type.subresources.some((subresource) => subresource.name === 'status');
  return applyConfiguration({
    live,
    applied: { ...patch.body, metadata },
    manager: options.fieldManager,
    force: options.force,
    schema: type.schema,
    time: formatTime(context.nowMs()),
    subresource: attributes.subresource,
    ignoredFields: hasStatus ? ['status'] : [],
  });
}

function assertApplicable(call: ApiCall, body: JsonObject, live: JsonObject | undefined): void {
  const { apiVersion = '', kind = '' } = body;
  if (apiVersion === '' || kind === '')
    throw badRequest(`invalid object type: ${textOf(apiVersion) || '/'}, Kind=${textOf(kind)}`);
  const metadata = (body['metadata'] ?? {}) as ObjectMeta;
  assertSameName(call, metadata.name);
  assertSameNamespace(call, metadata);
  const { resourceVersion } = metadata;
  if (resourceVersion === undefined || live === undefined) return;
  if (resourceVersion !== (live['metadata'] as ObjectMeta).resourceVersion) {
    throw conflict(call.type, call.attributes.name, modifiedMeanwhile);
  }
}

interface Patching {
  readonly patch: Patch;
  readonly existing: ApiObject;
}

function patched(context: ApiContext, call: ApiCall, { patch, existing }: Patching): ApiObject {
  const subresource = subresourceOf(call);
  const before: JsonObject = subresource?.project === undefined ? existing : subresource.project(existing);
  const after =
    patch.type === 'apply' ? applied(context, call, { patch, live: before }) : applyPatch(call, patch.type, { patch, before });
  if (after === before) return existing;
  if (subresource?.apply !== undefined) {
    assertUnchanged(call, section(after, 'metadata')['resourceVersion'], existing);
    return subresource.apply(existing, after);
  }
  const decoded = call.type.strategy.decode(after as ApiObject);
  reportPatchedFields(call, decoded.unknownFields, after);
  assertSameName(call, decoded.object.metadata.name);
  assertSameNamespace(call, decoded.object.metadata);
  assertUnchanged(call, decoded.object.metadata.resourceVersion, existing);
  return decoded.object;
}

/** @throws ApiError 409 if the patch names a resourceVersion that the object does not have. */
function assertUnchanged(call: ApiCall, sent: Json | undefined, existing: ApiObject): void {
  if (sent !== undefined && sent !== existing.metadata.resourceVersion)
    throw conflict(call.type, call.attributes.name, modifiedMeanwhile);
}

function applyPatch(
  call: ApiCall,
  type: Exclude<PatchType, 'apply'>,
  { patch, before }: { readonly patch: Patch; readonly before: JsonObject },
): JsonObject {
  switch (type) {
    case 'json':
      return applyJsonPatch(before, patch.body);
    case 'merge':
      return applyMergePatch(before, patch.body);
    case 'strategic':
      if (call.type.custom) throw unsupportedMediaType(patchMediaTypes(true));
      return applyStrategicMergePatch(before, patch.body);
    default:
      return type satisfies never;
  }
}

export function patchMediaTypes(custom: boolean): readonly string[] {
  const strategic = custom ? [] : ['application/strategic-merge-patch+json'];
  return ['application/json-patch+json', 'application/merge-patch+json', ...strategic, 'application/apply-patch+yaml'];
}

/** A patch that is refused because of its fields shows the whole object. */
function reportPatchedFields(call: ApiCall, unknownFields: readonly string[], object: JsonObject): void {
  if (unknownFields.length === 0 || call.options.fieldValidation === 'Ignore') return;
  const texts = unknownFields.map((field) => `unknown field "${field}"`);
  if (call.options.fieldValidation === 'Warn') {
    call.warnings.push(...texts);
    return;
  }
  const message = `Invalid value: ${JSON.stringify(JSON.stringify(object))}: strict decoding error: ${texts.join(', ')}`;
  const error = invalidSubject({ subject: '', group: '', kind: '', name: '' }, [
    { reason: 'FieldValueInvalid', message, field: 'patch' },
  ]);
  const { causes } = error.failure.details as JsonObject;
  throw new ApiError({ ...error.failure, details: { causes: causes ?? [] } });
}
