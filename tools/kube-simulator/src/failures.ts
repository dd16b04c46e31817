/** The failures that the API server answers with, in its own words. */
import { ApiError, type Cause } from './api-error.js';
import type { JsonObject } from './api-object.js';

interface Names {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

/** `ippools.network.harvesterhci.io`, `pods`. */
export function qualifiedResource(type: { readonly group: string; readonly plural: string }): string {
  return type.group === '' ? type.plural : `${type.plural}.${type.group}`;
}

/** `IPPool.network.harvesterhci.io`, `Pod`. */
function qualifiedKind(type: { readonly group: string; readonly kind: string }): string {
  return type.group === '' ? type.kind : `${type.kind}.${type.group}`;
}

const withGroup = (group: string): JsonObject => (group === '' ? {} : { group });
const resourceDetails = (type: Names, name: string): JsonObject => ({ name, ...withGroup(type.group), kind: type.plural });

export function notFound(type: Names, name: string): ApiError {
  return new ApiError({
    code: 404,
    reason: 'NotFound',
    message: `${qualifiedResource(type)} "${name}" not found`,
    details: resourceDetails(type, name),
  });
}

/** A subresource or method that a built-in kind does not have. */
export function resourceNotFound(): ApiError {
  return new ApiError({
    code: 404,
    reason: 'NotFound',
    message: 'the server could not find the requested resource',
    details: {},
  });
}

export function alreadyExists(type: Names, name: string, isBeingDeleted = false): ApiError {
  return new ApiError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${isBeingDeleted ? 'object is being deleted: ' : ''}${qualifiedResource(type)} "${name}" already exists`,
    details: resourceDetails(type, name),
  });
}

export function conflict(type: Names, name: string, why: string): ApiError {
  return new ApiError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualifiedResource(type)} "${name}": ${why}`,
    details: resourceDetails(type, name),
  });
}

/** A deletion's precondition names the kind, not the resource. */
export function preconditionFailed(type: Names, name: string, why: string): ApiError {
  return new ApiError({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${qualifiedKind(type)} "${name}": ${why}`,
    details: { name, ...withGroup(type.group), kind: type.kind },
  });
}

export const modifiedMeanwhile = 'the object has been modified; please apply your changes to the latest version and try again';

export function badRequest(message: string): ApiError {
  return new ApiError({ code: 400, reason: 'BadRequest', message });
}

export function internalError(message: string): ApiError {
  return new ApiError({ code: 500, message });
}

export function forbidden(
  type: Names,
  name: string,
  why: { readonly message: string; readonly causes?: readonly Cause[] },
): ApiError {
  return new ApiError({
    code: 403,
    reason: 'Forbidden',
    message: `${qualifiedResource(type)} "${name}" is forbidden: ${why.message}`,
    details: { ...resourceDetails(type, name), ...(why.causes === undefined ? {} : { causes: why.causes.map(causeToJson) }) },
  });
}

export function methodNotAllowed(): ApiError {
  return new ApiError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  });
}

/** Custom resources name their kind. */
export function methodNotSupported(type: Names, verb: string): ApiError {
  return new ApiError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: `${verb} is not supported on resources of kind "${qualifiedResource(type)}"`,
    details: { ...withGroup(type.group), kind: type.plural },
  });
}

/** Clients that recreate deleted objects would keep their definition forever. */
export function definitionTerminating(type: Names): ApiError {
  return new ApiError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'create not allowed while custom resource definition is terminating',
    details: { ...withGroup(type.group), kind: type.plural },
  });
}

export function notAcceptable(): ApiError {
  return new ApiError({
    code: 406,
    reason: 'NotAcceptable',
    message:
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  });
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  return new ApiError({
    code: 415,
    reason: 'UnsupportedMediaType',
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  });
}

export function requestTooLarge(why: string): ApiError {
  return new ApiError({ code: 413, reason: 'RequestEntityTooLarge', message: `Request entity too large: ${why}` });
}

export function tooLargeResourceVersion(requested: string, current: number): ApiError {
  return new ApiError({
    code: 504,
    reason: 'Timeout',
    message: `Timeout: Too large resource version: ${requested}, current: ${current}`,
    details: { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 },
    retryAfterSeconds: 1,
  });
}

export function expired(message: string): ApiError {
  return new ApiError({ code: 410, reason: 'Expired', message });
}

function causeToJson(cause: Cause): JsonObject {
  return { reason: cause.reason, message: cause.message, field: cause.field };
}

interface Invalid {
  /** `IPPool.network.harvesterhci.io`; some failures name the resource instead. */
  readonly subject: string;
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** 422. The message names each cause once, details list them all. */
export function invalidSubject(subject: Invalid, causes: readonly Cause[]): ApiError {
  const texts = [...new Set(causes.map((cause) => `${cause.field}: ${cause.message}`))];
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new ApiError({
    code: 422,
    reason: 'Invalid',
    message: `${subject.subject} "${subject.name}" is invalid: ${text}`,
    details: {
      ...(subject.name === '' ? {} : { name: subject.name }),
      ...withGroup(subject.group),
      kind: subject.kind,
      causes: causes.map(causeToJson),
    },
  });
}

export function invalid(type: Names & { readonly reportedGroup?: string }, name: string, causes: readonly Cause[]): ApiError {
  const { kind } = type;
  const group = type.reportedGroup ?? type.group;
  return invalidSubject({ subject: qualifiedKind({ group, kind }), group, kind, name }, causes);
}

/** 422 of ListOptions, DeleteOptions and the like. */
export function invalidOptions(kind: string, causes: readonly Cause[]): ApiError {
  return invalidSubject({ subject: `${kind}.meta.k8s.io`, group: 'meta.k8s.io', kind, name: '' }, causes);
}

/** The Status object for a failure. */
export function statusOf(error: ApiError): JsonObject {
  const { failure } = error;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: failure.continueToken === undefined ? {} : { continue: failure.continueToken },
    status: 'Failure',
    message: failure.message,
    ...(failure.reason === undefined ? {} : { reason: failure.reason }),
    ...(failure.details === undefined ? {} : { details: failure.details }),
    code: failure.code,
  };
}
