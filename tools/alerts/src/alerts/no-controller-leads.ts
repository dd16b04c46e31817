import type { Alert } from '../alert.js';

export const noControllerLeads: Alert = {
  name: 'VmdhcpNoControllerLeads',
  group: 'controller',
  expression: `max by (cluster, namespace) (vmdhcpcontroller_leading) == 0
or
  max by (cluster, namespace) (max_over_time(vmdhcpcontroller_leading[7d]))
  unless on (cluster, namespace)
    vmdhcpcontroller_leading`,
  for: '2m',
  severity: 'critical',
  summary: 'no controller is leader',
  description:
    'No controller is leader: new virtual machines get no address, and agents are not deployed. Those that run continue.',
  runbook: {
    meaning: 'No replica of the controller is leader, or none is left that Prometheus could scrape.',
    impact:
      'New virtual machines get no address, and changed pools are not served. Agents continue with what they know: virtual machines keep their addresses.',
    diagnosis: [
      {
        text: 'See the pods of the controller:',
        command: 'kubectl get pods -A -l app.kubernetes.io/component=controller -o wide',
      },
      {
        text: 'See which replica has the Lease:',
        command: 'kubectl get leases -A',
      },
      {
        text: 'Read why they end or wait:',
        command: 'kubectl -n vm-dhcp-system logs -l app.kubernetes.io/component=controller --tail=20 --prefix',
      },
    ],
    remedy: [
      '[Nothing happens at all](../troubleshooting.md#nothing-happens-at-all) has each cause.',
      'The pods run and have a leader: Prometheus does not scrape them. Look at the ServiceMonitor, and at NetworkPolicies.',
      'The controller was uninstalled, runs in another namespace, or its targets have got another label `cluster` or `namespace`: silence the alert for the old one, it ends after a week.',
    ],
  },
};
