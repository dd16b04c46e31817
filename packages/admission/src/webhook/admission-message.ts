/** AdmissionReview v1 on the wire. Source: admission.k8s.io/v1. */
import { isRecord, type KubernetesObject, readText } from '@vmdhcp/kube-runtime';
import type { AdmissionRequest, AdmissionResponse, JsonPatchOperation } from '@vmdhcp/reconciler';

/** A request, and what is needed for the response. */
export interface ReceivedReview {
  readonly uid: string;
  /** `ippools`, for example. */
  readonly resource: string;
  /** The user that sent the request to the API server. */
  readonly username: string;
  readonly request: AdmissionRequest;
}

export type DecodedReview =
  | { readonly ok: true; readonly review: ReceivedReview }
  /** Says what is wrong with it, for the log of the API server. */
  | { readonly ok: false; readonly message: string };

export interface AdmissionAnswer {
  readonly response: AdmissionResponse;
  readonly patch?: readonly JsonPatchOperation[];
}

const API_VERSION = 'admission.k8s.io/v1';
const OPERATIONS: readonly string[] = ['CREATE', 'UPDATE', 'DELETE'] satisfies AdmissionRequest['operation'][];

/** The request of an AdmissionReview, or what is wrong with it. @param body - JSON text. */
export function decodeReview(body: string): DecodedReview {
  const parsed = parseJson(body);
  const request = isRecord(parsed) ? parsed['request'] : undefined;
  const message = findMistake(parsed, request);
  if (message !== undefined) return { ok: false, message };
  const [object, oldObject] = [readObject(request, 'object'), readObject(request, 'oldObject')];
  return {
    ok: true,
    review: {
      uid: readText(request, 'uid') ?? '',
      resource: readText(request, 'resource', 'resource') ?? '',
      username: readText(request, 'userInfo', 'username') ?? '',
      request: {
        operation: readText(request, 'operation') as AdmissionRequest['operation'],
        ...(object && { object }),
        ...(oldObject && { oldObject }),
        namespace: readText(request, 'namespace') ?? '',
        name: readText(request, 'name') ?? '',
      },
    },
  };
}

function findMistake(review: unknown, request: unknown): string | undefined {
  if (!isRecord(review)) return 'the body is not a JSON object; send an AdmissionReview';
  if (review['kind'] !== 'AdmissionReview' || review['apiVersion'] !== API_VERSION)
    return `the body is not an AdmissionReview of ${API_VERSION}; set admissionReviewVersions of the webhook to v1`;
  if (!isRecord(request)) return 'the AdmissionReview has no request';
  if (!readText(request, 'uid')) return 'request.uid is missing';
  if (!OPERATIONS.includes(readText(request, 'operation') ?? ''))
    return `request.operation is none of ${OPERATIONS.join(', ')}; correct the rules of the webhook`;
  return findWrongObject(request);
}

function findWrongObject(request: Readonly<Record<string, unknown>>): string | undefined {
  const needed = request['operation'] === 'DELETE' ? 'oldObject' : 'object';
  for (const name of ['object', 'oldObject']) {
    const object = request[name];
    if (object === undefined || object === null) {
      if (name === needed) return `request.${name} is missing`;
    } else if (!isRecord(object) || !isRecord(object['metadata'])) return `request.${name} is not an object with metadata`;
    else if (hasTooManyValues(object))
      return `request.${name} has more than ${MOST_VALUES} values beside its status; write less into it`;
    else if (annotationsLength(object['metadata']) > MOST_ANNOTATIONS_LENGTH)
      return `request.${name} has annotations with more than ${MOST_ANNOTATIONS_LENGTH} characters; write less into them`;
  }
  return undefined;
}

/** The limits are as wide as those of the API server; a text may be a long list for our rules. */
const MOST_ANNOTATIONS_LENGTH = 256 * 1024;

function annotationsLength(metadata: Readonly<Record<string, unknown>>): number {
  const { annotations } = metadata;
  if (!isRecord(annotations)) return 0;
  return Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + String(value).length, 0);
}

/** An IPPool with lists of the maximum length has half of this. */
const MOST_VALUES = 50_000;
/** These may be long, and cost little: rules read one field of a status, and no managed fields. */
const NOT_COUNTED: ReadonlySet<string> = new Set(['status', 'managedFields']);

/** True for an object that no API server sends: the rules would take too long. */
function hasTooManyValues(object: Readonly<Record<string, unknown>>): boolean {
  const left: unknown[] = [object];
  let count = 0;
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const fields = Object.keys(value);
    count += fields.length;
    if (count > MOST_VALUES) return true;
    for (const field of fields) if (!NOT_COUNTED.has(field)) left.push((value as Readonly<Record<string, unknown>>)[field]);
  }
  return false;
}

function readObject(request: unknown, name: string): KubernetesObject | undefined {
  const object = isRecord(request) ? request[name] : undefined;
  return isRecord(object) ? (object as unknown as KubernetesObject) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The response to the request with this uid. */
export function encodeAnswer(uid: string, { response, patch = [] }: AdmissionAnswer): string {
  const patched = patch.length > 0 && response.allowed;
  const encoded = patched && { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
  return JSON.stringify({ apiVersion: API_VERSION, kind: 'AdmissionReview', response: { uid, ...response, ...encoded } });
}
