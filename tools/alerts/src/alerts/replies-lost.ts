import type { Alert } from '../alert.js';

export const repliesLost: Alert = {
  name: 'VmdhcpRepliesLost',
  group: 'agents',
  expression:
    'sum by (cluster, namespace, instance, reason) (rate(vmdhcp_agent_packets_dropped_total{reason=~"send-failed|internal-error"}[5m])) > 0',
  for: '5m',
  severity: 'warning',
  summary: 'agent {{ $labels.instance }} loses packets: {{ $labels.reason }}',
  description:
    'The agent {{ $labels.instance }} loses packets or replies because of {{ $labels.reason }}. Its log has the error.',
  runbook: {
    meaning: 'The kernel does not accept replies of an agent (`send-failed`), or the agent has a bug (`internal-error`).',
    impact: 'Clients get no reply and retransmit.',
    diagnosis: [
      {
        text: 'Read the error:',
        command: 'kubectl -n vm-dhcp-agents logs POD --tail=200',
      },
    ],
    remedy: [
      '`send-failed`: look at the interface and the network of the node; `ENOBUFS` means that its queue is full, `EPERM` that a filter refuses packets, `EMSGSIZE` that its MTU is too small for replies.',
      '`internal-error`: open an issue with the lines of the log.',
    ],
  },
};
