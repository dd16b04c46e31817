/** The listeners of Wake-on-LAN on Linux. */
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import { FramePolling, FrameSocket, formatMacAddress, listLinks, UdpBurstSocket } from '@vmdhcp/linux-sockets';
import type { ListeningPlace, ListeningPorts, PayloadHandler, WakeSocket } from '../listen/listening-ports.js';
import { ETHERTYPE_WAKE_ON_LAN } from '../packet/wake-frame.js';

/** @param promiscuous - true to also receive frames for other hosts. */
export function linuxListening(promiscuous: boolean): Pick<ListeningPorts, 'listLinks' | 'open'> {
  const polling = new FramePolling();
  return {
    listLinks,
    open: async (place, onPayload, onError) =>
      place.way === 'udp' ? openUdp(place, onPayload, onError) : openFrames(place, onPayload, { promiscuous, polling }),
  };
}

function openUdp(
  place: Extract<ListeningPlace, { way: 'udp' }>,
  onPayload: PayloadHandler,
  onError: (error: Error) => void,
): Promise<WakeSocket> {
  return UdpBurstSocket.open({
    interfaceName: place.interfaceName,
    port: place.port,
    handler: (datagram, _, sender) => {
      onPayload(datagram, place, () => ({ address: formatIpv4Address(sender.address), port: sender.port }));
      return undefined;
    },
    onError,
  });
}

function openFrames(
  place: ListeningPlace,
  onPayload: PayloadHandler,
  { promiscuous, polling }: { readonly promiscuous: boolean; readonly polling: FramePolling },
): WakeSocket {
  const { interfaceName } = place;
  const socket = new FrameSocket({ interfaceName, etherType: ETHERTYPE_WAKE_ON_LAN, promiscuous });
  const end = polling.add(() =>
    socket.receive((payload, sender) => onPayload(payload, place, () => ({ address: formatMacAddress(sender), port: 0 }))),
  );
  return {
    interfaceIndex: socket.interfaceIndex,
    close: () => {
      end();
      socket.close();
    },
  };
}
