import {
  ApiConnection,
  type ApiConnectionSettings,
  ApiRequestError,
  type ClusterConnection,
  findCluster,
  NoClusterError,
} from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';

/** A failed request as the error of a command. Its exit code says whether the API server refused the request, or did not answer. */
export function failedRequest(error: Error, message = error.message): CommandError {
  const isRefused = error instanceof ApiRequestError && error.status !== undefined;
  return new CommandError(message, isRefused ? ExitCode.failed : ExitCode.unavailable, { cause: error });
}

/** A kubeconfig and its context, as options of a command line name them. */
export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly kubecontext?: string;
}

/** @throws CommandError if there is no way to reach a cluster. */
export async function connect(options: ClusterOptions): Promise<ApiConnection> {
  return openConnection(await clusterOf(options));
}

export type ConnectionExtras = Partial<Pick<ApiConnectionSettings, 'mostAnswerOctets' | 'onRequest' | 'timeoutMs'>>;

/** Opens a connection to this cluster, as the controller. */
export function openConnection(cluster: ClusterConnection, extras: ConnectionExtras = {}): ApiConnection {
  return new ApiConnection(cluster, { userAgent: 'vmdhcp-controller', ...extras });
}

/** @throws CommandError if there is no way to reach a cluster. */
export async function clusterOf({ kubeconfig: path, kubecontext: context }: ClusterOptions): Promise<ClusterConnection> {
  try {
    return await findCluster({ path, context }, process.env);
  } catch (error) {
    if (error instanceof NoClusterError) throw new CommandError(error.message, ExitCode.noInput, { cause: error });
    throw error;
  }
}
