import type { Alert } from '../alert.js';

export const reconcilesFail: Alert = {
  name: 'VmdhcpReconcilesFail',
  group: 'controller',
  expression: 'sum by (cluster, namespace, kind) (rate(vmdhcpcontroller_reconcile_errors_total{kind!="audit"}[5m])) > 0',
  for: '10m',
  severity: 'warning',
  summary: 'the controller fails with {{ $labels.kind }} again and again',
  description:
    'Reconciles, lists or watches of kind {{ $labels.kind }} have failed for ten minutes. The log of the controller names the object and the error.',
  runbook: {
    meaning: 'The controller cannot bring objects of a kind to the state they should have, or cannot list them, and tries again.',
    impact: 'The objects that fail stay as they are. Others are not affected.',
    diagnosis: [
      {
        text: 'Read the error, and the object that it is about:',
        command: 'kubectl -n vm-dhcp-system logs -l app.kubernetes.io/component=controller --tail=100 --prefix',
      },
      {
        text: 'See what it reported:',
        command: 'kubectl vmdhcp events -A',
      },
    ],
    remedy: [
      '`forbidden`: apply the ClusterRole of this version again ([rights](../rights.md)).',
      '`not found` for a kind: KubeVirt or Multus is missing.',
      'Anything else that stays: open an issue with the lines of the log.',
    ],
  },
};
