import type { Alert } from '../alert.js';

export const agentServesNotAllPools: Alert = {
  name: 'VmdhcpAgentServesNotAllPools',
  group: 'agents',
  expression: `min by (cluster, namespace, instance, pool) (vmdhcp_agent_pool_served) == 0
unless on (cluster, namespace, instance)
  vmdhcp_agent_leading == 0`,
  for: '1m',
  severity: 'critical',
  summary: 'agent {{ $labels.instance }} does not serve pool {{ $labels.pool }}',
  description:
    'The agent {{ $labels.instance }} is to answer the clients of pool {{ $labels.pool }}, and does not: an interface is missing, a socket failed, or another DHCP server answers there, for example. kubectl vmdhcp pools, or /readyz of the agent, has the cause.',
  runbook: {
    meaning: 'An agent that is leader, or has no replicas, does not serve one of its pools on all interfaces.',
    impact: 'Clients of the pool get no reply. In a cluster another replica becomes leader after 3 s, if it can serve the pool.',
    diagnosis: [
      {
        text: 'Read the reason of the pool:',
        command: 'kubectl vmdhcp pools -A',
      },
      {
        text: 'Read the cause in the log of the agent, or at `/readyz` of its status server:',
        command: 'kubectl -n vm-dhcp-agents logs POD --tail=50',
      },
      {
        text: 'See whether all replicas have the same problem:',
        command: 'kubectl vmdhcp agents',
      },
    ],
    remedy: [
      '[Agents are not ready](../troubleshooting.md#agents-are-not-ready) has each cause.',
      'On a bare host: check the interface and the rights of the process, `vmdhcp-agent check` checks the pools file.',
    ],
  },
};
