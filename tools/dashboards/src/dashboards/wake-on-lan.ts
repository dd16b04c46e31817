import type { Dashboard } from '../dashboard.js';

export const wakeOnLan: Dashboard = {
  name: 'wake-on-lan',
  title: 'Wake-on-LAN',
  description: 'Magic packets, what became of them, and which virtual machines they started.',
  variables: [],
  rows: [
    {
      title: 'Is something wrong?',
      panels: [
        {
          type: 'stat',
          title: 'Virtual machines that may be woken',
          description: 'Each once.',
          unit: 'short',
          queries: [{ expression: 'max(wol_managed_vms)', legend: '' }],
        },
        {
          type: 'stat',
          title: 'Agents that reach no controller',
          description: 'Magic packets that they receive start nothing.',
          unit: 'short',
          queries: [{ expression: 'count(vmdhcp_agent_wol_manager_connected == 0) or vector(0)', legend: '' }],
          worry: { from: 1 },
        },
        {
          type: 'stat',
          title: 'Dead listeners',
          description: 'UDP ports and interfaces that agents cannot open.',
          unit: 'short',
          queries: [{ expression: 'sum(vmdhcp_agent_wol_listeners{state="dead"})', legend: '' }],
          worry: { from: 1 },
        },
        {
          type: 'stat',
          title: 'The first certificate expires',
          description: 'It is renewed five weeks before.',
          unit: 'dateTimeFromNow',
          queries: [{ expression: 'min(vmdhcpcontroller_wol_certificate_expiry_timestamp_seconds) * 1000', legend: '' }],
        },
      ],
    },
    {
      title: 'Wake-ups',
      panels: [
        {
          type: 'timeseries',
          title: 'Reports, by what was decided, and why',
          description: 'Agents of several nodes report one packet: all but one are duplicates.',
          unit: 'ops',
          queries: [
            {
              expression: 'sum by (outcome, reason) (rate(vmdhcpcontroller_wake_ups_total[$__rate_interval]))',
              legend: '{{outcome}} {{reason}}',
            },
          ],
        },
        {
          type: 'table',
          title: 'Virtual machines that were started most often',
          description: 'Since the controllers started. The Event of the virtual machine has the sender.',
          unit: 'short',
          queries: [
            {
              expression: 'topk(10, sum by (virtualmachine) (vmdhcpcontroller_wake_up_starts_total))',
              legend: '{{virtualmachine}}',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Time to start nine of ten machines',
          description: 'From the magic packet until KubeVirt accepted the start.',
          unit: 's',
          queries: [
            {
              expression: 'histogram_quantile(0.9, sum by (le) (increase(vmdhcpcontroller_wake_up_start_seconds_bucket[1h])))',
              legend: 'start',
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
          title: 'Packets, by what became of them',
          description: 'wake-up, or the reason why they were ignored.',
          unit: 'ops',
          queries: [
            {
              expression: 'sum by (outcome) (rate(vmdhcp_agent_wol_packets_total[$__rate_interval]))',
              legend: '{{outcome}}',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Reports, by how they ended',
          description: 'too-old and queue-full: the wake-up is lost.',
          unit: 'ops',
          queries: [
            {
              expression: 'sum by (outcome) (rate(vmdhcp_agent_wol_reports_total[$__rate_interval]))',
              legend: '{{outcome}}',
            },
          ],
        },
        {
          type: 'timeseries',
          title: 'Wake-ups that wait',
          description: 'At agents: for an answer. At the controller: until the virtual machine is down.',
          unit: 'short',
          queries: [
            { expression: 'sum(vmdhcp_agent_wol_waiting)', legend: 'agents' },
            { expression: 'max(vmdhcpcontroller_wake_ups_waiting)', legend: 'controller' },
          ],
        },
      ],
    },
  ],
};
