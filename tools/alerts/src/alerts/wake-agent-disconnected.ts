import type { Alert } from '../alert.js';

export const wakeAgentDisconnected: Alert = {
  name: 'VmdhcpWakeAgentDisconnected',
  group: 'wake-on-lan',
  expression: 'min by (cluster, namespace, instance) (vmdhcp_agent_wol_manager_connected) == 0',
  for: '2m',
  severity: 'warning',
  summary: 'the Wake-on-LAN agent {{ $labels.instance }} reaches no controller',
  description:
    'For two minutes no controller has answered the Wake-on-LAN agent {{ $labels.instance }}. It keeps wake-ups for two minutes; magic packets that it receives now start nothing.',
  runbook: {
    meaning: 'An agent of Wake-on-LAN reaches no controller that is leader. It keeps wake-ups for two minutes, and no longer.',
    impact: 'Magic packets start no virtual machine, unless the agent of another node receives them too.',
    diagnosis: [
      {
        text: 'See whether a controller is leader, and listens:',
        command: 'kubectl -n vm-dhcp-system logs -l app.kubernetes.io/component=controller --tail=50 --prefix',
      },
      {
        text: 'Read what the agent reports:',
        command: 'kubectl -n vm-dhcp-agents logs -l app=wol-agent --tail=20 --prefix',
      },
    ],
    remedy: [
      '[Each symptom of agents and controller](../wake-on-lan.md#troubleshooting): address, certificate, clock, NetworkPolicy.',
    ],
  },
};
