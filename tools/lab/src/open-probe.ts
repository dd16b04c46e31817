import { randomInt } from 'node:crypto';
import { DhcpProbe } from '@vmdhcp/dhcp-agent';
import { PacketSocket } from '@vmdhcp/linux-sockets';

export interface LabProbeSettings {
  readonly interfaceName: string;
  /** Default: the interface's own. */
  readonly macAddress?: string;
  readonly timeoutMs: number;
}

/** A DHCP client that asks and changes nothing on its interface. @throws SocketError */
export function openProbe({ interfaceName, ...settings }: LabProbeSettings): DhcpProbe {
  return new DhcpProbe({
    ...settings,
    socket: new PacketSocket(interfaceName),
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
