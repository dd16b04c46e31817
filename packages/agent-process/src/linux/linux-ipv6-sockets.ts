import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { Ipv6Handlers, Ipv6Sockets, Ipv6Source } from '@vmdhcp/dhcp-agent';
import {
  type Ipv6Address,
  ipv6AddressBytes,
  isGroupMacAddress,
  macAddressBytes,
  parseIpv6Address,
  readIpv6Address,
  readMacAddress,
} from '@vmdhcp/dhcp-allocator/address';
import {
  DHCPV6_SERVER_PORT,
  encodeNeighborSolicitation,
  encodeRouterSolicitation,
  isRouterSolicitation,
  NEIGHBOR_DISCOVERY_HOP_LIMIT,
  readNeighborAdvertisement,
  readRouterAdvertisement,
} from '@vmdhcp/dhcp-allocator/dhcpv6';
import {
  encodeUdpPayload,
  FramePolling,
  groupHardwareAddressOf,
  Ipv6PacketSocket,
  linkLocalAddressBeside,
  NextHeader,
  type ReceivedIpv6Packet,
  readUdpPayload,
} from '@vmdhcp/linux-sockets';

/** Relay agents and servers: clients send to them. Source: RFC 8415 §7.1. */
const ALL_SERVERS = group('ff02::1:2');
/** Source: RFC 4291 §2.7.1. */
const [ALL_NODES, ALL_ROUTERS] = [group('ff02::1'), group('ff02::2')];
const [ROUTER_SOLICITATION, ROUTER_ADVERTISEMENT, NEIGHBOR_ADVERTISEMENT] = [133, 134, 136];
/** The group of the hosts whose address ends with the same 24 bits. Source: RFC 4291 §2.7.1. */
const SOLICITED_NODE = group('ff02::1:ff00:0').subarray(0, 13);
const HOP_LIMIT = 64;
/** Switches forget groups after 260 s. Source: RFC 3810 §9.4. */
const REPORT_INTERVAL_MS = 60_000;

const polling = new FramePolling();

/** DHCPv6 and Router Advertisements on the machine's interfaces. */
export const linuxIpv6Sockets: Ipv6Sockets = {
  open: async (interfaceName, handlers) => {
    const socket = new Ipv6PacketSocket({
      interfaceName,
      groups: [ALL_SERVERS, ALL_ROUTERS, ALL_NODES],
      udpPort: DHCPV6_SERVER_PORT,
      icmpv6Types: [ROUTER_SOLICITATION, ROUTER_ADVERTISEMENT, NEIGHBOR_ADVERTISEMENT],
    });
    const report = () => trySend(handlers, () => socket.reportGroups());
    report();
    const reports = setInterval(report, REPORT_INTERVAL_MS);
    const stop = polling.add(() => socket.receive((packet) => handle(socket, packet, handlers)));
    const send = (payload: Uint8Array, receiver: Receiver, source?: { readonly source: Uint8Array }) => {
      const { destination, hardwareAddress } = receiver;
      const header = { destination, nextHeader: NextHeader.icmpv6, hopLimit: NEIGHBOR_DISCOVERY_HOP_LIMIT, ...source };
      trySend(handlers, () => socket.send({ ...header, payload }, hardwareAddress));
    };
    return {
      interfaceIndex: socket.interfaceIndex,
      hardwareAddress: socket.hardwareAddress,
      advertise: (payload, { from, to }) => {
        const receiver = to === undefined ? membersOf(ALL_NODES) : hostOf(to);
        send(payload, receiver, from === undefined ? undefined : { source: ipv6AddressBytes(from) });
      },
      solicitRouters: () => send(encodeRouterSolicitation(socket.hardwareAddress), membersOf(ALL_ROUTERS)),
      solicitNeighbor: (address) => {
        // What this host sends does not reach it.
        if (isOwnRouter(interfaceName, address))
          handlers.onNeighborAdvertisement({ address, isRouter: true }, readMacAddress(socket.hardwareAddress, 0));
        send(encodeNeighborSolicitation(address, socket.hardwareAddress), membersOf(solicitedNodeGroupOf(address)));
      },
      close: () => {
        stop();
        clearInterval(reports);
        socket.close();
      },
    };
  },
};

/** True if the interface of this host has the address, and forwards packets. */
function isOwnRouter(interfaceName: string, address: Ipv6Address): boolean {
  const own = networkInterfaces()[interfaceName] ?? [];
  if (!own.some((one) => one.family === 'IPv6' && parseIpv6Address(one.address) === address)) return false;
  try {
    return readFileSync(`/proc/sys/net/ipv6/conf/${interfaceName}/forwarding`, 'utf8').trim() === '1';
  } catch {
    // The interface has gone.
    return false;
  }
}

interface Receiver {
  readonly destination: Uint8Array;
  readonly hardwareAddress: Uint8Array;
}

function membersOf(all: Uint8Array): Receiver {
  return { destination: all, hardwareAddress: groupHardwareAddressOf(all) };
}

function hostOf({ address, macAddress }: Ipv6Source): Receiver {
  return { destination: ipv6AddressBytes(address), hardwareAddress: macAddressBytes(macAddress) };
}

function solicitedNodeGroupOf(address: Ipv6Address): Uint8Array {
  return Uint8Array.of(...SOLICITED_NODE, ...ipv6AddressBytes(address).subarray(SOLICITED_NODE.length));
}

function group(text: string): Uint8Array {
  return ipv6AddressBytes(parseIpv6Address(text) ?? 0n);
}

/** Handles one packet of a client or a router. */
export function handle(socket: Pick<Ipv6PacketSocket, 'send'>, packet: ReceivedIpv6Packet, handlers: Ipv6Handlers): void {
  if (packet.nextHeader === NextHeader.udp) answer(socket, packet, handlers);
  else if (packet.payload[0] === ROUTER_SOLICITATION) onSolicitation(packet, handlers);
  else if (packet.payload[0] === NEIGHBOR_ADVERTISEMENT) onNeighbor(packet, handlers);
  else onAdvertisement(packet, handlers);
}

/** "IP Source Address is a link-local address." Source: RFC 4861 §6.1.2. */
function onAdvertisement({ payload, hopLimit, source, senderHardwareAddress }: ReceivedIpv6Packet, handlers: Ipv6Handlers): void {
  const heard = isLinkLocal(source) ? readRouterAdvertisement(payload, hopLimit) : undefined;
  if (heard === undefined) return;
  const isAsOfAgent = Buffer.compare(source, linkLocalAddressBeside(senderHardwareAddress)) === 0 && !heard.isDefaultRouter;
  const macAddress = readMacAddress(senderHardwareAddress, 0);
  handlers.onRouterAdvertisement({ address: readIpv6Address(source), macAddress }, heard, isAsOfAgent);
}

function onNeighbor({ payload, hopLimit, senderHardwareAddress }: ReceivedIpv6Packet, handlers: Ipv6Handlers): void {
  const heard = readNeighborAdvertisement(payload, hopLimit);
  if (heard !== undefined) handlers.onNeighborAdvertisement(heard, readMacAddress(senderHardwareAddress, 0));
}

function onSolicitation({ payload, hopLimit, source, senderHardwareAddress }: ReceivedIpv6Packet, handlers: Ipv6Handlers): void {
  const address = readIpv6Address(source);
  if (!isRouterSolicitation(payload, { hopLimit, source: address })) return;
  const macAddress = readMacAddress(senderHardwareAddress, 0);
  handlers.onRouterSolicitation(isLinkLocal(source) && !isGroupMacAddress(macAddress) ? { address, macAddress } : undefined);
}

/** Source: RFC 4291 §2.5.6. */
function isLinkLocal([first, second = 0]: Uint8Array): boolean {
  return first === 0xfe && (second & 0xc0) === 0x80;
}

/**
 * A reply goes to the sender of the frame, so that no address has to be resolved. Clients send to all servers, from the link. Source: RFC 8415 §13.1, §16.
 */
function answer(socket: Pick<Ipv6PacketSocket, 'send'>, packet: ReceivedIpv6Packet, handlers: Ipv6Handlers): void {
  const datagram = readUdpPayload(packet.payload);
  if (datagram?.destinationPort !== DHCPV6_SERVER_PORT) return;
  if (!isLinkLocal(packet.source) || Buffer.compare(packet.destination, ALL_SERVERS) !== 0) return;
  const macAddress = readMacAddress(packet.senderHardwareAddress, 0);
  const source = { address: readIpv6Address(packet.source), port: datagram.sourcePort, macAddress };
  const reply = handlers.answerDhcpv6(datagram.data, source);
  if (reply === undefined) return;
  const payload = encodeUdpPayload({ sourcePort: DHCPV6_SERVER_PORT, destinationPort: reply.port, data: reply.bytes });
  const header = { destination: packet.source, nextHeader: NextHeader.udp, hopLimit: HOP_LIMIT };
  trySend(handlers, () => socket.send({ ...header, payload }, packet.senderHardwareAddress));
}

function trySend({ onSendFailure }: Ipv6Handlers, send: () => void): void {
  try {
    send();
  } catch (error) {
    onSendFailure({ error: (error as Error).message, count: 1 });
  }
}
