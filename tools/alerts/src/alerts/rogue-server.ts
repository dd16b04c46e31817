import type { Alert } from '../alert.js';

export const rogueServer: Alert = {
  name: 'VmdhcpRogueServer',
  group: 'pools',
  expression: 'max by (cluster, namespace, ippool) (vmdhcpcontroller_ippool_condition{condition="RogueServer"}) == 1',
  for: '1m',
  severity: 'warning',
  summary: 'another DHCP server answers on the network of IPPool {{ $labels.ippool }}',
  description:
    'An agent of IPPool {{ $labels.ippool }} has received an answer of a DHCP server that is not one of the agents. Clients may get wrong addresses from it. kubectl describe ippool has its address.',
  runbook: {
    meaning: 'The agents of an IPPool probe its network for other DHCP servers, and one has answered.',
    impact:
      'Clients may get an address, a router and DNS servers from it, and be unreachable. With `spec.onRogueServer: Stop` our agents send no replies meanwhile.',
    diagnosis: [
      {
        text: 'Read the address and the MAC address of the server:',
        command: 'kubectl describe ippool NAME',
      },
      {
        text: 'See whether a virtual machine has that MAC address:',
        command: 'kubectl vmdhcp leases -A --mac MAC',
      },
    ],
    remedy: [
      'Find the machine by its MAC address, and switch its DHCP server off. The condition ends with the next probe.',
      'If the server is right there, and the pool is not: delete the pool, or annotate the network `network.harvesterhci.io/external-dhcp: "true"`.',
    ],
  },
};
