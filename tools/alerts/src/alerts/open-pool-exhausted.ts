import type { Alert } from '../alert.js';

export const openPoolExhausted: Alert = {
  name: 'VmdhcpOpenPoolExhausted',
  group: 'agents',
  expression: `max by (cluster, namespace, instance, pool) (vmdhcp_agent_dynamic_addresses{state="free"}) == 0
unless on (cluster, namespace, instance) vmdhcp_agent_hosts`,
  for: '5m',
  severity: 'warning',
  summary: 'pool {{ $labels.pool }} has no address left for unknown clients',
  description:
    'Every dynamic address of pool {{ $labels.pool }} is leased, in quarantine or declared. Unknown clients get no reply from {{ $labels.instance }}.',
  runbook: {
    meaning:
      'Unknown clients have leased every address that an open pool has for them. Agents of bare-metal hosts have [an alert of their own](VmdhcpHostRangeExhausted.md).',
    impact: 'New unknown clients get no reply (`pool-exhausted`). Clients that have a lease keep it.',
    diagnosis: [
      {
        text: 'List the leases, on the host of the agent:',
        command: 'vmdhcp-agent leases',
      },
    ],
    remedy: [
      'Widen `spec.ipv4Config.dynamic` of the pool.',
      'Clients that are gone for good: `vmdhcp-agent release ADDRESS --state DIR` on the host of the agent ends the lease.',
      'Shorten `leaseTime`: leases that are granted from then on are free sooner. Those that clients have stay as long as they are.',
      'Declare clients that are to have their address always.',
    ],
  },
};
