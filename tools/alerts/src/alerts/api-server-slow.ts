import type { Alert } from '../alert.js';

export const apiServerSlow: Alert = {
  name: 'VmdhcpApiServerSlow',
  group: 'controller',
  expression: `histogram_quantile(
  0.9,
  sum by (cluster, namespace, le) (rate(vmdhcpcontroller_api_request_duration_seconds_bucket[5m]))
) > 1`,
  for: '10m',
  severity: 'warning',
  summary: 'the API server answers the controller slowly',
  description:
    'A tenth of the requests of the controller to the API server take more than {{ $value | humanizeDuration }}. Addresses are assigned late, and leaders may lose their Leases.',
  runbook: {
    meaning: 'A tenth of the requests of the controller took more than a second, for ten minutes.',
    impact:
      'New virtual machines wait for their addresses. If requests take several seconds, agents lose their leadership, and standbys answer.',
    diagnosis: [
      {
        text: 'Measure it from your machine:',
        command: "kubectl get --raw '/readyz?verbose'",
      },
      {
        text: 'See which requests are slow: `vmdhcpcontroller_api_request_duration_seconds` by `method` and `resource`.',
      },
    ],
    remedy: [
      'Look at etcd (disk latency above all) and at the CPU of the control plane.',
      'Very large pools make slow writes: a pool of 30,000 addresses costs most of a second for each patch ([performance](../performance.md)).',
    ],
  },
};
