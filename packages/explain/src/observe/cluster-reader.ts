/** The reads of one command: their results, the number of requests, and the time at the API server. */

import type { ApiResource, KubernetesObject } from '@vmdhcp/kube-runtime';
import { parseTime } from '@vmdhcp/kube-runtime';
import {
  ApiConnection,
  ApiObjectClient,
  ApiRequestError,
  type ClusterConnection,
  findCluster,
  NoClusterError,
} from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import type { MissingRight, Observed } from '../chain/chain-observation.js';

/** Selects the cluster, and the default namespace for names without one. */
export interface ReaderOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
}

/** The objects of a kind, or the right that is missing to list them. */
export type ListResult =
  | { readonly kind: 'found'; readonly objects: readonly KubernetesObject[] }
  | { readonly kind: 'refused'; readonly right: MissingRight };

const PAGE = 500;

type Page = Awaited<ReturnType<ApiObjectClient<KubernetesObject>['list']>>;

export class ClusterReader {
  readonly cluster: ClusterConnection;
  readonly connection: ApiConnection;
  /** The default namespace for names without one. */
  readonly namespace: string;
  #requests = 0;
  /** How far the clock of the API server is ahead of the clock of this process. */
  #aheadMs: number | undefined;

  private constructor(cluster: ClusterConnection, namespace: string) {
    const onRequest = ({ date }: { readonly date?: string }): void => {
      this.#requests += 1;
      const nowMs = parseTime(date);
      if (!Number.isNaN(nowMs)) this.#aheadMs = nowMs - performance.now();
    };
    this.cluster = cluster;
    this.connection = new ApiConnection(cluster, { userAgent: 'kubectl-vmdhcp', onRequest });
    this.namespace = namespace;
  }

  /** @throws CommandError if there is no way to reach a cluster. */
  static async open(options: ReaderOptions): Promise<ClusterReader> {
    const cluster = await clusterOf(options);
    return new ClusterReader(cluster, options.namespace ?? cluster.namespace);
  }

  get requests(): number {
    return this.#requests;
  }

  /** The time at the API server, once it has responded. Time continues while a watch waits. */
  get nowMs(): number {
    return this.#aheadMs === undefined ? Date.now() : Math.floor(performance.now() + this.#aheadMs);
  }

  client(resource: ApiResource): ApiObjectClient<KubernetesObject> {
    return new ApiObjectClient(this.connection, resource);
  }

  /** @param key - `namespace/name`. @throws CommandError if the API server does not respond, or does not recognize the user. */
  async get(resource: ApiResource, key: string): Promise<Observed> {
    try {
      const object = await this.client(resource).get(key);
      return object === undefined ? { kind: 'missing' } : { kind: 'found', object };
    } catch (error) {
      const [namespace = ''] = key.split('/', 1);
      return { kind: 'refused', right: rightRefused(error, { verb: 'get', resource, namespace }) };
    }
  }

  /** All objects, page by page; none if the cluster does not have the kind. @throws CommandError as `get` does. */
  async list(resource: ApiResource): Promise<ListResult> {
    const objects: KubernetesObject[] = [];
    try {
      for await (const page of this.pages(resource)) objects.push(...page);
      return { kind: 'found', objects };
    } catch (error) {
      if (error instanceof ApiRequestError && error.status === 404) return { kind: 'found', objects };
      return { kind: 'refused', right: rightRefused(error, { verb: 'list', resource, namespace: resource.namespace ?? '' }) };
    }
  }

  /** Requests pages as long as the caller wants more; the next page is requested while the caller processes the current one. */
  async *pages(resource: ApiResource): AsyncGenerator<readonly KubernetesObject[]> {
    const client = this.client(resource);
    let coming: Promise<Page> | undefined = client.list({ limit: PAGE });
    while (coming !== undefined) {
      const { items, continueToken }: Page = await coming;
      coming = continueToken === undefined ? undefined : client.list({ limit: PAGE, continueToken });
      // If the caller wants no more pages, nothing waits for this one.
      coming?.catch(() => undefined);
      yield items;
    }
  }

  close(): void {
    this.connection.close();
  }
}

interface Asked {
  readonly verb: 'get' | 'list';
  readonly resource: ApiResource;
  readonly namespace: string;
}

/** The right that a refused request lacked. @throws CommandError for any other failure. */
function rightRefused(error: unknown, { verb, resource: { group, plural }, namespace }: Asked): MissingRight {
  if (error instanceof ApiRequestError && error.status === 403) return { verb, group, resource: plural, namespace };
  throw toCommandError(error);
}

/** Describes a failed request, for a person. */
export function toCommandError(error: unknown): unknown {
  if (!(error instanceof ApiRequestError)) return error;
  const { status, message } = error;
  const cause = { cause: error };
  if (status === 401) return new CommandError(`${message}; log in to the cluster again`, ExitCode.noPermission, cause);
  if (status === 403) return new CommandError(message, ExitCode.noPermission, cause);
  const isUnreachable = status === undefined || status >= 500 || status === 429;
  return new CommandError(
    isUnreachable ? `the cluster does not answer: ${message}` : message,
    isUnreachable ? ExitCode.unavailable : ExitCode.failed,
    cause,
  );
}

/**
 * Connects to the cluster of the user's kubeconfig; in a pod, to the cluster of its ServiceAccount. @throws CommandError if
 * neither is configured.
 */
async function clusterOf({ kubeconfig: path, context }: ReaderOptions): Promise<ClusterConnection> {
  try {
    return await findCluster({ path, context }, process.env);
  } catch (error) {
    if (error instanceof NoClusterError) throw new CommandError(error.message, ExitCode.noInput, { cause: error });
    throw error;
  }
}
