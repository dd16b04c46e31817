import type { Alert } from '../alert.js';

export const wakeUpsLost: Alert = {
  name: 'VmdhcpWakeUpsLost',
  group: 'wake-on-lan',
  // The series of most failures begin with 0; one may fail before the first scrape, or in a program of an earlier version.
  expression: `sum by (cluster, namespace, instance, outcome) (increase(vmdhcp_agent_wol_reports_total{outcome=~"too-old|queue-full"}[10m])) > 0
or
  sum by (cluster, namespace, instance, outcome) (
    vmdhcp_agent_wol_reports_total{outcome=~"too-old|queue-full"} > 0
    unless
      last_over_time(vmdhcp_agent_wol_reports_total[1d] offset 10m)
  )`,
  for: '0s',
  severity: 'warning',
  summary: 'the Wake-on-LAN agent {{ $labels.instance }} has lost wake-ups',
  description:
    'The Wake-on-LAN agent {{ $labels.instance }} has given up wake-ups ({{ $labels.outcome }}): no controller took them within two minutes, or more waited than it keeps.',
  runbook: {
    meaning: 'An agent of Wake-on-LAN received magic packets, and could report them to no controller in time.',
    impact: 'The virtual machines stay off, unless the agent of another node reported the same packet.',
    diagnosis: [
      {
        text: 'See whether the agent reaches a controller now: `vmdhcp_agent_wol_manager_connected`.',
      },
      {
        text: 'Read what it reports:',
        command: 'kubectl -n vm-dhcp-agents logs -l app=wol-agent --tail=50 --prefix',
      },
    ],
    remedy: [
      'See [VmdhcpWakeAgentDisconnected](VmdhcpWakeAgentDisconnected.md) for why no controller is reached, and send the packets again.',
      '`queue-full`: something floods the network with magic packets of many machines; the log names senders.',
    ],
  },
};
