import { existsSync } from 'node:fs';
import { type ClusterConnection, connectByKubeConfig, connectInCluster, NoClusterError } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';

interface KubeConfigFlags {
  readonly kubeconfig?: string;
  readonly kubecontext?: string;
}

/**
 * By a kubeconfig that is there, else by the ServiceAccount of the pod, as charts name one and mount none.
 *
 * @param remedy - what else a person may do without a cluster, for the end of the message.
 * @throws CommandError where there is neither.
 */
export async function connectToCluster(
  { kubeconfig, kubecontext }: KubeConfigFlags,
  remedy?: string,
): Promise<ClusterConnection> {
  try {
    const isThere = Boolean(kubeconfig) && existsSync(kubeconfig ?? '');
    if (!isThere && process.env['KUBERNETES_SERVICE_HOST']) return await connectInCluster(process.env);
    return await connectByKubeConfig({ ...(kubeconfig && { path: kubeconfig }), ...(kubecontext && { context: kubecontext }) });
  } catch (error) {
    if (!(error instanceof NoClusterError)) throw error;
    const message = remedy === undefined ? error.message : `${error.message}; ${remedy}`;
    throw new CommandError(message, ExitCode.noInput, { cause: error });
  }
}
