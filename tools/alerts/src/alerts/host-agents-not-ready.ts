import type { Alert } from '../alert.js';

export const hostAgentsNotReady: Alert = {
  name: 'VmdhcpHostAgentsNotReady',
  group: 'bare-metal',
  expression: 'min by (cluster, namespace, clusteragent) (vmdhcpcontroller_cluster_agent_ready) == 0',
  for: '5m',
  severity: 'warning',
  summary: 'the agents of ClusterAgent {{ $labels.clusteragent }} are not ready',
  description:
    'For five minutes the agents of ClusterAgent {{ $labels.clusteragent }} have not been ready: its hosts get no DHCP replies, and their management controllers are not polled. The condition Ready has the cause: kubectl describe clusteragent {{ $labels.clusteragent }}.',
  runbook: {
    meaning:
      'The condition `Ready` of a ClusterAgent is not `True`: its Deployment is not as it should be, or its pods are not ready. A ClusterAgent with `spec.agentYaml.replicas` 0 has no such alert.',
    impact:
      'Hosts on the network of the ClusterAgent get no address, HostStatus objects are not up to date, and HostOperations wait.',
    diagnosis: [
      {
        text: 'Read the reason and the message of the condition:',
        command: 'kubectl describe clusteragent NAME',
      },
      {
        text: 'See the pods:',
        command: 'kubectl get pods -A -o wide',
      },
      {
        text: 'Read what they report:',
        command: 'kubectl -n NAMESPACE logs POD --tail=50',
      },
    ],
    remedy: [
      'Do what the reason needs: [a bare-metal host](../troubleshooting.md#a-bare-metal-host).',
      'If no agent is to run, write `spec.agentYaml.replicas: 0`, or delete the ClusterAgent.',
    ],
  },
};
