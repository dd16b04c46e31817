import type { Dashboard } from '../dashboard.js';

const OF_POOLS = 'ippool=~"$ippool"';

export const pool: Dashboard = {
  name: 'pool',
  title: 'Pools',
  description: 'Addresses and conditions of IPPools, and when they are full.',
  variables: [{ name: 'ippool', label: 'IPPool', valuesOf: 'ippool', metric: 'vmdhcpcontroller_ippool_used' }],
  rows: [
    {
      title: 'Addresses',
      panels: [
        {
          type: 'timeseries',
          title: 'Free addresses',
          description: 'At 0 new virtual machines get no address.',
          unit: 'short',
          queries: [{ expression: `max by (ippool) (vmdhcpcontroller_ippool_available{${OF_POOLS}})`, legend: '{{ippool}}' }],
        },
        {
          type: 'timeseries',
          title: 'Used addresses',
          description: 'Assigned to clients.',
          unit: 'short',
          queries: [{ expression: `max by (ippool) (vmdhcpcontroller_ippool_used{${OF_POOLS}})`, legend: '{{ippool}}' }],
        },
        {
          type: 'timeseries',
          title: 'Share of free addresses',
          description: 'Less than a tenth is a reason to let the range grow.',
          unit: 'percentunit',
          queries: [
            {
              expression: `max by (ippool) (vmdhcpcontroller_ippool_available{${OF_POOLS}}) / (max by (ippool) (vmdhcpcontroller_ippool_available{${OF_POOLS}}) + max by (ippool) (vmdhcpcontroller_ippool_used{${OF_POOLS}}))`,
              legend: '{{ippool}}',
            },
          ],
        },
      ],
    },
    {
      title: 'What comes',
      panels: [
        {
          type: 'table',
          title: 'Time until a pool is full',
          description:
            'If the last six hours go on; the ten pools that are full first. A pool that does not fill up is not there.',
          unit: 's',
          queries: [
            {
              expression: `bottomk(10, max by (ippool) (vmdhcpcontroller_ippool_available{${OF_POOLS}}) / (max by (ippool) (deriv(vmdhcpcontroller_ippool_available{${OF_POOLS}}[6h]) < 0) * -1))`,
              legend: '{{ippool}}',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Free addresses a day from now',
          description: 'If the last six hours go on. At 0 the pool is full by then.',
          unit: 'short',
          queries: [
            {
              expression: `clamp_min(min by (ippool) (predict_linear(vmdhcpcontroller_ippool_available{${OF_POOLS}}[6h], 86400)), 0)`,
              legend: '{{ippool}}',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Addresses in quarantine',
          description: 'Another machine uses them.',
          unit: 'short',
          queries: [{ expression: `max by (ippool) (vmdhcpcontroller_ippool_quarantined{${OF_POOLS}})`, legend: '{{ippool}}' }],
        },
      ],
    },
    {
      title: 'Conditions',
      panels: [
        {
          type: 'table',
          title: 'Conditions that are False',
          description: 'With their reason. Stopped and RogueServer are as they should be when they are False.',
          unit: 'short',
          queries: [
            {
              expression: `max by (ippool, condition, reason) (vmdhcpcontroller_ippool_condition{${OF_POOLS}}) == 0`,
              legend: '{{ippool}} {{condition}} {{reason}}',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Served',
          description: '1: an agent serves the pool.',
          unit: 'short',
          queries: [
            {
              expression: `max by (ippool) (vmdhcpcontroller_ippool_condition{${OF_POOLS},condition="AgentReady"})`,
              legend: '{{ippool}}',
            },
          ],
        },
      ],
    },
  ],
};
