import type { Alert } from '../alert.js';

export const apiRequestsFail: Alert = {
  name: 'VmdhcpApiRequestsFail',
  group: 'controller',
  expression:
    'sum by (cluster, namespace, resource, code) (rate(vmdhcpcontroller_api_requests_total{code=~"0|403|429|5.."}[5m])) > 0',
  for: '10m',
  severity: 'warning',
  summary: 'requests of the controller for {{ $labels.resource }} fail with {{ $labels.code }}',
  description:
    'The API server has answered requests of the controller for {{ $labels.resource }} with {{ $labels.code }} for ten minutes (0: not at all).',
  runbook: {
    meaning:
      'Requests of the controller to the API server have failed for ten minutes: 403 is a right that it lacks, 429 too many requests, 0 no answer.',
    impact: 'What the controller wanted to read or write is late, or does not happen at all.',
    diagnosis: [
      {
        text: 'Read which request fails, and why:',
        command: 'kubectl -n vm-dhcp-system logs -l app.kubernetes.io/component=controller --tail=100 --prefix',
      },
      {
        text: 'For 403, see what the controller may do:',
        command: 'kubectl auth can-i --list --as=system:serviceaccount:vm-dhcp-system:vm-dhcp-controller',
      },
    ],
    remedy: [
      '403: apply the ClusterRole of this version again ([rights](../rights.md)).',
      '429, 5xx or 0: the API server is overloaded, or its webhooks do not answer; look at its log.',
    ],
  },
};
