/** Objects and lists in the forms that clients ask for. */

import { fromStored, jsonOf } from '../api/api-call.js';
import type { ListResult } from '../api/list-objects.js';
import type { ApiObject, JsonObject } from '../api-object.js';
import { decodeGo } from '../resources/go-type.js';
import { objectMeta } from '../resources/object-meta.js';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.js';
import type { StoredObject } from '../store/collection.js';

const comma = Buffer.from(',');

/** A list as JSON, made of the JSON of its items. */
export function listJson(type: ResourceType, list: ListResult): Buffer {
  const items: Buffer[] = [];
  for (const stored of list.items) {
    if (items.length > 0) items.push(comma);
    items.push(...itemJson(type, stored));
  }
  const apiVersion = JSON.stringify(apiVersionOf(type));
  const metadata = JSON.stringify(listMetadata(list, type.custom));
  if (type.custom) {
    const head = `{"apiVersion":${apiVersion},"items":[`;
    return Buffer.concat([Buffer.from(head), ...items, Buffer.from(`],"kind":"${type.listKind}","metadata":${metadata}}`)]);
  }
  const head = `{"kind":"${type.listKind}","apiVersion":${apiVersion},"metadata":${metadata},"items":[`;
  return Buffer.concat([Buffer.from(head), ...items, Buffer.from(']}')]);
}

const openBrace = Buffer.from('{');

/** Items of built-in lists have no kind and apiVersion; those two come first in their JSON. */
function itemJson(type: ResourceType, stored: StoredObject): readonly Buffer[] {
  const json = jsonOf(type, stored);
  if (type.custom) return [json];
  const head = `{"kind":"${type.kind}","apiVersion":"${apiVersionOf(type)}",`;
  return [openBrace, json.subarray(head.length)];
}

/** Custom resource lists always have a continue token, an empty one at the end, and sorted keys. */
function listMetadata(list: ListResult, custom: boolean): JsonObject {
  const { continueToken, remainingItemCount } = list;
  const remaining = remainingItemCount === undefined ? {} : { remainingItemCount };
  const resourceVersion = String(list.resourceVersion);
  if (custom) return { continue: continueToken ?? '', ...remaining, resourceVersion };
  return { resourceVersion, ...(continueToken === undefined ? {} : { continue: continueToken }), ...remaining };
}

/** Only kind, apiVersion and metadata. */
export function partialObject(object: ApiObject, metaVersion: string): JsonObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.k8s.io/${metaVersion}`,
    metadata: decodeGo(objectMeta, object.metadata).value,
  };
}

export function partialList(type: ResourceType, list: ListResult, metaVersion: string): JsonObject {
  return {
    kind: 'PartialObjectMetadataList',
    apiVersion: `meta.k8s.io/${metaVersion}`,
    metadata: listMetadata(list, false),
    items: list.items.map((stored) => partialObject(fromStored(type, stored), metaVersion)),
  };
}

export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface TableOptions {
  readonly metaVersion: string;
  readonly includeObject: IncludeObject;
  /** Later events of a watch do not repeat the columns. */
  readonly withColumns: boolean;
}

export function tableOf(
  type: ResourceType,
  content: { readonly metadata: JsonObject; readonly objects: readonly ApiObject[] },
  options: TableOptions,
): JsonObject {
  const columns = type.columns.map(({ name, type: columnType, format, description, priority }) => ({
    name,
    type: columnType,
    format,
    description,
    priority,
  }));
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.metaVersion}`,
    metadata: content.metadata,
    columnDefinitions: options.withColumns ? columns : null,
    rows: content.objects.map((object) => rowOf(type, object, options)),
  };
}

function rowOf(type: ResourceType, object: ApiObject, { includeObject, metaVersion }: TableOptions): JsonObject {
  const cells = type.columns.map((column) => column.cell(object));
  if (includeObject === 'None') return { cells, object: null };
  return { cells, object: includeObject === 'Object' ? object : partialObject(object, metaVersion) };
}

export function tableOfList(type: ResourceType, list: ListResult, options: TableOptions): JsonObject {
  const objects = list.items.map((stored) => fromStored(type, stored));
  return tableOf(type, { metadata: listMetadata(list, false), objects }, options);
}

export function tableOfObject(type: ResourceType, object: ApiObject, options: TableOptions): JsonObject {
  const { resourceVersion } = object.metadata;
  return tableOf(type, { metadata: resourceVersion === undefined ? {} : { resourceVersion }, objects: [object] }, options);
}
