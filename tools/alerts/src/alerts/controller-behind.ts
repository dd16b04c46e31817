import type { Alert } from '../alert.js';

export const controllerBehind: Alert = {
  name: 'VmdhcpControllerBehind',
  group: 'controller',
  expression: {
    seconds: 30,
    longerThan: (seconds) => `max by (cluster, namespace, kind) (vmdhcpcontroller_queue_oldest_seconds) > ${seconds}`,
  },
  for: '5m',
  severity: 'warning',
  summary: 'the controller is {{ $value | humanizeDuration }} behind with {{ $labels.kind }}',
  description:
    'The oldest object of kind {{ $labels.kind }} has waited {{ $value | humanizeDuration }} to be reconciled. Changes take effect that late.',
  runbook: {
    meaning:
      'An object has waited for more than 30 seconds for its turn in the controller, and there has been such an object for five minutes.',
    impact: 'New virtual machines wait for their addresses, and changes of pools take effect late.',
    diagnosis: [
      {
        text: 'See whether one kind fails again and again, and which requests are slow: `vmdhcpcontroller_reconcile_errors_total`, `vmdhcpcontroller_api_request_duration_seconds`.',
      },
      {
        text: 'Look for errors and retries:',
        command: 'kubectl -n vm-dhcp-system logs -l app.kubernetes.io/component=controller --tail=100 --prefix',
      },
      {
        text: 'See whether it has the CPU that it needs:',
        command: 'kubectl -n vm-dhcp-system top pods',
      },
    ],
    remedy: [
      'Raise `resources` of the controller, if it uses all of its CPU.',
      'The API server is slow: see [VmdhcpApiServerSlow](VmdhcpApiServerSlow.md).',
      'Thousands of virtual machines were created at once: wait, and watch `vmdhcpcontroller_queue_depth` fall.',
    ],
  },
};
