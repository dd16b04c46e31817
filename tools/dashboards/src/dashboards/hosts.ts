import type { Dashboard } from '../dashboard.js';

export const hosts: Dashboard = {
  name: 'hosts',
  title: 'Bare-metal hosts',
  description:
    'ClusterAgents and their addresses, hosts whose management controllers do not answer, and what HostOperations did.',
  variables: [],
  rows: [
    {
      title: 'Is something wrong?',
      panels: [
        {
          type: 'stat',
          title: 'ClusterAgents that are not ready',
          description: 'As many agents as there should be do not run: no host gets an address there.',
          unit: 'short',
          queries: [
            { expression: 'count(max by (clusteragent) (vmdhcpcontroller_cluster_agent_ready) == 0) or vector(0)', legend: '' },
          ],
          worry: { from: 1 },
        },
        {
          type: 'stat',
          title: 'Hosts that do not answer',
          description: 'Their management controllers do not answer, or refuse every poll.',
          unit: 'short',
          queries: [{ expression: 'sum(vmdhcp_agent_hosts{state="unhealthy"})', legend: '' }],
          worry: { from: 1 },
        },
        {
          type: 'stat',
          title: 'Full ranges',
          description: 'ClusterAgents without a free address for a new host.',
          unit: 'short',
          queries: [
            {
              expression:
                'count(max by (clusteragent) (vmdhcpcontroller_cluster_agent_addresses{state="available"}) == 0) or vector(0)',
              legend: '',
            },
          ],
          worry: { from: 1 },
        },
        {
          type: 'stat',
          title: 'Actions that failed within an hour',
          description: 'Of HostOperations. None is repeated.',
          unit: 'short',
          queries: [
            {
              expression: 'round(sum(increase(vmdhcp_agent_host_operations_total{outcome="failure"}[1h]))) or vector(0)',
              legend: '',
            },
          ],
          worry: { from: 1 },
        },
        {
          type: 'stat',
          title: 'Operations that no agent takes',
          description:
            'HostOperations that failed because their ClusterAgent or host is not there; since the controllers started.',
          unit: 'short',
          queries: [{ expression: 'sum(vmdhcpcontroller_orphaned_host_operations_total)', legend: '' }],
          worry: { from: 1 },
        },
        {
          type: 'stat',
          title: 'Other DHCP servers',
          description: 'That answer on the networks of ClusterAgents. Hosts may boot from them.',
          unit: 'short',
          queries: [{ expression: 'sum(vmdhcp_agent_other_dhcp_servers) or vector(0)', legend: '' }],
          worry: { from: 1 },
        },
      ],
    },
    {
      title: 'Hosts and addresses',
      panels: [
        {
          type: 'timeseries',
          title: 'Hosts, by health',
          description: 'healthy: the management controller answers its polls.',
          unit: 'short',
          queries: [{ expression: 'sum by (state) (vmdhcp_agent_hosts)', legend: '{{state}}' }],
        },
        {
          type: 'table',
          title: 'Hosts that do not answer for longest',
          description: 'And for how long. The Event HostUnhealthy of the HostStatus has the cause.',
          unit: 's',
          queries: [
            {
              expression: 'topk(10, time() - min by (hoststatus) (vmdhcp_agent_host_unhealthy_since_timestamp_seconds))',
              legend: '{{hoststatus}}',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Addresses of ClusterAgents',
          description: 'Without an available one, new hosts get no reply.',
          unit: 'short',
          queries: [
            {
              expression: 'max by (clusteragent, state) (vmdhcpcontroller_cluster_agent_addresses)',
              legend: '{{clusteragent}} {{state}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Management controllers',
      panels: [
        {
          type: 'timeseries',
          title: 'Polls, by outcome',
          description: 'overdue: no answer in time.',
          unit: 'ops',
          queries: [
            { expression: 'sum by (outcome) (rate(vmdhcp_agent_host_polls_total[$__rate_interval]))', legend: '{{outcome}}' },
          ],
        },
        {
          type: 'timeseries',
          title: 'Time of nine of ten polls',
          description: 'A host that does not answer has 30 s.',
          unit: 's',
          queries: [
            {
              expression:
                'histogram_quantile(0.9, sum by (le) (rate(vmdhcp_agent_host_poll_duration_seconds_bucket[$__rate_interval])))',
              legend: 'poll',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Actions, by outcome',
          description: 'Of HostOperations, as management controllers answered them; since the agents started.',
          unit: 'short',
          queries: [
            {
              expression: 'sum by (action, outcome) (vmdhcp_agent_host_operations_total) > 0',
              legend: '{{action}} {{outcome}}',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Time of nine of ten actions',
          description: 'From the beginning until the management controller answered; of all since the agents started.',
          unit: 's',
          queries: [
            {
              expression: 'histogram_quantile(0.9, sum by (le, action) (vmdhcp_agent_host_operation_duration_seconds_bucket))',
              legend: '{{action}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Agents',
      panels: [
        {
          type: 'timeseries',
          title: 'ClusterAgents that are ready',
          description: '1: as many agents run as there should be.',
          unit: 'short',
          queries: [{ expression: 'max by (clusteragent) (vmdhcpcontroller_cluster_agent_ready)', legend: '{{clusteragent}}' }],
        },
        {
          type: 'timeseries',
          title: 'Writes of objects, by outcome',
          description: 'HostStatus and HostOperation objects. A write that is refused is tried again.',
          unit: 'ops',
          queries: [
            {
              expression: 'sum by (write, outcome) (rate(vmdhcp_agent_host_writes_total[$__rate_interval]))',
              legend: '{{write}} {{outcome}}',
            },
          ],
        },
      ],
    },
  ],
};
