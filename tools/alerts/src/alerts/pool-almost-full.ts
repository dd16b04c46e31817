import type { Alert } from '../alert.js';

export const poolAlmostFull: Alert = {
  name: 'VmdhcpPoolAlmostFull',
  group: 'pools',
  expression: `(
    max by (cluster, namespace, ippool, network) (vmdhcpcontroller_ippool_available)
  /
    (
        max by (cluster, namespace, ippool, network) (vmdhcpcontroller_ippool_available)
      +
        max by (cluster, namespace, ippool, network) (vmdhcpcontroller_ippool_used)
    )
)
  < 0.1 > 0`,
  for: '15m',
  severity: 'warning',
  summary: 'IPPool {{ $labels.ippool }} has {{ $value | humanizePercentage }} of its addresses left',
  description:
    'Less than a tenth of the addresses of IPPool {{ $labels.ippool }} (network {{ $labels.network }}) are free. Let the range grow before it is full.',
  runbook: {
    meaning: 'Less than a tenth of the addresses of an IPPool are free, and at least one is.',
    impact: 'None yet. When the last address is assigned, new virtual machines on the network get none.',
    diagnosis: [
      {
        text: 'See how many addresses are left:',
        command: 'kubectl vmdhcp pools -A',
      },
      {
        text: 'See who has them:',
        command: 'kubectl vmdhcp leases -A --pool NAMESPACE/NAME',
      },
    ],
    remedy: [
      'Let the range grow: [how](../addresses.md#change-the-range-of-a-pool).',
      'Delete virtual machines that are not needed any more: their addresses are free at once.',
      'A pool that is meant to be nearly full: leave the alert out with `alerts.disabled` of the chart, or silence it for this pool.',
    ],
  },
};
