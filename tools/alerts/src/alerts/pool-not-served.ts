import type { Alert } from '../alert.js';

export const poolNotServed: Alert = {
  name: 'VmdhcpPoolNotServed',
  group: 'pools',
  expression: `max by (cluster, namespace, ippool) (vmdhcpcontroller_ippool_condition{condition="AgentReady",reason!="DryRun"}) == 0
unless on (cluster, namespace, ippool)
  max by (cluster, namespace, ippool) (vmdhcpcontroller_ippool_condition{condition="Stopped"}) == 1`,
  for: '2m',
  severity: 'critical',
  summary: 'no agent serves IPPool {{ $labels.ippool }}',
  description:
    'The condition AgentReady of IPPool {{ $labels.ippool }} is False: its clients get no reply. The reason of the condition has the cause: kubectl vmdhcp pools -A.',
  runbook: {
    meaning:
      'The condition `AgentReady` of an IPPool is `False`: no agent answers DHCP on its network. A paused pool, and a dry run, do not count.',
    impact: 'New virtual machines on the network get no address. Those that run keep theirs until their lease ends.',
    diagnosis: [
      {
        text: 'Read the reason and the message of the condition:',
        command: 'kubectl vmdhcp pools -A',
      },
      {
        text: 'See the agents of each pool, and their pods:',
        command: 'kubectl vmdhcp agents',
      },
      {
        text: 'Read what the pods and their leader report:',
        command: 'kubectl -n vm-dhcp-agents logs -l network.harvesterhci.io/vm-dhcp-controller=agent --tail=50',
      },
    ],
    remedy: [
      'Do what the reason needs: [no agent serves the pool](../troubleshooting.md#no-agent-serves-the-pool) has each one.',
    ],
  },
};
