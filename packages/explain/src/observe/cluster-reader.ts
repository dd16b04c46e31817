/** Reads of one command: what came of each, how many requests they were, and what time it is at the API server. */

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

/** Which cluster, and which namespace unless a name has its own. */
export interface ReaderOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
}

export type ListResult =
  | { readonly kind: 'found'; readonly objects: readonly KubernetesObject[] }
  | { readonly kind: 'refused'; readonly right: MissingRight };

const PAGE = 500;

type Page = Awaited<ReturnType<ApiObjectClient<KubernetesObject>['list']>>;

export class ClusterReader {
  readonly cluster: ClusterConnection;
  readonly connection: ApiConnection;
  /** What objects without a namespace in their name are looked for in. */
  readonly namespace: string;
  #requests = 0;
  /** What the clock of the API server is ahead of the time that this process runs. */
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

  /** @throws CommandError where there is no way to a cluster. */
  static async open(options: ReaderOptions): Promise<ClusterReader> {
    const cluster = await clusterOf(options);
    return new ClusterReader(cluster, options.namespace ?? cluster.namespace);
  }

  get requests(): number {
    return this.#requests;
  }

  /** By the clock of the API server, where it has answered. Time goes on while a watch waits. */
  get nowMs(): number {
    return this.#aheadMs === undefined ? Date.now() : Math.floor(performance.now() + this.#aheadMs);
  }

  client(resource: ApiResource): ApiObjectClient<KubernetesObject> {
    return new ApiObjectClient(this.connection, resource);
  }

  /** @param key - `namespace/name`. @throws CommandError where the API server does not answer, or does not know who asks. */
  async get(resource: ApiResource, key: string): Promise<Observed> {
    try {
      const object = await this.client(resource).get(key);
      return object === undefined ? { kind: 'missing' } : { kind: 'found', object };
    } catch (error) {
      const [namespace = ''] = key.split('/', 1);
      return { kind: 'refused', right: rightRefused(error, { verb: 'get', resource, namespace }) };
    }
  }

  /** All objects, page by page; none of a kind that the cluster does not know. @throws CommandError as `get` does. */
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

  /** One page after the other, as long as they are asked for: the next one is on its way while one is looked at. */
  async *pages(resource: ApiResource): AsyncGenerator<readonly KubernetesObject[]> {
    const client = this.client(resource);
    let coming: Promise<Page> | undefined = client.list({ limit: PAGE });
    while (coming !== undefined) {
      const { items, continueToken }: Page = await coming;
      coming = continueToken === undefined ? undefined : client.list({ limit: PAGE, continueToken });
      // Where no more pages are asked for, nothing waits for it.
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

/** What a person reads of a request that failed. */
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

/** The cluster of a person's kubeconfig; in a pod that of its ServiceAccount. @throws CommandError if there is no way to one. */
async function clusterOf({ kubeconfig: path, context }: ReaderOptions): Promise<ClusterConnection> {
  try {
    return await findCluster({ path, context }, process.env);
  } catch (error) {
    if (error instanceof NoClusterError) throw new CommandError(error.message, ExitCode.noInput, { cause: error });
    throw error;
  }
}
