import type { Alert } from '../alert.js';

export const agentReplicasMissing: Alert = {
  name: 'VmdhcpAgentReplicasMissing',
  group: 'agents',
  expression: `max by (cluster, namespace, group) (vmdhcpcontroller_agent_replicas{state="ready"})
  < max by (cluster, namespace, group) (vmdhcpcontroller_agent_replicas{state="desired"})`,
  for: '5m',
  severity: 'warning',
  summary: 'group {{ $labels.group }} of agents has {{ $value }} ready pods, and should have more',
  description:
    'The Deployment of the agents {{ $labels.group }} has {{ $value }} ready pods, which is fewer than it wants. If the last one ends, clients get no reply.',
  runbook: {
    meaning: 'A group of agents has fewer ready pods than its Deployment wants.',
    impact: 'None while another replica is leader. Without a standby, clients wait for a new pod when the leader ends.',
    diagnosis: [
      {
        text: 'See the groups, their pods and nodes:',
        command: 'kubectl vmdhcp agents',
      },
      {
        text: 'See why a pod does not start:',
        command: 'kubectl -n vm-dhcp-agents describe pods -l network.harvesterhci.io/vm-dhcp-controller=agent',
      },
    ],
    remedy: [
      '[Agents are not ready](../troubleshooting.md#agents-are-not-ready) has each cause.',
      'Too few nodes have the cluster network: label another one with `network.harvesterhci.io/<cluster network>=true`.',
    ],
  },
};
