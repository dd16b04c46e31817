import type { Alert } from '../alert.js';

export const wakeUpsFail: Alert = {
  name: 'VmdhcpWakeUpsFail',
  group: 'wake-on-lan',
  // The series of most failures begin with 0; one may fail before the first scrape, or in a program of an earlier version.
  expression: `sum by (cluster, namespace, outcome, reason) (increase(vmdhcpcontroller_wake_ups_total{outcome=~"failed|unavailable|abandoned"}[10m])) > 0
or
  sum by (cluster, namespace, outcome, reason) (
    vmdhcpcontroller_wake_ups_total{outcome=~"failed|unavailable|abandoned"} > 0
    unless
      last_over_time(vmdhcpcontroller_wake_ups_total[1d] offset 10m)
  )`,
  for: '0s',
  severity: 'warning',
  summary: 'magic packets start no virtual machine: {{ $labels.reason }}',
  description:
    'Within ten minutes a wake-up ended as {{ $labels.outcome }}, because of {{ $labels.reason }}. The Event of the virtual machine has who sent it and what failed.',
  runbook: {
    meaning:
      'A wake-up was accepted, and the virtual machine was not started: KubeVirt refused it or did not answer, or the virtual machine was not down in time.',
    impact: 'The virtual machine stays off.',
    diagnosis: [
      {
        text: 'Read the Events of wake-ups:',
        command: 'kubectl vmdhcp events -A',
      },
    ],
    remedy: [
      '[A magic packet starts no virtual machine](../troubleshooting.md#a-magic-packet-starts-no-virtual-machine) has each Event.',
      'Then send the packet again: nothing is tried again by itself.',
    ],
  },
};
