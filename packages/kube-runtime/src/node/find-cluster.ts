import { type ClusterConnection, connectByKubeConfig, connectInCluster } from './cluster-connection.js';

/**
 * The cluster of this pod if it runs in one and no kubeconfig is named, otherwise that of the kubeconfig.
 *
 * @param path - a kubeconfig; default: as kubectl finds it. @param context - of the kubeconfig; default: its current one.
 * @throws NoClusterError if there is no way to a cluster.
 */
export async function findCluster(
  { path, context }: { readonly path?: string | undefined; readonly context?: string | undefined },
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ClusterConnection> {
  if (!path && environment['KUBERNETES_SERVICE_HOST']) return await connectInCluster(environment);
  return await connectByKubeConfig({ ...(path && { path }), ...(context && { context }) });
}
