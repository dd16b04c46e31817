import type { Alert } from '../alert.js';

export const poolFillsUp: Alert = {
  name: 'VmdhcpPoolFillsUp',
  group: 'pools',
  expression: `(
    min by (cluster, namespace, ippool, network) (
      predict_linear(vmdhcpcontroller_ippool_available[6h], 86400) and vmdhcpcontroller_ippool_available
    ) < 0
  and
    max by (cluster, namespace, ippool, network) (vmdhcpcontroller_ippool_available) > 0
)
and
  max by (cluster, namespace, ippool, network) (vmdhcpcontroller_ippool_available)
    < max by (cluster, namespace, ippool, network) (vmdhcpcontroller_ippool_used)`,
  for: '1h',
  severity: 'warning',
  summary: 'IPPool {{ $labels.ippool }} will be full within a day',
  description:
    'If IPPool {{ $labels.ippool }} (network {{ $labels.network }}) goes on to fill up as in the last six hours, it has no free address within a day. Let the range grow.',
  runbook: {
    meaning:
      'An IPPool, half full or more, loses addresses so fast that it has none left within a day, if the last six hours go on.',
    impact: 'None yet. When the last address is assigned, new virtual machines on the network get none.',
    diagnosis: [
      {
        text: 'See how many addresses are left:',
        command: 'kubectl vmdhcp pools -A',
      },
      {
        text: 'See which virtual machines got addresses, and look for something that creates them all the time:',
        command: 'kubectl vmdhcp events -A',
      },
    ],
    remedy: [
      'Let the range grow: [how](../addresses.md#change-the-range-of-a-pool).',
      'Stop what creates virtual machines by mistake, and delete them.',
    ],
  },
};
