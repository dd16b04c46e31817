import type { Alert } from '../alert.js';

export const auditNotStored: Alert = {
  name: 'VmdhcpAuditNotStored',
  group: 'controller',
  expression: 'sum by (cluster, namespace, kind) (rate(vmdhcpcontroller_reconcile_errors_total{kind="audit"}[5m])) > 0',
  for: '15m',
  severity: 'warning',
  summary: 'records of who had which address are not stored',
  description:
    'For a quarter of an hour the controller has failed to read or write the ConfigMaps with its records of assignments. Addresses are assigned as before. If the controller ends now, what happened since then is not known.',
  runbook: {
    meaning:
      'The controller cannot store its records of who had which address, and tries again. At most 50,000 records wait, in its memory.',
    impact:
      'No client notices it. `kubectl vmdhcp audit` answers that the newest changes are not known. When the controller ends before it could store them, they are lost, but for the lines in its log.',
    diagnosis: [
      {
        text: 'Read the error: `records of assignments cannot be stored or read`:',
        command:
          "kubectl -n vm-dhcp-system logs -l app.kubernetes.io/component=controller --tail=1000 --prefix | grep 'records of assignments'",
      },
      {
        text: 'List the ConfigMaps: there are 65:',
        command: 'kubectl get configmaps -A -l network.harvesterhci.io/audit=true',
      },
    ],
    remedy: [
      '`forbidden`: the Role of the controller in the namespace of the agents lacks the ConfigMaps; apply the chart or the manifest of this version again ([rights](../rights.md)).',
      'A quota or an admission policy refuses them: allow these 65 ConfigMaps, of at most 1 MiB each.',
      '`no room for more records`: more assignments than can be stored have not ended; switch the records off (`--no-audit`, `audit.enabled=false`), and keep the log.',
    ],
  },
};
