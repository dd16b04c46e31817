import type { DhcpSockets } from '@vmdhcp/dhcp-agent';
import { ifNameToIndex } from '@vmdhcp/linux-sockets';
import { DhcpPort } from '../dhcp-port/dhcp-port.js';

/** UDP port 67 of the machine's interfaces. */
export const linuxDhcpSockets: DhcpSockets = {
  indexOf: ifNameToIndex,
  open: (interfaceName, handler, events) => DhcpPort.open(interfaceName, handler, events),
};
