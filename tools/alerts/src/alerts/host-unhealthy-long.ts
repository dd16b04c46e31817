import type { Alert } from '../alert.js';

export const hostUnhealthyLong: Alert = {
  name: 'VmdhcpHostUnhealthyLong',
  group: 'bare-metal',
  expression: {
    seconds: 86_400,
    longerThan: (seconds) =>
      `time() - max by (cluster, namespace, hoststatus) (vmdhcp_agent_host_unhealthy_since_timestamp_seconds) > ${seconds}`,
  },
  for: '5m',
  severity: 'warning',
  summary: 'host {{ $labels.hoststatus }} has not answered for a day',
  description:
    'The management controller of HostStatus {{ $labels.hoststatus }} has not answered for {{ $value | humanizeDuration }}, or has refused every poll. The Event HostUnhealthy has the cause.',
  runbook: {
    meaning:
      'The management controller of one host has not answered its polls for more than a day. The agent polls it further, every few minutes.',
    impact: 'The health of the host is not known, and HostOperations for it fail. The host itself may run.',
    diagnosis: [
      {
        text: 'Read the Event `HostUnhealthy`: it has address, port, certificate or Secret:',
        command: 'kubectl describe hoststatus NAME',
      },
      {
        text: 'See whether anything is at its address:',
        command: "ping -c 3 $(kubectl get hoststatus NAME -o jsonpath='{.status.basic.ipAddr}')",
      },
    ],
    remedy: [
      'The host is gone: delete its HostEndpoint or HostStatus.',
      'A client that is not a management controller, for example a laptop, has a lease on this network: bind or exclude it, or give it another network.',
      'All others are as in [VmdhcpHostsUnhealthy](VmdhcpHostsUnhealthy.md).',
    ],
  },
};
