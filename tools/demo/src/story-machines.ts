import type { ClientName, RealProgram } from '@vmdhcp/lab';

/** The virtual machines of `examples/cluster/virtual-machines.yaml`, by interface; one of our own asks where a real client is not installed. */
export const MACHINES: readonly {
  readonly name: string;
  readonly virtualMachine: string;
  readonly network: string;
  readonly macAddress: string;
  readonly client: RealProgram & ClientName;
}[] = [
  { name: 'web', virtualMachine: 'web', network: 'br-48', macAddress: '02:00:5e:00:48:01', client: 'udhcpc' },
  { name: 'database', virtualMachine: 'database', network: 'br-48', macAddress: '02:00:5e:00:48:02', client: 'dhclient' },
  { name: 'gateway-front', virtualMachine: 'gateway', network: 'br-48', macAddress: '02:00:5e:00:48:03', client: 'dhcpcd' },
  { name: 'gateway-back', virtualMachine: 'gateway', network: 'br-49', macAddress: '02:00:5e:00:49:03', client: 'udhcpc' },
];
