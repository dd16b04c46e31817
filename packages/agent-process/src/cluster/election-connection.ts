import type { ElectionTimes } from '@vmdhcp/kube-runtime';
import { ApiConnection, type ClusterConnection } from '@vmdhcp/kube-runtime/node';

export const USER_AGENT = 'vmdhcp-agent';

/** Only for the Lease: requests must fail before the renew deadline. */
export function electionConnection(cluster: ClusterConnection, { renewDeadlineMs }: ElectionTimes): ApiConnection {
  return new ApiConnection(cluster, { userAgent: USER_AGENT, timeoutMs: renewDeadlineMs * 0.6 });
}
