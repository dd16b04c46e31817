import { randomInt } from 'node:crypto';
import { DhcpProbe } from '@vmdhcp/dhcp-agent/packet-path';
import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { PacketSocket } from '@vmdhcp/linux-sockets';

/** The interface to probe, as which client, and how long to wait for answers. */
export interface InterfaceProbeSettings {
  readonly interfaceName: string;
  /** Default: the MAC address of the interface. */
  readonly macAddress?: MacAddress;
  readonly timeoutMs: number;
}

/** Opens a probing DHCP client on an interface. Needs CAP_NET_RAW. @throws SocketError */
export function openDhcpProbe({ interfaceName, ...settings }: InterfaceProbeSettings): DhcpProbe {
  return new DhcpProbe({
    ...settings,
    socket: new PacketSocket(interfaceName),
    // A packet socket does not keep the process alive: its timers do.
    clock: {
      nowMs: () => performance.now(),
      after: (delayMs, run) => {
        const timer = setTimeout(run, delayMs);
        return () => clearTimeout(timer);
      },
    },
    transactionId: randomInt(1, 2 ** 32),
  });
}
