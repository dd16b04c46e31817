import type { Alert } from '../alert.js';

export const leaderChangesOften: Alert = {
  name: 'VmdhcpLeaderChangesOften',
  group: 'agents',
  // An increase is extrapolated: three take-overs are 3.02, as an hour is longer than from its first scrape to its last.
  expression: 'sum by (cluster, namespace, instance) (round(increase(vmdhcp_agent_takeover_duration_seconds_count[1h]))) > 3',
  for: '0s',
  severity: 'warning',
  summary: 'agent {{ $labels.instance }} became leader {{ $value | humanize }} times in an hour',
  description:
    'The agent {{ $labels.instance }} became leader again and again within the last hour. Another replica becomes leader in between, or the API server does not accept renewals in time.',
  runbook: {
    meaning: 'A replica became leader more than three times in an hour.',
    impact: 'Each change costs clients up to a few seconds.',
    diagnosis: [
      {
        text: 'See which pods are leaders, and how often they were restarted:',
        command: 'kubectl vmdhcp agents',
      },
      {
        text: 'Read why leadership ended (`leadership lost`, `stepping down`):',
        command: 'kubectl -n vm-dhcp-agents logs -l network.harvesterhci.io/vm-dhcp-controller=agent --since=1h --prefix',
      },
    ],
    remedy: [
      '`stepping down` names what the replica cannot do: correct that.',
      '`leadership lost`: the API server does not answer in time; see [VmdhcpApiServerSlow](VmdhcpApiServerSlow.md), and look at the CPU of the nodes.',
    ],
  },
};
