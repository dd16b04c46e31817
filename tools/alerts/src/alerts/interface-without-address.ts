import type { Alert } from '../alert.js';

export const interfaceWithoutAddress: Alert = {
  name: 'VmdhcpInterfaceWithoutAddress',
  group: 'pools',
  expression: `count by (cluster, namespace, network, reason) (
  max by (cluster, namespace, vmnetcfg, network, mac, reason) (
    vmdhcpcontroller_vmnetcfg_status{ip="",reason!~"|ExternalDHCP|PoolPaused"}
  ) == 1
)`,
  for: '10m',
  severity: 'warning',
  summary: '{{ $value }} interfaces on network {{ $labels.network }} have no address: {{ $labels.reason }}',
  description:
    'Virtual machines have {{ $value }} interfaces on network {{ $labels.network }} without an address, because of {{ $labels.reason }}. kubectl vmdhcp why NAME has the cause and the remedy for each.',
  runbook: {
    meaning:
      'Interfaces of virtual machines on a network have had no address for a while. A network with an external DHCP server, and a paused pool, do not count.',
    impact: 'These virtual machines have no address on the network.',
    diagnosis: [
      {
        text: 'List them with their reason:',
        command: 'kubectl get vmnetcfg -A',
      },
      {
        text: 'Ask why, for one of them. The first broken link has what to do:',
        command: 'kubectl vmdhcp why NAME --namespace NAMESPACE',
      },
    ],
    remedy: ['Do what the reason needs: [reasons](../reference/reasons.md) has a remedy for each.'],
  },
};
