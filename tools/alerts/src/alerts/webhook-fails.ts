import type { Alert } from '../alert.js';

export const webhookFails: Alert = {
  name: 'VmdhcpWebhookFails',
  group: 'controller',
  expression:
    'sum by (cluster, namespace, resource, operation) (rate(vmdhcpwebhook_decision_duration_seconds_count{outcome="failed"}[5m])) > 0',
  for: '5m',
  severity: 'warning',
  summary: 'the admission webhook cannot decide about {{ $labels.resource }}',
  description:
    'The webhook has answered no decision for {{ $labels.operation }} of {{ $labels.resource }} for five minutes: the failurePolicy decides, so wrong objects may be accepted, or right ones refused.',
  runbook: {
    meaning: 'The webhook received requests and could not decide: it has a bug.',
    impact: 'The `failurePolicy` of the registration decides: [admission](../admission.md).',
    diagnosis: [
      {
        text: 'Read the error:',
        command: 'kubectl -n vm-dhcp-system logs -l app.kubernetes.io/component=webhook --tail=100 --prefix',
      },
    ],
    remedy: [
      'Open an issue with the lines of the log.',
      'If IPPools cannot be changed until it is corrected: upgrade with `webhook.enabled=false` of the chart. Then no webhook is asked.',
    ],
  },
};
