import { ApiError } from '../api-error.js';
import type { ApiObject, Json, JsonObject } from '../api-object.js';
import { conflict, invalidSubject, modifiedMeanwhile, unsupportedMediaType } from '../failures.js';
import { applyJsonPatch } from '../patch/json-patch.js';
import { applyMergePatch } from '../patch/merge-patch.js';
import { applyStrategicMergePatch } from '../patch/strategic-merge-patch.js';
import { type ApiCall, type ApiContext, subresourceOf, type Written } from './api-call.js';
import type { PatchType } from './api-client.js';
import { assertSameNamespace } from './create-object.js';
import { assertSameName, updateObject } from './update-object.js';

export interface Patch {
  readonly type: PatchType;
  readonly body: Json;
}

/** Changes an object by a patch and returns it. */
export function patchObject(context: ApiContext, call: ApiCall, patch: Patch): Written {
  return updateObject(context, call, (existing) => patched(call, { patch, existing }));
}

interface Patching {
  readonly patch: Patch;
  readonly existing: ApiObject;
}

function patched(call: ApiCall, { patch, existing }: Patching): ApiObject {
  const subresource = subresourceOf(call);
  const before: JsonObject = subresource?.project === undefined ? existing : subresource.project(existing);
  const after = applyPatch(call, patch, before);
  if (after === before) return existing;
  if (subresource?.apply !== undefined) return subresource.apply(existing, after);
  const decoded = call.type.strategy.decode(after as ApiObject);
  reportPatchedFields(call, decoded.unknownFields, after);
  assertSameName(call, decoded.object.metadata.name);
  assertSameNamespace(call, decoded.object.metadata);
  const { resourceVersion } = decoded.object.metadata;
  if (resourceVersion !== undefined && resourceVersion !== existing.metadata.resourceVersion) {
    throw conflict(call.type, call.attributes.name, modifiedMeanwhile);
  }
  return decoded.object;
}

function applyPatch(call: ApiCall, { type, body }: Patch, before: JsonObject): JsonObject {
  switch (type) {
    case 'json':
      return applyJsonPatch(before, body);
    case 'merge':
      return applyMergePatch(before, body);
    case 'strategic':
      if (call.type.custom) throw unsupportedMediaType(patchMediaTypes(true));
      return applyStrategicMergePatch(before, body);
    default:
      return type satisfies never;
  }
}

export function patchMediaTypes(custom: boolean): readonly string[] {
  const strategic = custom ? [] : ['application/strategic-merge-patch+json'];
  return ['application/json-patch+json', 'application/merge-patch+json', ...strategic];
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
