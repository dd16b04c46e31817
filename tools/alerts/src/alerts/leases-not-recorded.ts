import type { Alert } from '../alert.js';

export const leasesNotRecorded: Alert = {
  name: 'VmdhcpLeasesNotRecorded',
  group: 'agents',
  expression: 'sum by (cluster, namespace, instance) (increase(vmdhcp_agent_lease_write_failures_total[5m])) > 0',
  for: '0s',
  severity: 'critical',
  summary: 'agent {{ $labels.instance }} cannot record leases',
  description:
    'The agent {{ $labels.instance }} cannot write leases of unknown clients to its disk or to the API server. It acknowledges none that is not recorded, so these clients get no address and cannot renew.',
  runbook: {
    meaning: 'Writes of the leases of unknown clients have failed.',
    impact: 'Unknown clients get no address, and cannot renew theirs. Declared clients are answered as before.',
    diagnosis: [
      {
        text: 'Read the error, on the host of the agent: its log, or `/readyz` of its status server.',
      },
      {
        text: 'See whether the disk is full:',
        command: 'df -h',
      },
    ],
    remedy: [
      'Make room on the disk, or replace it. The agent tries again by itself.',
      'Of a bare-metal host in a cluster: the API server is away, or refuses the writes; the log has its answer.',
    ],
  },
};
