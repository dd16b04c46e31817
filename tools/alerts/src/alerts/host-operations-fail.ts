import type { Alert } from '../alert.js';

export const hostOperationsFail: Alert = {
  name: 'VmdhcpHostOperationsFail',
  group: 'bare-metal',
  expression: 'sum by (cluster, namespace, action) (increase(vmdhcp_agent_host_operations_total{outcome="failure"}[10m])) > 0',
  for: '0s',
  severity: 'warning',
  summary: 'a HostOperation failed: {{ $labels.action }}',
  description:
    'Within ten minutes a HostOperation with the action {{ $labels.action }} failed. The Event OperationFailed has the answer of the management controller. An operation is never repeated.',
  runbook: {
    meaning: 'A management controller refused an action, or did not answer.',
    impact: 'The host is in the power state that it had, or in one that is not known.',
    diagnosis: [
      {
        text: 'Find the operation, and read its message:',
        command: 'kubectl get hostoperations',
      },
      {
        text: 'Read the power state of the host:',
        command: 'kubectl describe hoststatus NAME',
      },
    ],
    remedy: ['Correct what the message names, and create another HostOperation: none is repeated.'],
  },
};
