import type { Alert } from '../alert.js';

export const certificateExpires: Alert = {
  name: 'VmdhcpCertificateExpires',
  group: 'controller',
  expression: `(
    label_replace(min by (cluster, namespace) (vmdhcpwebhook_certificate_expiry_timestamp_seconds), "certificate", "webhook", "", "")
  or
    min by (cluster, namespace, certificate) (vmdhcpcontroller_wol_certificate_expiry_timestamp_seconds)
)
  - time()
  < 14 * 86400`,
  for: '1h',
  severity: 'warning',
  summary: 'the certificate of {{ $labels.certificate }} expires in {{ $value | humanizeDuration }}',
  description:
    'The certificate of {{ $labels.certificate }} is not renewed as it should be, and expires in {{ $value | humanizeDuration }}. Programs renew their own certificates five weeks before, and cert-manager a month before.',
  runbook: {
    meaning:
      'A certificate ends within two weeks: that of the webhook, or that of the manager or of the agents of Wake-on-LAN. It should have been renewed long before.',
    impact:
      'After it has expired: the API server does not reach the webhook, whose failurePolicy decides then; agents of Wake-on-LAN report no wake-ups.',
    diagnosis: [
      {
        text: 'Read why it is not renewed:',
        command: "kubectl -n vm-dhcp-system logs -l 'app.kubernetes.io/component in (controller,webhook)' --tail=200 --prefix",
      },
      {
        text: 'With cert-manager, see what the Certificate reports:',
        command: 'kubectl -n vm-dhcp-system describe certificates',
      },
    ],
    remedy: [
      'The program may not write its Secrets: apply the rights of this version again ([rights](../rights.md)).',
      'Delete the Secret that has the certificate: it is issued anew at once.',
      'With cert-manager and `webhook.certManager.duration` of less than six weeks: leave this alert out (`alerts.disabled` of the chart).',
    ],
  },
};
