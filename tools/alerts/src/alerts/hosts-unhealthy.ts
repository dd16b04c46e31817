import type { Alert } from '../alert.js';

export const hostsUnhealthy: Alert = {
  name: 'VmdhcpHostsUnhealthy',
  group: 'bare-metal',
  expression: 'sum by (cluster, namespace, instance) (vmdhcp_agent_hosts{state="unhealthy"}) > 0',
  for: '15m',
  severity: 'warning',
  summary: '{{ $value }} hosts have a management controller that does not answer',
  description:
    'The agent {{ $labels.instance }} gets no answer, or an error, from the management controllers of {{ $value }} hosts. The Event HostUnhealthy of each HostStatus has the cause.',
  runbook: {
    meaning:
      'Management controllers of bare-metal hosts have not answered their polls for a quarter of an hour, or have refused them.',
    impact: 'The health of these hosts is not known, and HostOperations for them fail. The hosts themselves may run.',
    diagnosis: [
      {
        text: 'List the hosts:',
        command: 'kubectl get hoststatuses',
      },
      {
        text: 'Read the Event `HostUnhealthy`: it has address, port, certificate or Secret:',
        command: 'kubectl describe hoststatus NAME',
      },
    ],
    remedy: [
      'Correct the address, the port or the Secret of the HostEndpoint.',
      'The management controller hangs: restart it, or the host, by hand.',
      'The host is gone: delete its HostEndpoint or HostStatus.',
    ],
  },
};
