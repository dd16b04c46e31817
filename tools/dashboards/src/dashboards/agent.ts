import type { Dashboard } from '../dashboard.js';

const OF_AGENTS = 'instance=~"$instance"';

export const agent: Dashboard = {
  name: 'agent',
  title: 'Agents',
  description: 'What agents answer, refuse and lose, which are leaders, and how long they take. Agents on bare hosts, too.',
  variables: [{ name: 'instance', label: 'Agent', valuesOf: 'instance', metric: 'vmdhcp_agent_pool_served' }],
  rows: [
    {
      title: 'Leadership',
      panels: [
        {
          type: 'timeseries',
          title: 'Leaders',
          description: '1: the agent has the server addresses of its group.',
          unit: 'short',
          queries: [{ expression: `vmdhcp_agent_leading{${OF_AGENTS}}`, legend: '{{instance}}' }],
        },
        {
          type: 'timeseries',
          title: 'Pools that are served',
          description: '1: on all its interfaces. For a standby: if it became leader.',
          unit: 'short',
          queries: [{ expression: `vmdhcp_agent_pool_served{${OF_AGENTS}}`, legend: '{{instance}} {{pool}}' }],
        },
        {
          type: 'timeseries',
          title: 'Duration of nine of ten take-overs',
          description: 'From the last renewal of the Lease until another replica was leader, within an hour.',
          unit: 's',
          queries: [
            {
              expression: `histogram_quantile(0.9, sum by (le) (increase(vmdhcp_agent_takeover_duration_seconds_bucket{${OF_AGENTS}}[1h])))`,
              legend: 'take-over',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Replies of standbys',
          description: 'To clients that the leader did not answer. During a take-over only.',
          unit: 'ops',
          queries: [
            {
              expression: `rate(vmdhcp_agent_standby_answers_total{${OF_AGENTS}}[$__rate_interval])`,
              legend: '{{instance}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Clients',
      panels: [
        {
          type: 'timeseries',
          title: 'Messages, by type and what became of them',
          description: 'A DISCOVER becomes an offer, a REQUEST an ack.',
          unit: 'ops',
          queries: [
            {
              expression: `sum by (type, outcome) (rate(vmdhcp_agent_messages_total{${OF_AGENTS}}[$__rate_interval]))`,
              legend: '{{type}} {{outcome}}',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Refused or ignored, by reason',
          description: 'docs/reference/packet-reasons.md has the meaning of each reason.',
          unit: 'ops',
          queries: [
            {
              expression: `sum by (outcome, reason) (rate(vmdhcp_agent_messages_total{${OF_AGENTS},reason!=""}[$__rate_interval]))`,
              legend: '{{outcome}} {{reason}}',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Dropped packets, by reason',
          description: 'Packets that are not a message for this server, and replies that could not be sent.',
          unit: 'ops',
          queries: [
            {
              expression: `sum by (reason) (rate(vmdhcp_agent_packets_dropped_total{${OF_AGENTS}}[$__rate_interval]))`,
              legend: '{{reason}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Replies and leases',
      panels: [
        {
          type: 'timeseries',
          title: 'Time to answer 99 of 100 bursts',
          description: 'From reading a burst of messages to having handed its replies to the kernel.',
          unit: 's',
          queries: [
            {
              expression: `histogram_quantile(0.99, sum by (le) (rate(vmdhcp_agent_answer_duration_seconds_bucket{${OF_AGENTS}}[$__rate_interval])))`,
              legend: 'answer',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Lease events',
          description: 'Plain renewals are not counted.',
          unit: 'ops',
          queries: [
            {
              expression: `sum by (event) (rate(vmdhcp_agent_lease_events_total{${OF_AGENTS}}[$__rate_interval]))`,
              legend: '{{event}}',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Addresses of open pools',
          description: 'By state. Without a free one, unknown clients get no reply.',
          unit: 'short',
          queries: [
            {
              expression: `sum by (pool, state) (vmdhcp_agent_dynamic_addresses{${OF_AGENTS}})`,
              legend: '{{pool}} {{state}}',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Time to record 99 of 100 writes of leases',
          description: 'Of unknown clients: their reply waits for it.',
          unit: 's',
          queries: [
            {
              expression: `histogram_quantile(0.99, sum by (le) (rate(vmdhcp_agent_lease_write_duration_seconds_bucket{${OF_AGENTS}}[$__rate_interval])))`,
              legend: 'write',
            },
          ],
        },
      ],
    },
  ],
};
