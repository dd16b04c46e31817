import type { Alert } from '../alert.js';

export const takeoverSlow: Alert = {
  name: 'VmdhcpTakeoverSlow',
  group: 'agents',
  // The seconds are a bound of the histogram's buckets. An increase is extrapolated from scrapes, also by 0.03 for the one and not for the other: half a take-over is none.
  expression: {
    seconds: 20,
    longerThan: (seconds) => `sum by (cluster, namespace, instance) (increase(vmdhcp_agent_takeover_duration_seconds_count[15m]))
  - sum by (cluster, namespace, instance) (increase(vmdhcp_agent_takeover_duration_seconds_bucket{le=~"${seconds}|${seconds}.0"}[15m]))
  > 0.5`,
  },
  for: '0s',
  severity: 'warning',
  summary: 'agent {{ $labels.instance }} became leader more than 20 s after the one before',
  description:
    'From the last renewal of the leader before until {{ $labels.instance }} became leader, more than 20 s passed. Standbys answered clients meanwhile, but relays and renewals got no reply.',
  runbook: {
    meaning: 'The Lease of a group of agents was renewed by no replica for more than 20 seconds.',
    impact: 'Clients were answered late, by standbys. Relays and clients that renew got no reply until the take-over.',
    diagnosis: [
      {
        text: 'See the groups and their Leases:',
        command: 'kubectl vmdhcp agents',
      },
      {
        text: 'Look for `the Lease cannot be read or written` in the log of the agents:',
        command: 'kubectl -n vm-dhcp-agents logs -l network.harvesterhci.io/vm-dhcp-controller=agent --since=1h --prefix',
      },
    ],
    remedy: [
      'The API server was away or slow: see [VmdhcpApiServerSlow](VmdhcpApiServerSlow.md).',
      'No other replica was ready: see [VmdhcpAgentReplicasMissing](VmdhcpAgentReplicasMissing.md).',
      'There are very many groups, whose Leases last longer: raise `--agent-lease-writes-per-second` of the controller.',
    ],
  },
};
