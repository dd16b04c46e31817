import {
  ApiConnection,
  type ClusterConnection,
  connectByKubeConfig,
  connectInCluster,
  NoClusterError,
  type RequestObserver,
} from '@vmdhcp/reconciler/client-node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { Option } from 'commander';

export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly kubecontext?: string;
}

export const clusterOptions = (): Option[] => [
  new Option('--kubeconfig <file>', 'kubeconfig; default: the ServiceAccount in a pod, else what kubectl uses').env('KUBECONFIG'),
  new Option('--kubecontext <name>', 'context of the kubeconfig; default: its current one').env('KUBECONTEXT'),
];

/** @throws CommandError where there is no way to a cluster. */
export async function connect({ kubeconfig, kubecontext }: ClusterOptions, onRequest?: RequestObserver): Promise<ApiConnection> {
  try {
    return new ApiConnection(await findCluster(kubeconfig, kubecontext), {
      userAgent: 'vmdhcp-controller',
      ...(onRequest !== undefined && { onRequest }),
    });
  } catch (error) {
    if (error instanceof NoClusterError) throw new CommandError(error.message, ExitCode.noInput, { cause: error });
    throw error;
  }
}

async function findCluster(path: string | undefined, context: string | undefined): Promise<ClusterConnection> {
  if (path === undefined && process.env['KUBERNETES_SERVICE_HOST']) return connectInCluster(process.env);
  return connectByKubeConfig({ ...(path !== undefined && { path }), ...(context !== undefined && { context }) });
}
