import type { Failure } from '../api-error.js';
import type { ApiObject, JsonObject } from '../api-object.js';
import { toUserInfo } from '../auth/user.js';
import type { AdmissionRequest } from '../request/request-chain.js';
import type { RuleTarget } from './match-webhook.js';

/** The AdmissionReview that a webhook gets; `target` is the name under which it asked for the resource. */
export const toAdmissionReview = (request: AdmissionRequest, target: RuleTarget, uid: string): JsonObject => {
  const { attributes, type, operation } = request;
  const { subresource, namespace } = attributes;
  const { group, version } = target;
  const inTarget = (object: ApiObject | undefined): ApiObject | null =>
    object === undefined ? null : { ...object, apiVersion: group === '' ? version : `${group}/${version}` };
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      kind: { group, version, kind: type.kind },
      resource: { group, version, resource: target.resource },
      ...(subresource === '' ? {} : { subResource: subresource }),
      requestKind: { group: type.group, version: type.version, kind: type.kind },
      requestResource: { group: type.group, version: type.version, resource: type.plural },
      ...(subresource === '' ? {} : { requestSubResource: subresource }),
      ...(nameOf(request) === '' ? {} : { name: nameOf(request) }),
      ...(namespace === '' ? {} : { namespace }),
      operation,
      userInfo: toUserInfo(attributes.user),
      object: inTarget(request.object),
      oldObject: inTarget(request.oldObject),
      dryRun: request.dryRun,
      options: toOptions(request),
    },
  };
};

const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions', CONNECT: 'ConnectOptions' };

/** A patch is shown as the create or update that it results in. */
const toOptions = ({ operation, options }: AdmissionRequest): JsonObject => {
  const { kind: _kind, apiVersion, force: _force, ...rest } = options;
  return { kind: optionKinds[operation], apiVersion: apiVersion ?? 'meta.k8s.io/v1', ...rest };
};

/** On a create the name is in the object only; generateName is resolved before admission. */
export const nameOf = ({ attributes: { name }, object, oldObject }: AdmissionRequest): string =>
  name || (object?.metadata.name ?? oldObject?.metadata.name ?? '');

/** What a webhook decided. */
export type ReviewAnswer =
  | { readonly kind: 'allowed'; readonly patch: readonly JsonObject[] | undefined; readonly warnings: readonly string[] }
  | { readonly kind: 'denied'; readonly failure: Failure; readonly warnings: readonly string[] }
  /** The answer is not valid: the webhook counts as failed. */
  | { readonly kind: 'broken'; readonly problem: string };

interface Response {
  readonly uid?: string;
  readonly allowed?: boolean;
  readonly status?: StatusOfDenial;
  readonly patch?: string;
  readonly patchType?: string;
  readonly warnings?: readonly string[];
}

interface StatusOfDenial {
  readonly code?: number;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: JsonObject;
}

/** Reads the answer of a webhook to the review with this uid. */
export const readReviewAnswer = (answer: JsonObject, uid: string, webhookName: string): ReviewAnswer => {
  const response = answer['response'] as Response | undefined;
  const problem = findProblem(answer, response, uid);
  if (problem !== undefined) return { kind: 'broken', problem: `received invalid webhook response: ${problem}` };
  const warnings = response?.warnings ?? [];
  if (response?.allowed !== true) return { kind: 'denied', failure: toFailure(response?.status, webhookName), warnings };
  const patch = response.patch === undefined ? undefined : decodePatch(response.patch);
  return { kind: 'allowed', patch, warnings };
};

const findProblem = (answer: JsonObject, response: Response | undefined, uid: string): string | undefined => {
  const { apiVersion, kind } = answer as { apiVersion?: string; kind?: string };
  if (apiVersion !== 'admission.k8s.io/v1' || kind !== 'AdmissionReview')
    return `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${apiVersion ?? ''}, Kind=${kind ?? ''}`;
  if (response === undefined) return 'webhook response was absent';
  if (response.uid !== uid) return `expected response.uid="${uid}", got "${response.uid ?? ''}"`;
  return findPatchProblem(response);
};

const findPatchProblem = ({ patch, patchType, allowed }: Response): string | undefined => {
  if (allowed !== true) return undefined;
  if (patch && !patchType) return 'webhook returned response.patch but not response.patchType';
  if (!patch && patchType) return `webhook returned response.patchType but not response.patch`;
  return patch && patchType !== 'JSONPatch' ? `webhook returned invalid response.patchType of "${patchType}"` : undefined;
};

const decodePatch = (patch: string): readonly JsonObject[] =>
  JSON.parse(Buffer.from(patch, 'base64').toString()) as readonly JsonObject[];

const toFailure = (status: StatusOfDenial | undefined, webhookName: string): Failure => {
  const { code = 0, message, reason, details } = status ?? {};
  const why = message || reason;
  const deniedBy = `admission webhook "${webhookName}" denied the request`;
  return {
    // A denial that calls itself a success is a denial.
    code: Math.max(code, 400),
    ...(reason ? { reason } : {}),
    message: why ? `${deniedBy}: ${why}` : `${deniedBy} without explanation`,
    ...(details === undefined ? {} : { details }),
  };
};
