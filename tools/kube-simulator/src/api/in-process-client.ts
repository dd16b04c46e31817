import type { ApiObject, Json, JsonObject } from '../api-object.js';
import type { RequestAttributes } from '../request/request-chain.js';
import type { User } from '../request-user.js';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.js';
import { type ApiCall, type ApiContext, collectionOf, fromStored, keyOf } from './api-call.js';
import type {
  ApiClient,
  DeleteOptions,
  ObjectPath,
  PatchType,
  ResourcePath,
  Selection,
  WatchEvent,
  WriteOptions,
} from './api-client.js';
import { createObject } from './create-object.js';
import { deleteObject } from './delete-object.js';
import { listObjects } from './list-objects.js';
import { patchObject } from './patch-object.js';
import { compileSelectors } from './selectors.js';
import { replaceObject } from './update-object.js';
import { watchChanges } from './watch-objects.js';

/** The API for the simulator's own controllers: no HTTP, no authorization, everything else as for any client. */
export class InProcessClient implements ApiClient {
  readonly #context: ApiContext;
  readonly #user: User;

  constructor(context: ApiContext, user: User) {
    this.#context = context;
    this.#user = user;
  }

  get(path: ObjectPath): ApiObject | undefined {
    const type = this.#type(path);
    const stored = collectionOf(this.#context, type).get(keyOf(type, path.namespace ?? '', path.name));
    return stored === undefined ? undefined : fromStored(type, stored);
  }

  list(path: ResourcePath, selection: Selection = {}): readonly ApiObject[] {
    const call = this.#call(path, 'list');
    return listObjects(this.#context, call, selection).items.map((stored) => fromStored(call.type, stored));
  }

  async create(
    path: ResourcePath & { readonly name?: string; readonly subresource?: string },
    object: JsonObject,
    options: WriteOptions = {},
  ): Promise<ApiObject> {
    const call = this.#call(path, 'create', options);
    const body = { ...object, apiVersion: apiVersionOf(call.type), kind: call.type.kind };
    return (await createObject(this.#context, call, body)).object;
  }

  async update(path: ObjectPath, object: ApiObject, options: WriteOptions = {}): Promise<ApiObject> {
    return (await replaceObject(this.#context, this.#call(path, 'update', options), object)).object;
  }

  async patch(
    path: ObjectPath,
    patch: { readonly type: PatchType; readonly body: Json; readonly force?: boolean },
    options: WriteOptions = {},
  ): Promise<ApiObject> {
    const call = this.#call(path, 'patch', { ...options, isApply: patch.type === 'apply', force: patch.force ?? false });
    return (await patchObject(this.#context, call, patch)).object;
  }

  delete(path: ObjectPath, options: DeleteOptions = {}): Promise<JsonObject> {
    return deleteObject(this.#context, this.#call(path, 'delete', options), options);
  }

  watch(path: ResourcePath, listener: (event: WatchEvent) => void, selection: Selection = {}): () => void {
    const call = this.#call(path, 'watch');
    const { type } = call;
    for (const object of this.list(path, selection)) listener({ type: 'ADDED', object });
    return watchChanges(this.#context, call, {
      matches: compileSelectors(type, selection),
      listener: (change) =>
        listener({
          type: change.type,
          object: fromStored(type, change.stored),
          ...(change.previous === undefined ? {} : { oldObject: fromStored(type, change.previous) }),
        }),
    });
  }

  #type(path: ResourcePath): ResourceType {
    const { registry } = this.#context;
    const group = path.group ?? '';
    const type =
      path.version === undefined ? registry.preferred(group, path.resource) : registry.find(group, path.version, path.resource);
    if (type === undefined) throw new Error(`no resource ${path.resource} in group ${JSON.stringify(group)} is served`);
    return type;
  }

  #call(
    path: ResourcePath & { readonly name?: string; readonly subresource?: string },
    verb: string,
    options: WriteOptions & { readonly isApply?: boolean; readonly force?: boolean } = {},
  ): ApiCall {
    const type = this.#type(path);
    const attributes: RequestAttributes = {
      user: this.#user,
      verb,
      path: '',
      isResourceRequest: true,
      group: type.group,
      version: type.version,
      resource: type.plural,
      subresource: path.subresource ?? '',
      namespace: path.namespace ?? '',
      name: path.name ?? '',
    };
    return {
      attributes,
      type,
      duplicateFields: [],
      warnings: [],
      options: {
        dryRun: options.dryRun ?? false,
        fieldManager: options.fieldManager ?? 'kube-controller-manager',
        fieldValidation: 'Ignore',
        isApply: options.isApply ?? false,
        force: options.force ?? false,
        admissionOptions: {},
      },
    };
  }
}
