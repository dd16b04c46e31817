import type { Alert } from '../alert.js';

export const standbyAnswers: Alert = {
  name: 'VmdhcpStandbyAnswers',
  group: 'agents',
  expression: 'sum by (cluster, namespace, instance) (rate(vmdhcp_agent_standby_answers_total[5m])) > 0',
  for: '10m',
  severity: 'warning',
  summary: 'the standby {{ $labels.instance }} answers clients that its leader does not answer',
  description:
    'For ten minutes the standby {{ $labels.instance }} has answered clients that retransmit. Its leader does not receive their packets, or its replies do not reach them.',
  runbook: {
    meaning:
      'A standby answers a client only when the leader has not answered it. During a take-over that is as it should be; for ten minutes it is not.',
    impact:
      'Each new client waits some seconds for its address. Clients behind a relay, and clients that renew, may get no reply.',
    diagnosis: [
      {
        text: 'See which pod is leader, and on which node:',
        command: 'kubectl vmdhcp agents',
      },
      {
        text: 'Compare the log of the leader with that of the standby:',
        command: 'kubectl -n vm-dhcp-agents logs -l network.harvesterhci.io/vm-dhcp-controller=agent --tail=100 --prefix',
      },
      {
        text: 'Log the packets of the pool at both, if the log does not show the cause:',
        command: 'kubectl annotate ippool NAME network.harvesterhci.io/log-packets=true',
      },
    ],
    remedy: [
      'Look at the network of the node of the leader: VLAN, bridge, filters.',
      'Restart the leader, so that another replica takes over: `kubectl -n vm-dhcp-agents delete pod POD`.',
    ],
  },
};
