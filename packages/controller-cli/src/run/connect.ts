import {
  ApiConnection,
  type ClusterConnection,
  connectByKubeConfig,
  connectInCluster,
  NoClusterError,
  type RequestObserver,
} from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';

export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly kubecontext?: string;
}

/** @throws CommandError where there is no way to a cluster. */
export async function connect(options: ClusterOptions): Promise<ApiConnection> {
  return openConnection(await findCluster(options));
}

export interface ConnectionExtras {
  readonly onRequest?: RequestObserver;
  readonly timeoutMs?: number;
}

export function openConnection(cluster: ClusterConnection, extras: ConnectionExtras = {}): ApiConnection {
  return new ApiConnection(cluster, { userAgent: 'vmdhcp-controller', ...extras });
}

/** @throws CommandError where there is no way to a cluster. */
export async function findCluster({ kubeconfig: path, kubecontext: context }: ClusterOptions): Promise<ClusterConnection> {
  try {
    if (!path && process.env['KUBERNETES_SERVICE_HOST']) return await connectInCluster(process.env);
    const { readSimpleKubeConfig } = await import('./simple-kubeconfig.js');
    const simple = readSimpleKubeConfig({ kubeconfig: path || undefined, context: context || undefined }, process.env);
    return simple ?? (await connectByKubeConfig({ ...(path && { path }), ...(context && { context }) }));
  } catch (error) {
    if (error instanceof NoClusterError) throw new CommandError(error.message, ExitCode.noInput, { cause: error });
    throw error;
  }
}
