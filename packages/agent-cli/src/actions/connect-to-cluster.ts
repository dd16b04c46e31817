import { existsSync } from 'node:fs';
import { type ClusterConnection, connectByKubeConfig, connectInCluster, NoClusterError } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';

export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly kubecontext?: string;
}

/**
 * Uses an existing kubeconfig, otherwise the ServiceAccount of the pod, because charts name a kubeconfig and mount none. @throws
 * CommandError if there is neither.
 */
export async function connectToCluster({ kubeconfig, kubecontext }: ClusterOptions): Promise<ClusterConnection> {
  try {
    const isThere = Boolean(kubeconfig) && existsSync(kubeconfig ?? '');
    if (!isThere && process.env['KUBERNETES_SERVICE_HOST']) return await connectInCluster(process.env);
    return await connectByKubeConfig({ ...(kubeconfig && { path: kubeconfig }), ...(kubecontext && { context: kubecontext }) });
  } catch (error) {
    if (!(error instanceof NoClusterError)) throw error;
    throw new CommandError(error.message, ExitCode.noInput, { cause: error });
  }
}
