import type { Alert } from '../alert.js';

export const wakeListenerDead: Alert = {
  name: 'VmdhcpWakeListenerDead',
  group: 'wake-on-lan',
  expression: 'max by (cluster, namespace, instance) (vmdhcp_agent_wol_listeners{state="dead"}) > 0',
  for: '5m',
  severity: 'warning',
  summary: '{{ $value }} listeners of the Wake-on-LAN agent {{ $labels.instance }} are dead',
  description:
    'The Wake-on-LAN agent {{ $labels.instance }} cannot open {{ $value }} of its listeners: a UDP port is taken, or an interface is missing. Magic packets that arrive there start nothing.',
  runbook: {
    meaning: 'An agent of Wake-on-LAN cannot open a UDP port or an interface on which it is to listen.',
    impact: 'Magic packets that arrive there start no virtual machine, unless the agent of another node receives them too.',
    diagnosis: [
      {
        text: 'Read which listener, and why:',
        command: 'kubectl -n vm-dhcp-agents logs -l app=wol-agent --tail=20 --prefix',
      },
    ],
    remedy: [
      'Another program has the UDP port on the node: end it, or choose another port in the WolConfig.',
      'The interface is missing on that node: correct the interfaces, or the `nodeSelector`, of the WolConfig.',
    ],
  },
};
