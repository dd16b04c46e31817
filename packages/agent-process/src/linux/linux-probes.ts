/** Probes a network: which hosts use an address, and which DHCP servers answer. */
import type { AddressProbe, ListenForAddresses, ServerProbe } from '@vmdhcp/dhcp-agent';
import { ArpListener, ArpProber as ArpProbe } from '@vmdhcp/linux-sockets';
import { openDhcpProbe } from '../probe/open-dhcp-probe.js';

const LISTEN_MS = 1_500;

/** Probes by ARP, with one socket for each interface. */
export function arpProbe(): AddressProbe {
  const probes = new Map<string, ArpProbe>();
  return (interfaceName, question) => {
    const probe = probes.get(interfaceName) ?? new ArpProbe(interfaceName);
    probes.set(interfaceName, probe);
    return probe.ask(question);
  };
}

export const listenForAddresses: ListenForAddresses = (interfaceName, lowest, highest) =>
  new ArpListener(interfaceName, lowest, highest);

/** A server that offers an address to the interface itself is not one of the agents: they have no client with that MAC address. */
export const probeServers: ServerProbe = async (interfaceName) => {
  const probe = openDhcpProbe({ interfaceName, timeoutMs: LISTEN_MS });
  try {
    const answers = await probe.discover();
    return answers.map(({ server, serverMacAddress }) => ({ address: server, macAddress: serverMacAddress }));
  } finally {
    probe.close();
  }
};
