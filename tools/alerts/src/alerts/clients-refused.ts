import type { Alert } from '../alert.js';

export const clientsRefused: Alert = {
  name: 'VmdhcpClientsRefused',
  group: 'agents',
  expression: 'sum by (cluster, namespace, reason) (rate(vmdhcp_agent_messages_total{outcome="nak"}[5m])) > 0.1',
  for: '10m',
  severity: 'warning',
  summary: 'agents refuse clients: {{ $labels.reason }}',
  description:
    'Agents send {{ $value | humanize }} DHCPNAKs a second, because of {{ $labels.reason }}. A client that is refused begins anew; one that asks for the same address again and again never gets one.',
  runbook: {
    meaning: 'Agents have sent more than one DHCPNAK in ten seconds, for ten minutes.',
    impact:
      'The clients that are refused have no address. A client that moved here from another network is refused once; that is as it should be.',
    diagnosis: [
      {
        text: 'Read which client is refused, and which address it asks for:',
        command: 'kubectl -n vm-dhcp-agents logs -l network.harvesterhci.io/vm-dhcp-controller=agent --tail=200',
      },
      {
        text: 'Ask why, for its MAC address:',
        command: 'kubectl vmdhcp why MAC',
      },
    ],
    remedy: [
      '[Packet reasons](../reference/packet-reasons.md) has the meaning of the reason.',
      '`address-not-its-own`, again and again: the client has a fixed address, or another DHCP server on the network gave it one.',
    ],
  },
};
