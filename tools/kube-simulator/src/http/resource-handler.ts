/** Serves requests for resources: reads the request, calls the API, puts the answer into the form that was asked for. */

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { stringify as stringifyYaml } from 'yaml';
import {
  type ApiCall,
  type ApiContext,
  type CallOptions,
  collectionOf,
  fromStored,
  jsonOf,
  keyOf,
  subresourceOf,
  type Written,
} from '../api/api-call.js';
import type { DeleteOptions, PatchType } from '../api/api-client.js';
import { connectObject } from '../api/connect-object.js';
import { createObject } from '../api/create-object.js';
import { deleteCollection } from '../api/delete-collection.js';
import { deleteObject } from '../api/delete-object.js';
import { assertKnown, type ListOptions, listObjects } from '../api/list-objects.js';
import { patchMediaTypes, patchObject } from '../api/patch-object.js';
import { replaceObject, updateObject } from '../api/update-object.js';
import type { Cause } from '../api-error.js';
import type { ApiObject, JsonObject } from '../api-object.js';
import {
  badRequest,
  invalidOptions,
  methodNotAllowed,
  methodNotSupported,
  notFound,
  resourceNotFound,
  unsupportedMediaType,
} from '../failures.js';
import { textOf } from '../json-parts.js';
import type { RequestAttributes } from '../request/request-chain.js';
import type { ResourceType } from '../resources/resource-type.js';
import { type IncludeObject, listJson, partialList, partialObject, tableOfList, tableOfObject } from './answer-forms.js';
import { duplicateFields } from './duplicate-fields.js';
import { type AnswerForm, negotiate } from './negotiate.js';
import { mediaTypeOf, parseObject, parseOptions, parsePatch, readBody } from './read-body.js';
import { WatchStream } from './watch-stream.js';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  /** All headers, if another server wrote them; absent if this server writes them. */
  readonly headers?: OutgoingHttpHeaders;
}

export interface ResourceRequest {
  readonly attributes: RequestAttributes;
  readonly type: ResourceType;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly warnings: string[];
}

export class ResourceHandler {
  readonly #context: ApiContext;
  /** Open watches: they are dropped by faults and when the server stops. */
  readonly watches = new Set<WatchStream>();

  constructor(context: ApiContext) {
    this.#context = context;
    // Ends the watches of a kind that is gone or was redefined.
    context.registry.listen(() => {
      for (const stream of this.watches) if (!context.registry.serves(stream.call.type)) stream.end();
    });
  }

  /** Returns the answer. A watch is answered in pieces: see `watch`. */
  async handle(resource: ResourceRequest): Promise<Answer> {
    assertMethod(resource);
    const form = negotiate(resource.request.headers.accept);
    const call = callOf(resource);
    switch (resource.attributes.verb) {
      case 'get':
        return this.#get(call, resource, form);
      case 'list':
        return this.#list(call, resource, form);
      case 'create':
        return this.#create(call, resource, form);
      case 'update':
        return this.#update(call, resource, form);
      case 'patch':
        return this.#patch(call, resource, form);
      case 'delete':
        return jsonAnswer(form, 200, await deleteObject(this.#context, call, await deleteOptions(resource)));
      case 'deletecollection':
        return this.#deleteCollection(call, resource);
      default:
        throw methodNotAllowed();
    }
  }

  /** Writes events until the watch ends. */
  async watch(resource: ResourceRequest, response: ServerResponse): Promise<void> {
    assertMethod(resource);
    const form = negotiate(resource.request.headers.accept);
    const { query } = resource;
    const watch = { call: callOf(resource), query, form, includeObject: includeObjectOf(query) };
    const stream = new WatchStream(this.#context, watch, response);
    this.watches.add(stream);
    try {
      await stream.run();
    } finally {
      this.watches.delete(stream);
    }
  }

  #get(call: ApiCall, { query }: ResourceRequest, form: AnswerForm): Answer {
    const { type, attributes } = call;
    assertKnown(this.#context, query.get('resourceVersion') ?? '');
    const stored = collectionOf(this.#context, type).get(keyOf(type, attributes.namespace, attributes.name));
    if (stored === undefined) throw notFound(type, attributes.name);
    const project = subresourceOf(call)?.project;
    const object = fromStored(type, stored);
    if (project !== undefined) return jsonAnswer(form, 200, project(object));
    return objectAnswer({ call, query, form }, { object, json: jsonOf(type, stored), created: false });
  }

  #list(call: ApiCall, { query }: ResourceRequest, form: AnswerForm): Answer {
    const { type } = call;
    const list = listObjects(this.#context, call, listOptionsOf(query));
    if (form.as === 'partial') return jsonAnswer(form, 200, partialList(type, list, form.metaVersion));
    if (form.as === 'table') {
      const options = { metaVersion: form.metaVersion, includeObject: includeObjectOf(query), withColumns: true };
      return jsonAnswer(form, 200, tableOfList(type, list, options));
    }
    const json = listJson(type, list);
    return form.media === 'json' ? rawAnswer(200, json) : jsonAnswer(form, 200, JSON.parse(json.toString('utf8')) as JsonObject);
  }

  async #create(plain: ApiCall, resource: ResourceRequest, form: AnswerForm): Promise<Answer> {
    const { body, call } = await readObject(resource, plain);
    const connect = subresourceOf(call)?.connect ?? (call.attributes.subresource === '' ? call.type.connect : undefined);
    if (connect !== undefined) return jsonAnswer(form, 201, await connectObject(this.#context, call, { connect, body }));
    const apply = subresourceOf(call)?.apply;
    if (apply === undefined)
      return objectAnswer({ call, query: resource.query, form }, await createObject(this.#context, call, body));
    await updateObject(this.#context, call, (existing) => apply(existing, body));
    return jsonAnswer(form, 201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
  }

  async #update(plain: ApiCall, resource: ResourceRequest, form: AnswerForm): Promise<Answer> {
    const { body, call } = await readObject(resource, plain);
    return this.#answerWrite(call, { query: resource.query, form }, await replaceObject(this.#context, call, body));
  }

  async #patch(call: ApiCall, resource: ResourceRequest, form: AnswerForm): Promise<Answer> {
    const mediaType = mediaTypeOf(resource.request);
    const type = patchTypes[resource.request.headers['content-type'] === undefined ? '' : mediaType];
    if (type === undefined || (type === 'strategic' && call.type.custom)) {
      throw unsupportedMediaType(patchMediaTypes(call.type.custom));
    }
    const body = parsePatch(await readBody(resource.request), mediaType);
    return this.#answerWrite(call, { query: resource.query, form }, await patchObject(this.#context, call, { type, body }));
  }

  #answerWrite(
    call: ApiCall,
    { query, form }: { readonly query: URLSearchParams; readonly form: AnswerForm },
    written: Written,
  ): Answer {
    const project = subresourceOf(call)?.project;
    if (project !== undefined) return jsonAnswer(form, 200, project(written.object));
    return objectAnswer({ call, query, form }, written);
  }

  async #deleteCollection(call: ApiCall, resource: ResourceRequest): Promise<Answer> {
    const list = await deleteCollection(this.#context, call, {
      list: listOptionsOf(resource.query),
      deletion: await deleteOptions(resource),
    });
    return rawAnswer(200, listJson(call.type, list));
  }
}

/** Larger bodies are not searched for keys that they have twice. */
const maxSearchedBytes = 256 * 1024;

async function readObject(
  resource: ResourceRequest,
  call: ApiCall,
): Promise<{ readonly body: JsonObject; readonly call: ApiCall }> {
  const raw = await readBody(resource.request);
  const mediaType = mediaTypeOf(resource.request);
  const body = parseObject(raw, mediaType, bodyType(call));
  const isSearched =
    mediaType === 'application/json' && raw.length <= maxSearchedBytes && call.options.fieldValidation !== 'Ignore';
  return { body, call: isSearched ? { ...call, duplicateFields: duplicateFields(raw.toString('utf8')) } : call };
}

/** A subresource with a kind of its own has a body of that kind, which a built-in kind may leave out. */
function bodyType(call: ApiCall): ResourceType {
  const kind = subresourceOf(call)?.kind;
  return kind === undefined ? call.type : { ...call.type, kind: kind.kind, custom: false };
}

const patchTypes: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

/** Which methods there are differs between custom resources and built-in kinds, and so do the refusals. */
function assertMethod({ attributes, type }: ResourceRequest): void {
  const { verb, subresource } = attributes;
  if (subresource !== '') {
    assertSubresourceMethod(type, attributes);
    return;
  }
  if (type.custom) assertCustomPath(attributes);
  else assertBuiltInPath(attributes);
  if (!type.verbs.includes(verb)) throw type.custom ? methodNotSupported(type, verb) : methodNotAllowed();
}

function assertCustomPath({ verb, name }: RequestAttributes): void {
  if (name === '' && (verb === 'update' || verb === 'patch')) throw badRequest('name must be provided');
}

/** Creates are on the collection, updates and patches on the object. */
function assertBuiltInPath({ verb, name }: RequestAttributes): void {
  const isWrite = verb === 'create' || verb === 'update' || verb === 'patch';
  if (isWrite && (verb === 'create') !== (name === '')) throw methodNotAllowed();
}

function assertSubresourceMethod(type: ResourceType, { subresource, verb, name }: RequestAttributes): void {
  const found = type.subresources.find((candidate) => candidate.name === subresource);
  if (found === undefined) throw type.custom ? notFound(type, name) : resourceNotFound();
  if (!found.verbs.includes(verb)) throw type.custom ? methodNotSupported(type, verb) : methodNotAllowed();
}

function callOf({ attributes, type, query, request, warnings }: ResourceRequest): ApiCall {
  return { attributes, type, warnings, duplicateFields: [], options: optionsOf(attributes.verb, query, request) };
}

const optionKinds: Readonly<Record<string, string>> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  delete: 'DeleteOptions',
  deletecollection: 'DeleteOptions',
};

function optionsOf(verb: string, query: URLSearchParams, request: IncomingMessage): CallOptions {
  const kind = optionKinds[verb];
  const dryRuns = query.getAll('dryRun').filter((value) => value !== '');
  const fieldValidation = query.get('fieldValidation') ?? '';
  if (kind !== undefined) assertWriteOptions(kind, dryRuns, fieldValidation);
  const isApply = verb === 'patch' && request.headers['content-type']?.startsWith('application/apply-patch') === true;
  return {
    dryRun: dryRuns.length > 0,
    fieldManager: fieldManagerOf(query, request, isApply),
    fieldValidation: fieldValidation === 'Ignore' || fieldValidation === 'Strict' ? fieldValidation : 'Warn',
    isApply,
    force: query.get('force') === 'true',
    admissionOptions: kind === undefined ? {} : admissionOptionsOf(kind, query),
  };
}

/** By default the first part of the user agent; server-side apply has to name it. */
function fieldManagerOf(query: URLSearchParams, request: IncomingMessage, isApply: boolean): string {
  const given = query.get('fieldManager') ?? '';
  if (given !== '') return given;
  if (isApply) {
    const message = 'Required value: is required for apply patch';
    throw invalidOptions('PatchOptions', [{ reason: 'FieldValueRequired', message, field: 'fieldManager' }]);
  }
  return (request.headers['user-agent'] ?? 'unknown').split('/', 1)[0] ?? 'unknown';
}

function admissionOptionsOf(kind: string, query: URLSearchParams): JsonObject {
  const options: Record<string, JsonObject[string]> = { kind, apiVersion: 'meta.k8s.io/v1' };
  if (query.has('dryRun')) options['dryRun'] = query.getAll('dryRun');
  for (const field of ['fieldManager', 'fieldValidation']) {
    const value = query.get(field);
    if (value !== null) options[field] = value;
  }
  if (query.get('force') === 'true') options['force'] = true;
  return options;
}

function assertWriteOptions(kind: string, dryRuns: readonly string[], fieldValidation: string): void {
  const causes: Cause[] = [];
  if (dryRuns.some((value) => value !== 'All')) {
    causes.push(unsupported('dryRun', dryRuns, '"All"'));
  }
  if (kind !== 'DeleteOptions' && !['', 'Ignore', 'Strict', 'Warn'].includes(fieldValidation)) {
    causes.push(unsupported('fieldValidation', fieldValidation, '"", "Ignore", "Strict", "Warn"'));
  }
  if (causes.length > 0) throw invalidOptions(kind, causes);
}

function unsupported(field: string, value: string | readonly string[], supported: string): Cause {
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`;
  return { reason: 'FieldValueNotSupported', message, field };
}

/** From the body, or else from the query. */
async function deleteOptions({ request, query, attributes }: ResourceRequest): Promise<DeleteOptions> {
  const body = parseOptions(await readBody(request));
  const fromQuery: Record<string, JsonObject[string]> = {};
  const policy = query.get('propagationPolicy');
  const grace = query.get('gracePeriodSeconds');
  if (policy !== null) fromQuery['propagationPolicy'] = policy;
  if (grace !== null) fromQuery['gracePeriodSeconds'] = Number(grace);
  if (query.get('orphanDependents') !== null) fromQuery['orphanDependents'] = query.get('orphanDependents') === 'true';
  return toDeleteOptions({ ...fromQuery, ...body }, query.has('dryRun') || attributes.verb === '');
}

function toDeleteOptions(options: JsonObject, dryRunInQuery: boolean): DeleteOptions {
  const { propagationPolicy, orphanDependents, gracePeriodSeconds, preconditions, dryRun } = options;
  assertPropagation(propagationPolicy, orphanDependents);
  const orphans = orphanDependents === true ? 'Orphan' : undefined;
  const policy = (propagationPolicy as DeleteOptions['propagationPolicy']) ?? orphans;
  return {
    ...(policy === undefined ? {} : { propagationPolicy: policy }),
    ...(typeof gracePeriodSeconds === 'number' ? { gracePeriodSeconds } : {}),
    ...(preconditions === undefined || preconditions === null
      ? {}
      : { preconditions: preconditions as NonNullable<DeleteOptions['preconditions']> }),
    dryRun: dryRunInQuery || (Array.isArray(dryRun) && dryRun.length > 0),
  };
}

function assertPropagation(policy: JsonObject[string], orphanDependents: JsonObject[string]): void {
  if (policy === undefined || policy === null) return;
  if (orphanDependents !== undefined && orphanDependents !== null) {
    const message = `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`;
    throw invalidOptions('DeleteOptions', [{ reason: 'FieldValueInvalid', message, field: 'propagationPolicy' }]);
  }
  if (policy === 'Foreground' || policy === 'Background' || policy === 'Orphan') return;
  throw invalidOptions('DeleteOptions', [
    unsupported('propagationPolicy', textOf(policy), '"Foreground", "Background", "Orphan", "nil"'),
  ]);
}

function listOptionsOf(query: URLSearchParams): ListOptions {
  const limit = query.get('limit');
  if (limit !== null && !/^-?\d+$/.test(limit)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(limit)}: invalid syntax`);
  }
  return {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    limit: Number(limit ?? 0),
    continueToken: query.get('continue') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
  };
}

function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject');
  return value === 'None' || value === 'Object' ? value : 'Metadata';
}

function objectAnswer(
  { call, query, form }: { readonly call: ApiCall; readonly query: URLSearchParams; readonly form: AnswerForm },
  { object, json, created }: Written,
): Answer {
  const status = created ? 201 : 200;
  if (form.as === 'partial') return jsonAnswer(form, status, partialObject(object, form.metaVersion));
  if (form.as === 'table') {
    const options = { metaVersion: form.metaVersion, includeObject: includeObjectOf(query), withColumns: true };
    return jsonAnswer(form, status, tableOfObject(call.type, object, options));
  }
  return form.media === 'json' && json !== undefined ? rawAnswer(status, json) : jsonAnswer(form, status, object);
}

function jsonAnswer(form: AnswerForm, status: number, body: JsonObject | ApiObject): Answer {
  if (form.media === 'json') return rawAnswer(status, Buffer.from(JSON.stringify(body)));
  const text = stringifyYaml(body, { version: '1.1', indentSeq: false, lineWidth: 0, aliasDuplicateObjects: false });
  return { status, contentType: 'application/yaml', body: Buffer.from(text) };
}

function rawAnswer(status: number, body: Buffer): Answer {
  return { status, contentType: 'application/json', body };
}
