import type { Alert } from '../alert.js';

export const hostRangeExhausted: Alert = {
  name: 'VmdhcpHostRangeExhausted',
  group: 'bare-metal',
  expression: 'max by (cluster, namespace, clusteragent) (vmdhcpcontroller_cluster_agent_addresses{state="available"}) == 0',
  for: '5m',
  severity: 'warning',
  summary: 'ClusterAgent {{ $labels.clusteragent }} has no address left for hosts',
  description:
    'Every address of the range of ClusterAgent {{ $labels.clusteragent }} is leased, bound or in quarantine. New hosts on its network get no reply.',
  runbook: {
    meaning: 'The agent of a ClusterAgent has no address of `ipRange` left that a new client could lease.',
    impact: 'New hosts get no address, and have no HostStatus. Hosts that have a lease keep it.',
    diagnosis: [
      {
        text: 'See who has the addresses:',
        command: 'kubectl get hoststatuses',
      },
      {
        text: 'Compare the range with what is used:',
        command: "kubectl get clusteragent NAME -o jsonpath='{.spec.feature.dhcpServerConfig.ipRange} {.status.addresses}'",
      },
    ],
    remedy: [
      'Widen `spec.feature.dhcpServerConfig.ipRange` of the ClusterAgent.',
      'Hosts that are gone for good: `vmdhcp-agent release ADDRESS` ends the lease, then delete the HostStatus. Where an annotation binds the address: `vmdhcp-agent unbind ADDRESS` besides.',
      'Shorten `leaseTime`: leases that are granted from then on are free sooner. Those that hosts have stay as long as they are.',
      'Clients that make up MAC addresses: find the port of the switch that they are at, then release their leases.',
    ],
  },
};
