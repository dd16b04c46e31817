import type { Alert } from '../alert.js';

export const claimsRefused: Alert = {
  name: 'VmdhcpClaimsRefused',
  group: 'agents',
  expression: 'max by (cluster, namespace, instance, pool) (vmdhcp_agent_pool_refused_claims) > 0',
  for: '10m',
  severity: 'warning',
  summary: 'pool {{ $labels.pool }} has no address for {{ $value }} interfaces',
  description:
    'On the bare host {{ $labels.instance }} {{ $value }} interfaces of machines have no address in pool {{ $labels.pool }}: the pool is full, or they ask for what it does not have. vmdhcp-agent check has the cause.',
  runbook: {
    meaning: 'An agent on a bare host cannot assign an address to interfaces that its pools file names.',
    impact: 'These machines get no address.',
    diagnosis: [
      {
        text: 'Check the pools file: the problems have line and column.',
        command: 'vmdhcp-agent check FILE',
      },
    ],
    remedy: [
      'Correct what `check` names: widen the range, or change the address or the MAC address. The agent reads the file again by itself.',
    ],
  },
};
