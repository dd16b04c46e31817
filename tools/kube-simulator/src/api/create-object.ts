import type { ApiObject, JsonObject, ObjectMeta } from '../api-object.js';
import { alreadyExists, badRequest, definitionTerminating, forbidden, internalError, invalid, notFound } from '../failures.js';
import { section } from '../json-parts.js';
import { customResourceDefinition } from '../resources/core/custom-resource-definition.js';
import { namespace as namespaceType } from '../resources/core/namespace.js';
import {
  type ApiCall,
  type ApiContext,
  admit,
  collectionOf,
  fromStored,
  jsonOf,
  keyOf,
  mutate,
  toStored,
  type Written,
} from './api-call.js';
import { decodeObject } from './decode-object.js';
import { generateName, metadataCauses, newMetadata } from './object-metadata.js';
import { recordManagers } from './record-managers.js';
import { assertServiceAccount } from './service-account-check.js';
import { storeObject } from './store-object.js';

/** Stores a new object and returns it. */
export async function createObject(context: ApiContext, call: ApiCall, body: JsonObject): Promise<Written> {
  const { type } = call;
  assertDefinitionStays(context, call);
  const decoded = decodeObject(call, body);
  if ((decoded.metadata.resourceVersion ?? '') !== '') {
    throw internalError('resourceVersion should not be set on objects to be created');
  }
  const place = { namespace: call.attributes.namespace, nowMs: context.nowMs() };
  assertSameNamespace(call, decoded.metadata);
  const named: ApiObject = { ...decoded, metadata: newMetadata(decoded.metadata, type, place) };
  assertNamespaceTakes(context, call, named.metadata.name ?? '');
  assertServiceAccount(context, call, named);
  const mutated = (await mutate(context, call, { operation: 'CREATE', object: type.strategy.applyDefaults(named) })) ?? named;
  const prepared = type.strategy.prepareForCreate(type.strategy.applyDefaults(mutated));
  const causes = [...metadataCauses(prepared, type), ...type.strategy.validate(prepared, undefined, '')];
  const complete = type.strategy.completeCauses(causes, prepared);
  call.warnings.push(...type.strategy.warnings(prepared));
  if (complete.length > 0) throw invalid(type, prepared.metadata.name ?? '', complete);
  await admit(context, call, { operation: 'CREATE', object: prepared });
  return insert(context, call, type.strategy.canonical(recordManagers(context, call, { after: prepared }), undefined));
}

function insert(context: ApiContext, call: ApiCall, object: ApiObject): Written {
  const { type } = call;
  const collection = collectionOf(context, type);
  const free = freeName(object, (name) => collection.get(keyOf(type, call.attributes.namespace, name)) === undefined);
  const name = free.metadata.name ?? '';
  const key = keyOf(type, call.attributes.namespace, name);
  const existing = collection.get(key);
  if (existing !== undefined) throw alreadyExists(type, name, existing.object.metadata['deletionTimestamp'] !== undefined);
  if (call.options.dryRun) return { object: withoutResourceVersion(free), created: true };
  const stored = storeObject(context, type, { key, object: toStored(type, free) });
  return { object: fromStored(type, stored), json: jsonOf(type, stored), created: true };
}

/** If a generated name is taken, another one is generated. */
function freeName(object: ApiObject, isFree: (name: string) => boolean): ApiObject {
  const prefix = object.metadata['generateName'];
  let named = object;
  for (let attempt = 0; attempt < 8 && typeof prefix === 'string' && prefix !== ''; attempt += 1) {
    if (isFree(named.metadata.name ?? '')) break;
    named = { ...object, metadata: { ...object.metadata, name: generateName(prefix) } };
  }
  return named;
}

function withoutResourceVersion(object: ApiObject): ApiObject {
  const { resourceVersion: _none, ...metadata } = object.metadata;
  return { ...object, metadata };
}

export function assertSameNamespace(call: ApiCall, metadata: ObjectMeta): void {
  const sent = metadata.namespace ?? '';
  if (sent === '' || sent === call.attributes.namespace) return;
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

function assertDefinitionStays(context: ApiContext, { type }: ApiCall): void {
  const definition = collectionOf(context, customResourceDefinition).get(`${type.plural}.${type.group}`);
  if (definition?.object.metadata['deletionTimestamp'] !== undefined) throw definitionTerminating(type);
}

/** Nothing is created in a namespace that does not exist or is being deleted. */
export function assertNamespaceTakes(context: ApiContext, call: ApiCall, name: string): void {
  const { type, attributes } = call;
  if (!type.namespaced) return;
  const { namespace } = attributes;
  const stored = collectionOf(context, namespaceType).get(namespace);
  if (stored === undefined) throw notFound(namespaceType, namespace);
  if (section(stored.object, 'status')['phase'] !== 'Terminating') return;
  throw forbidden(type, name, {
    message: `unable to create new content in namespace ${namespace} because it is being terminated`,
    causes: [
      { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' },
    ],
  });
}
