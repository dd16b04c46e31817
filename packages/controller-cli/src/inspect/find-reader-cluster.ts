import type { ClusterConnection } from '@vmdhcp/kube-runtime/node';
import { findCluster } from '../run/connect.js';
import type { ReaderOptions } from './inspect-options.js';

/** The cluster of a person's kubeconfig; in a pod that of its ServiceAccount. @throws CommandError where there is no way to one. */
export function findReaderCluster({ kubeconfig, context }: ReaderOptions): Promise<ClusterConnection> {
  return findCluster({ ...(kubeconfig && { kubeconfig }), ...(context && { kubecontext: context }) });
}
