import type { RolloutRemedies } from '@vmdhcp/kube-runtime';

/** What to change if the API server refuses the pods of agents of bare-metal hosts. */
export const HOST_AGENT_REMEDIES: RolloutRemedies = {
  privileged: 'agents need NET_ADMIN and NET_RAW',
  serviceAccount: 'or wait: the controller creates it again, and its log says what keeps it from that',
  priorityClass: '--agent-priority-class, "" for none',
  quota: '--agent-replicas, --agent-memory-limit',
};
