import type { ElectionTimes } from '@vmdhcp/kube-runtime';
import { ApiConnection, type ClusterConnection } from '@vmdhcp/kube-runtime/node';

export const USER_AGENT = 'vmdhcp-agent';

/** For the Lease alone: one that is not renewed in time is lost, so that its requests must fail sooner than that, and wait for nothing else. */
export function electionConnection(cluster: ClusterConnection, { renewDeadlineMs }: ElectionTimes): ApiConnection {
  return new ApiConnection(cluster, { userAgent: USER_AGENT, timeoutMs: renewDeadlineMs * 0.6 });
}
