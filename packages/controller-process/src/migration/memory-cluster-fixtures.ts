/** A cluster in memory, as far as a migration asks for it: lists, merge patches, deletions, and every right is granted. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { keyOf } from '@vmdhcp/kube-runtime';
import { type ApiRequest, ApiRequestError, type ApiTransport } from '@vmdhcp/kube-runtime/node';
import { applyMergePatch } from '@vmdhcp/kube-runtime/testing';

export class MemoryCluster implements ApiTransport {
  /** Called before each request; may throw, as when a request is lost. */
  onRequest: (request: ApiRequest) => void = () => undefined;
  /** Called after each request; may throw, as when an answer is lost. */
  onAnswer: (request: ApiRequest) => void = () => undefined;
  /** By collection, such as `/api/v1/pods`, then by key. */
  readonly #collections = new Map<string, Map<string, KubernetesObject>>();

  put(collection: string, object: KubernetesObject): void {
    this.#in(collection).set(keyOf(object), object);
  }

  get(collection: string, key: string): KubernetesObject | undefined {
    return this.#in(collection).get(key);
  }

  patch(collection: string, key: string, patch: unknown): void {
    this.put(collection, applyMergePatch(this.get(collection, key), patch) as KubernetesObject);
  }

  request = async (request: ApiRequest): Promise<unknown> => {
    this.onRequest(request);
    const answer = this.#answer(request);
    this.onAnswer(request);
    return answer;
  };

  stream(): () => void {
    throw new Error('a migration watches nothing');
  }

  #answer({ method, path, body }: ApiRequest): unknown {
    if (method === 'POST') return { status: { allowed: true } };
    const { collection, key, selector } = readPath(path);
    if (key === undefined) return this.#list(collection, selector);
    if (this.get(collection, key) === undefined) throw new ApiRequestError(`${method} ${path}: not found`, { status: 404 });
    if (method === 'PATCH') this.patch(collection, key, body);
    const object = this.get(collection, key);
    if (method === 'DELETE') this.#in(collection).delete(key);
    return object;
  }

  #list(collection: string, selector: string): unknown {
    const [name = '', value] = selector.split('=', 2);
    const isSelected = ({ metadata }: KubernetesObject) => name === '' || metadata.labels?.[name] === value;
    return { metadata: { resourceVersion: '1' }, items: [...this.#in(collection).values()].filter(isSelected) };
  }

  #in(collection: string): Map<string, KubernetesObject> {
    const objects = this.#collections.get(collection) ?? new Map<string, KubernetesObject>();
    this.#collections.set(collection, objects);
    return objects;
  }
}

/** `/apis/<group>/<version>[/namespaces/<namespace>]/<plural>[/<name>]`, or `/api/<version>/...`. */
function readPath(path: string): { readonly collection: string; readonly key: string | undefined; readonly selector: string } {
  const { pathname, searchParams } = new URL(path, 'http://server');
  const parts = pathname.slice(1).split('/');
  const version = parts.splice(0, parts[0] === 'apis' ? 3 : 2);
  const [, namespace] = parts.length > 2 ? parts.splice(0, 2) : [];
  const [plural, name] = parts;
  const key = name === undefined || namespace === undefined ? name : `${namespace}/${name}`;
  return { collection: `/${[...version, plural].join('/')}`, key, selector: searchParams.get('labelSelector') ?? '' };
}
