import type { RolloutRemedies } from '@vmdhcp/kube-runtime';

/** What to change when the API server refuses the pods of agents. */
export const AGENT_ROLLOUT_REMEDIES: RolloutRemedies = {
  privileged: 'agents need NET_ADMIN and NET_RAW',
  serviceAccount: 'with the rights of agents (as in manifests/vmdhcp-unified.yaml), or name another one (--service-account-name)',
  priorityClass: '--agent-priority-class, "" for none',
  quota: '--agent-replicas, --agent-memory-limit',
};
