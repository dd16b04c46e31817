import type { Alert } from '../alert.js';

export const poolExhausted: Alert = {
  name: 'VmdhcpPoolExhausted',
  group: 'pools',
  expression: 'max by (cluster, namespace, ippool, network) (vmdhcpcontroller_ippool_available) == 0',
  for: '5m',
  severity: 'warning',
  summary: 'IPPool {{ $labels.ippool }} has no free address',
  description:
    'Every address of IPPool {{ $labels.ippool }} (network {{ $labels.network }}) is in use. New virtual machines get no address: raise spec.ipv4Config.pool.end, or delete what no virtual machine needs.',
  runbook: {
    meaning: 'Every address of the range of an IPPool is assigned, reserved, excluded or in quarantine.',
    impact:
      'New virtual machines on the network get no address and wait, with the reason `PoolExhausted`. Those that have an address keep it.',
    diagnosis: [
      {
        text: 'See how many addresses each pool has:',
        command: 'kubectl vmdhcp pools -A',
      },
      {
        text: 'See who has the addresses. Look for virtual machines that are not needed any more:',
        command: 'kubectl vmdhcp leases -A --pool NAMESPACE/NAME',
      },
      {
        text: 'See what is excluded, reserved or in quarantine:',
        command: 'kubectl describe ippool NAME',
      },
    ],
    remedy: [
      'Let the range grow: raise `spec.ipv4Config.pool.end`, or lower `start`. Virtual machines that wait get addresses at once ([how](../addresses.md#change-the-range-of-a-pool)).',
      'Free an address that no virtual machine needs: `kubectl vmdhcp release ADDRESS`. It refuses what a virtual machine still needs.',
      'Remove exclusions and reservations that are not needed any more.',
    ],
  },
};
