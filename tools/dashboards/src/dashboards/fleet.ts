import type { Dashboard } from '../dashboard.js';

export const fleet: Dashboard = {
  name: 'fleet',
  title: 'Fleet',
  description: 'All pools, agents and controllers: is something wrong, and where.',
  variables: [],
  rows: [
    {
      title: 'Is something wrong?',
      panels: [
        {
          type: 'stat',
          title: 'Alerts that fire',
          description: 'Alerts of vmdhcp, where the rules are loaded. docs/runbooks has a page for each.',
          unit: 'short',
          queries: [{ expression: 'count(ALERTS{alertname=~"Vmdhcp.+",alertstate="firing"}) or vector(0)', legend: '' }],
          worry: { from: 1 },
        },
        {
          type: 'stat',
          title: 'Pools that are not served',
          description: 'IPPools whose condition AgentReady is False: their clients get no reply.',
          unit: 'short',
          queries: [
            {
              expression: 'count(max by (ippool) (vmdhcpcontroller_ippool_condition{condition="AgentReady"}) == 0) or vector(0)',
              legend: '',
            },
          ],
          worry: { from: 1 },
        },
        {
          type: 'stat',
          title: 'Full pools',
          description: 'IPPools without a free address.',
          unit: 'short',
          queries: [{ expression: 'count(max by (ippool) (vmdhcpcontroller_ippool_available) == 0) or vector(0)', legend: '' }],
          worry: { from: 1 },
        },
        {
          type: 'stat',
          title: 'Interfaces without an address',
          description: 'Interfaces of virtual machines that wait for an address.',
          unit: 'short',
          queries: [
            {
              expression:
                'count(max by (vmnetcfg, network, mac) (vmdhcpcontroller_vmnetcfg_status{ip="",reason!~"|ExternalDHCP"})) or vector(0)',
              legend: '',
            },
          ],
          worry: { from: 1 },
        },
        {
          type: 'stat',
          title: 'Missing pods of agents',
          description: 'Pods that Deployments of agents want, and that are not ready.',
          unit: 'short',
          queries: [
            {
              expression:
                'sum(max by (group) (vmdhcpcontroller_agent_replicas{state="desired"})) - sum(max by (group) (vmdhcpcontroller_agent_replicas{state="ready"}))',
              legend: '',
            },
          ],
          worry: { from: 1 },
        },
        {
          type: 'stat',
          title: 'Controllers that are leader',
          description: 'One, or no virtual machine gets a new address.',
          unit: 'short',
          queries: [{ expression: 'sum(vmdhcpcontroller_leading)', legend: '' }],
          worry: { below: 1 },
        },
      ],
    },
    {
      title: 'Addresses',
      panels: [
        {
          type: 'timeseries',
          title: 'Addresses of all pools',
          description: 'Used and free addresses.',
          unit: 'short',
          queries: [
            { expression: 'sum(max by (ippool) (vmdhcpcontroller_ippool_used))', legend: 'used' },
            { expression: 'sum(max by (ippool) (vmdhcpcontroller_ippool_available))', legend: 'free' },
          ],
        },
        {
          type: 'timeseries',
          title: 'Interfaces without an address, by reason',
          description: 'kubectl vmdhcp why NAME has the cause and what to do for each.',
          unit: 'short',
          queries: [
            {
              expression: 'count by (reason) (max by (vmnetcfg, network, mac, reason) (vmdhcpcontroller_vmnetcfg_status{ip=""}))',
              legend: '{{reason}}',
            },
          ],
        },
        {
          type: 'table',
          title: 'Pools with the fewest free addresses',
          description: 'The ten pools that are full first, if all grow alike.',
          unit: 'short',
          queries: [{ expression: 'bottomk(10, max by (ippool) (vmdhcpcontroller_ippool_available))', legend: '{{ippool}}' }],
        },
      ],
    },
    {
      title: 'Clients',
      panels: [
        {
          type: 'timeseries',
          title: 'Messages of clients, by what became of them',
          description: 'Of all agents.',
          unit: 'ops',
          queries: [
            { expression: 'sum by (outcome) (rate(vmdhcp_agent_messages_total[$__rate_interval]))', legend: '{{outcome}}' },
          ],
        },
        {
          type: 'timeseries',
          title: 'Take-overs within an hour',
          description:
            'How often a replica became leader. An upgrade makes some; without one, more than a few are a reason to look.',
          unit: 'short',
          queries: [{ expression: 'sum(increase(vmdhcp_agent_takeover_duration_seconds_count[1h]))', legend: 'take-overs' }],
        },
      ],
    },
    {
      title: 'Controller',
      panels: [
        {
          type: 'timeseries',
          title: 'Objects that wait',
          description: 'To be reconciled, by kind.',
          unit: 'short',
          queries: [{ expression: 'max by (kind) (vmdhcpcontroller_queue_depth)', legend: '{{kind}}' }],
        },
        {
          type: 'timeseries',
          title: 'How long the oldest waits',
          description: 'More than a few seconds: the controller is behind.',
          unit: 's',
          queries: [{ expression: 'max by (kind) (vmdhcpcontroller_queue_oldest_seconds)', legend: '{{kind}}' }],
        },
        {
          type: 'timeseries',
          title: 'Duration of nine of ten requests to the API server',
          description: 'By resource.',
          unit: 's',
          queries: [
            {
              expression:
                'histogram_quantile(0.9, sum by (le, resource) (rate(vmdhcpcontroller_api_request_duration_seconds_bucket[$__rate_interval])))',
              legend: '{{resource}}',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Requests to the API server, by code',
          description: '0: without an answer.',
          unit: 'ops',
          queries: [
            { expression: 'sum by (code) (rate(vmdhcpcontroller_api_requests_total[$__rate_interval]))', legend: '{{code}}' },
          ],
        },
      ],
    },
    {
      title: 'Certificates',
      panels: [
        {
          type: 'stat',
          title: 'The certificate of the webhook expires',
          description: 'It is renewed long before. The dashboard Wake-on-LAN has those of Wake-on-LAN.',
          unit: 'dateTimeFromNow',
          queries: [{ expression: 'min(vmdhcpwebhook_certificate_expiry_timestamp_seconds) * 1000', legend: '' }],
        },
        {
          type: 'stat',
          title: 'Decisions of the webhook that failed within an hour',
          description: 'Without an answer, so that the failurePolicy decided.',
          unit: 'short',
          queries: [
            {
              expression:
                'round(sum(increase(vmdhcpwebhook_decision_duration_seconds_count{outcome="failed"}[1h]))) or vector(0)',
              legend: '',
            },
          ],
          worry: { from: 1 },
        },
      ],
    },
    {
      title: 'Records of who had which address',
      panels: [
        {
          type: 'timeseries',
          title: 'Size of the records',
          description: 'At the limit the oldest records are deleted.',
          unit: 'bytes',
          queries: [
            { expression: 'max(vmdhcpcontroller_audit_stored_bytes)', legend: 'stored' },
            { expression: 'max(vmdhcpcontroller_audit_limit_bytes)', legend: 'limit' },
          ],
        },
        {
          type: 'timeseries',
          title: 'Time that is not stored yet',
          description: 'More than a few minutes: the records cannot be stored.',
          unit: 's',
          queries: [
            { expression: 'time() - max(vmdhcpcontroller_audit_complete_until_timestamp_seconds)', legend: 'not stored' },
          ],
        },
        {
          type: 'timeseries',
          title: 'Assignments and dropped records within an hour',
          description: 'limit: old records made room. not-stored: records are lost.',
          unit: 'short',
          queries: [
            { expression: 'sum by (event) (increase(vmdhcpcontroller_audit_events_total[1h]))', legend: '{{event}}' },
            {
              expression: 'sum by (reason) (increase(vmdhcpcontroller_audit_records_dropped_total[1h]))',
              legend: 'dropped, {{reason}}',
            },
          ],
        },
        {
          type: 'table',
          title: 'How far back the records of pools reach',
          description: 'The ten pools of which the least is known.',
          unit: 's',
          queries: [
            {
              expression: 'bottomk(10, time() - max by (ippool) (vmdhcpcontroller_audit_complete_since_timestamp_seconds))',
              legend: '{{ippool}}',
            },
          ],
        },
      ],
    },
  ],
};
