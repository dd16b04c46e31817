import type { ApiObject, JsonObject } from '../api-object.js';
import { badRequest, invalidSubject } from '../failures.js';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.js';
import type { ApiCall } from './api-call.js';

/** The body as an object of the call's kind. Unknown fields are dropped with a warning, or refused. */
export function decodeObject(call: ApiCall, body: JsonObject): ApiObject {
  const object = asObject(call.type, body);
  const { unknownFields, object: decoded } = isOtherVersion(call.type, object)
    ? { unknownFields: Object.keys(object).filter((field) => !typeFields.has(field)), object }
    : call.type.strategy.decode(object);
  reportFields(call, [
    ...call.duplicateFields.map((field) => `duplicate field "${field}"`),
    ...unknownFields.map((field) => `unknown field "${field}"`),
  ]);
  assertKind(call.type, decoded);
  return decoded;
}

const typeFields = new Set(['apiVersion', 'kind', 'metadata']);

/** A version that is not served has no schema: every field is unknown, and then the version is refused. */
function isOtherVersion(type: ResourceType, object: ApiObject): boolean {
  return type.custom && object.apiVersion !== apiVersionOf(type);
}

/** A built-in kind may leave out what the path contains; a custom resource may not (and does not get here without). */
function asObject(type: ResourceType, body: JsonObject): ApiObject {
  const { apiVersion, kind, metadata } = body;
  return {
    ...body,
    apiVersion: typeof apiVersion === 'string' && apiVersion !== '' ? apiVersion : apiVersionOf(type),
    kind: typeof kind === 'string' && kind !== '' ? kind : type.kind,
    metadata: (metadata ?? {}) as JsonObject,
  };
}

function assertKind(type: ResourceType, object: ApiObject): void {
  const expected = apiVersionOf(type);
  if (object.apiVersion !== expected) {
    throw badRequest(`the API version in the data (${object.apiVersion}) does not match the expected API version (${expected})`);
  }
  if (object.kind === type.kind) return;
  const subject = type.group === '' ? object.kind : `${object.kind}.${type.group}`;
  throw invalidSubject({ subject, group: type.group, kind: object.kind, name: object.metadata.name ?? '' }, [
    {
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(object.kind)}: must be ${type.kind}`,
      field: 'kind',
    },
  ]);
}

/** Warns of fields (`unknown field "spec.x"`), or refuses the request if it asked for that. */
export function reportFields(call: ApiCall, texts: readonly string[]): void {
  if (texts.length === 0) return;
  switch (call.options.fieldValidation) {
    case 'Ignore':
      return;
    case 'Warn':
      call.warnings.push(...texts);
      return;
    case 'Strict': {
      const { kind, version } = call.type;
      throw badRequest(
        `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${texts.join(', ')}`,
      );
    }
    default:
      call.options.fieldValidation satisfies never;
  }
}
