import type { ClusterConnection } from '@vmdhcp/kube-runtime/node';
import { findCluster } from '../run/connect.js';
import type { ReaderOptions } from './inspect-options.js';
import { readSimpleKubeConfig } from './simple-kubeconfig.js';

/** The cluster of a person's kubeconfig; in a pod that of its ServiceAccount. @throws CommandError where there is no way to one. */
export async function findReaderCluster({ kubeconfig, context }: ReaderOptions): Promise<ClusterConnection> {
  const isPod = kubeconfig === undefined && Boolean(process.env['KUBERNETES_SERVICE_HOST']);
  const simple = isPod ? undefined : readSimpleKubeConfig({ kubeconfig, context }, process.env);
  return simple ?? (await findCluster({ ...(kubeconfig && { kubeconfig }), ...(context && { kubecontext: context }) }));
}
