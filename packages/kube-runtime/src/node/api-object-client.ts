import type { ApiResource } from '../api/api-resource.js';
import type { MergePatch, ObjectClient, SubresourceCall, WriteRefusal, WriteResult, WriteTarget } from '../api/object-client.js';
import { ExpiredError, type ListPage, type WatchEnd, type WatchHandlers } from '../api/resource-port.js';
import type { ApiObjectLike } from '../object/api-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { readText } from '../object/read-field.js';
import { type ApiRequest, ApiRequestError, type ApiTransport } from './api-connection.js';

const METHODS = { get: 'GET', update: 'PUT', create: 'POST' } as const;
/** Watches are asked to end by themselves after this time, spread so that not all end at once. */
const WATCH_SECONDS = 240;

/** Objects of one kind, read and written over HTTP. */
export class ApiObjectClient<Kind extends ApiObjectLike = KubernetesObject> implements ObjectClient<Kind> {
  readonly #connection: ApiTransport;
  readonly #resource: ApiResource;
  readonly #base: string;

  readonly #mayWrite: (() => boolean) | undefined;

  /** @param mayWrite - called right before a write is sent; if it returns false, the write is not sent. Default: always true. */
  constructor(connection: ApiTransport, resource: ApiResource, mayWrite?: () => boolean) {
    this.#connection = connection;
    this.#mayWrite = mayWrite;
    this.#resource = resource;
    const { group, version } = resource;
    this.#base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  }

  /** A method, so that a copy with other functions (`{ ...client, create }`) does not have it: it would bypass those functions. */
  guarded(mayWrite: () => boolean): ObjectClient<Kind> {
    return new ApiObjectClient<Kind>(this.#connection, this.#resource, mayWrite);
  }

  readonly list = async ({
    limit,
    continueToken,
  }: {
    readonly limit: number;
    readonly continueToken?: string;
  }): Promise<ListPage<Kind>> => {
    const query = { limit: String(limit), ...(continueToken !== undefined && { continue: continueToken }) };
    try {
      const body = (await this.#connection.request({
        method: 'GET',
        path: this.#collection(query),
        ...this.#accept('PartialObjectMetadataList'),
      })) as ListBody<Kind>;
      const { resourceVersion = '', continue: next } = body.metadata ?? {};
      const { apiVersion, kind } = body;
      return {
        items: (body.items ?? []).map((item) => withKind(item, apiVersion, kind)),
        resourceVersion,
        ...(next ? { continueToken: next } : {}),
      };
    } catch (error) {
      if (error instanceof ApiRequestError && error.status === 410) throw new ExpiredError(error.message, { cause: error });
      throw error;
    }
  };

  readonly watch = (resourceVersion: string, handlers: WatchHandlers<Kind>): (() => void) => {
    const timeoutSeconds = Math.round(WATCH_SECONDS * (1 + Math.random() / 4));
    const query = { watch: 'true', allowWatchBookmarks: 'true', resourceVersion, timeoutSeconds: String(timeoutSeconds) };
    let isOver = false;
    const finish = (end: WatchEnd) => {
      if (isOver) return;
      isOver = true;
      stop();
      handlers.onEnd(end);
    };
    const stop = this.#connection.stream(
      { path: this.#collection(query), ...this.#accept('PartialObjectMetadata') },
      {
        onLine: (line) => {
          if (isOver) return;
          const read = readWatchLine<Kind>(line);
          if (read.kind === 'event') handlers.onEvent(read.event);
          else finish(read);
        },
        onEnd: (error) => finish(toWatchEnd(error)),
      },
    );
    return () => {
      isOver = true;
      stop();
    };
  };

  readonly get = async (key: string): Promise<Kind | undefined> => {
    try {
      return (await this.#connection.request({ method: 'GET', path: this.#path(key) })) as Kind;
    } catch (error) {
      if (error instanceof ApiRequestError && error.status === 404) return undefined;
      throw error;
    }
  };

  readonly create = async (object: Kind): Promise<WriteResult<Kind>> => {
    const { namespace } = object.metadata;
    const result = await this.#write({ method: 'POST', path: this.#collection({}, namespace), body: object });
    if (!result.ok && result.reason === 'not-found') return { ...result, reason: 'parent-not-found' };
    return result as WriteResult<Kind>;
  };

  /** Writes the whole object; its `metadata.resourceVersion` guards it. */
  replace(object: Kind): Promise<WriteResult<Kind>> {
    const { namespace, name } = object.metadata;
    const path = this.#path(namespace === undefined ? name : `${namespace}/${name}`);
    return this.#write({ method: 'PUT', path, body: object }) as Promise<WriteResult<Kind>>;
  }

  readonly patch = (target: WriteTarget, patch: MergePatch): Promise<WriteResult<Kind>> => this.#patch(target, patch);

  readonly patchStatus = (target: WriteTarget, patch: MergePatch): Promise<WriteResult<Kind>> =>
    this.#patch(target, patch, '/status');

  readonly delete = async (key: string, uid: string, resourceVersion?: string): Promise<WriteResult<Kind | undefined>> => {
    const preconditions = resourceVersion === undefined ? { uid } : { uid, resourceVersion };
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
    const result = await this.#write({ method: 'DELETE', path: this.#path(key), body });
    // If the object is gone at once, the server answers with a Status.
    if (result.ok && readText(result.object, 'kind') === 'Status') return { ok: true, object: undefined };
    return result as WriteResult<Kind | undefined>;
  };

  readonly subresource = ({ key, name, verb, body, resourceVersion }: SubresourceCall): Promise<WriteResult<unknown>> => {
    if (verb === 'patch') return this.#patch({ key, resourceVersion }, body ?? {}, `/${name}`);
    return this.#write({ method: METHODS[verb], path: `${this.#path(key)}/${name}`, ...(body !== undefined && { body }) });
  };

  #patch({ key, resourceVersion }: WriteTarget, patch: MergePatch, subresource = ''): Promise<WriteResult<Kind>> {
    const metadata = patch['metadata'] as MergePatch | undefined;
    const body = resourceVersion === undefined ? patch : { ...patch, metadata: { ...metadata, resourceVersion } };
    const path = `${this.#path(key)}${subresource}`;
    return this.#write({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' }) as Promise<
      WriteResult<Kind>
    >;
  }

  async #write(request: ApiRequest): Promise<WriteResult<unknown>> {
    try {
      const guard = request.method !== 'GET' && this.#mayWrite !== undefined ? { mayBegin: this.#mayWrite } : {};
      return { ok: true, object: await this.#connection.request({ ...request, ...guard }) };
    } catch (error) {
      const reason = error instanceof ApiRequestError ? refusalOf(error) : undefined;
      if (reason === undefined) throw error;
      return { ok: false, reason, message: (error as ApiRequestError).message };
    }
  }

  /** A server that cannot reduce objects to their metadata sends whole objects. */
  #accept(kind: string): { readonly accept?: string } {
    const { metadataOnly = false } = this.#resource;
    return metadataOnly ? { accept: `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json` } : {};
  }

  #collection(query: Readonly<Record<string, string>>, namespace: string | undefined = this.#resource.namespace): string {
    const { plural, namespaced, labelSelector, fieldSelector } = this.#resource;
    const within = namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
    const isRead = Object.keys(query).length > 0;
    const parameters = new URLSearchParams({
      ...query,
      ...(isRead && labelSelector !== undefined && { labelSelector }),
      ...(isRead && fieldSelector !== undefined && { fieldSelector }),
    }).toString();
    return `${this.#base}${within}/${plural}${parameters === '' ? '' : `?${parameters}`}`;
  }

  #path(key: string): string {
    const [first = '', second] = key.split('/', 2);
    const name = second ?? first;
    return `${this.#collection({}, second === undefined ? undefined : first)}/${encodeURIComponent(name)}`;
  }
}

interface ListBody<Kind> {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  /** Null means empty; servers in Go may write it. */
  readonly items?: readonly Kind[] | null;
}

/** Lists of built-in kinds omit the kind of their items. */
function withKind<Kind extends ApiObjectLike>(item: Kind, apiVersion: string | undefined, listKind: string | undefined): Kind {
  if ('kind' in item || listKind === undefined) return item;
  return { apiVersion, kind: listKind.replace(/List$/, ''), ...item } as unknown as Kind;
}

const REFUSALS: Readonly<Record<number, WriteRefusal>> = {
  400: 'invalid',
  403: 'forbidden',
  404: 'not-found',
  409: 'conflict',
  422: 'invalid',
};

/** The server's refusal; undefined if the write may have happened, or is worth a retry. */
function refusalOf({ status, reason }: ApiRequestError): WriteRefusal | undefined {
  if (reason === 'AlreadyExists') return 'already-exists';
  return status === undefined ? undefined : REFUSALS[status];
}

type WatchLine<Kind> = { readonly kind: 'event'; readonly event: Parameters<WatchHandlers<Kind>['onEvent']>[0] } | WatchEnd;

const EVENT_TYPES: Readonly<Record<string, 'added' | 'modified' | 'deleted'>> = {
  ADDED: 'added',
  MODIFIED: 'modified',
  DELETED: 'deleted',
};

function readWatchLine<Kind extends ApiObjectLike>(line: string): WatchLine<Kind> {
  try {
    const { type, object } = JSON.parse(line) as {
      type: string;
      object: Kind & { readonly code?: number; readonly message?: string };
    };
    if (type === 'BOOKMARK')
      return { kind: 'event', event: { type: 'bookmark', resourceVersion: object.metadata.resourceVersion ?? '' } };
    const known = EVENT_TYPES[type];
    if (known !== undefined) return { kind: 'event', event: { type: known, object } };
    if (object.code === 410) return { kind: 'expired' };
    const facts = object.code === undefined ? {} : { status: object.code };
    return { kind: 'failed', error: new ApiRequestError(`the watch ended with ${type}: ${object.message ?? ''}`, facts) };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

function toWatchEnd(error: unknown): WatchEnd {
  if (error === undefined) return { kind: 'closed' };
  return error instanceof ApiRequestError && error.status === 410 ? { kind: 'expired' } : { kind: 'failed', error };
}
