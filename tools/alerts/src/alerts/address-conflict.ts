import type { Alert } from '../alert.js';

export const addressConflict: Alert = {
  name: 'VmdhcpAddressConflict',
  group: 'pools',
  expression: 'max by (cluster, namespace, ippool, network) (vmdhcpcontroller_ippool_quarantined) > 0',
  for: '0s',
  severity: 'warning',
  summary: 'IPPool {{ $labels.ippool }} has {{ $value }} addresses that another machine uses',
  description:
    'Machines without a lease use {{ $value }} addresses of IPPool {{ $labels.ippool }} (network {{ $labels.network }}). These addresses are in quarantine for an hour. The Events of the pool have the MAC addresses.',
  runbook: {
    meaning:
      'A machine that has no lease answers for an address of a pool, so the address is in quarantine: no client gets it for an hour.',
    impact: 'A virtual machine that had the address has been given another one. The pool has fewer addresses.',
    diagnosis: [
      {
        text: 'Read the addresses, and the MAC addresses of the machines that use them:',
        command: 'kubectl describe ippool NAME',
      },
      {
        text: 'See the Events:',
        command: 'kubectl vmdhcp events -A',
      },
    ],
    remedy: [
      'Remove the machine from the network, or configure it with an address outside the range.',
      'If it is to keep the address: exclude the address, or reserve it for the MAC address of the machine.',
      'Then end the quarantine: `kubectl vmdhcp release ADDRESS`.',
    ],
  },
};
