import type { Alert } from '../alert.js';

export const auditRecordsLost: Alert = {
  name: 'VmdhcpAuditRecordsLost',
  group: 'controller',
  expression:
    'sum by (cluster, namespace, reason) (increase(vmdhcpcontroller_audit_records_dropped_total{reason="not-stored"}[10m])) > 0',
  for: '0s',
  severity: 'warning',
  summary: 'records of who had which address were given up',
  description:
    'Within ten minutes the controller gave up {{ $value }} records of assignments before it knew that they are stored. It compared what is stored with what is there: what has begun or ended meanwhile has the reason not-recorded, and times that are less exact.',
  runbook: {
    meaning:
      'The controller gave up records that waited, and began again with what is stored. Another client has written to its ConfigMaps, or more than 50,000 records waited.',
    impact:
      'No client notices it. For that time `kubectl vmdhcp audit` answers that it is not known who had an address, where it cannot be sure. The log of the controller has all lines.',
    diagnosis: [
      {
        text: 'See who writes to the ConfigMaps: `manager` is to be the controller alone:',
        command:
          "kubectl get configmaps -A -l network.harvesterhci.io/audit=true -o yaml --show-managed-fields | grep 'manager:' | sort | uniq -c",
      },
      {
        text: 'Find what the records do not have:',
        command:
          "kubectl -n vm-dhcp-system logs -l app.kubernetes.io/component=controller --tail=-1 --prefix | grep 'address assignment'",
      },
    ],
    remedy: [
      'A program that copies or labels ConfigMaps writes to them: exclude those with the label `network.harvesterhci.io/audit`.',
      'Two controllers lead: see [VmdhcpNoControllerLeads](VmdhcpNoControllerLeads.md), and give each installation a namespace of its own.',
      'Writes failed for long before: see [VmdhcpAuditNotStored](VmdhcpAuditNotStored.md).',
      'It happened once, when the leader changed: nothing is to be done.',
    ],
  },
};
