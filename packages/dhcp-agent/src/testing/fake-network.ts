import {
  type DhcpMessage,
  decodeMessage,
  type Ipv4Address,
  type MacAddress,
  messageTypeOf,
  OptionCode,
  type ReplyDestination,
} from '@vmdhcp/dhcp-allocator';
import type { Ipv6Address } from '@vmdhcp/dhcp-allocator/address';
import type { Dhcpv6Source, HeardAdvertisement, HeardNeighbor } from '@vmdhcp/dhcp-allocator/dhcpv6';
import type {
  DhcpPacketHandler,
  DhcpSocket,
  DhcpSocketEvents,
  DhcpSockets,
  Ipv6Handlers,
  Ipv6Socket,
  Ipv6Sockets,
  Ipv6Source,
  QueuedReply,
  UnsentReplies,
} from '../ports.js';
import type { FakeKernel } from './fake-kernel.js';
import type { FakeProcess } from './fake-process.js';

const LARGEST_REPLY = 1472;
const BURST_NS = 50_000;

/** A packet of a server. */
export interface SentReply {
  readonly owner: string;
  readonly atMs: number;
  readonly type: string | undefined;
  /** yiaddr. */
  readonly address: Ipv4Address;
  readonly destination: ReplyDestination;
  readonly message: DhcpMessage;
  /** The octets that were sent. */
  readonly bytes: Uint8Array;
}

/** A pod on a network. */
export interface FakeHost {
  readonly owner: string;
  readonly process: FakeProcess;
  readonly kernel: FakeKernel;
}

interface OpenSocket {
  readonly host: FakeHost;
  readonly interfaceName: string;
  readonly interfaceIndex: number;
  readonly handler: DhcpPacketHandler;
  readonly events: DhcpSocketEvents;
}

interface OpenIpv6Socket {
  readonly host: FakeHost;
  readonly interfaceName: string;
  readonly interfaceIndex: number;
  readonly handlers: Ipv6Handlers;
}

/** A reply to a message of DHCPv6. */
export interface SentDhcpv6Reply {
  readonly owner: string;
  readonly atMs: number;
  /** The client. */
  readonly to: Dhcpv6Source;
  readonly bytes: Uint8Array;
}

/** A Router Advertisement of an agent. */
export interface SentAdvertisement {
  readonly owner: string;
  readonly atMs: number;
  /** The router in whose name it is sent; undefined for the agent itself. */
  readonly from: Ipv6Address | undefined;
  /** Undefined for all hosts. */
  readonly to: Ipv6Source | undefined;
  readonly message: Uint8Array;
}

/** A network of virtual machines: a client's broadcast reaches every open socket whose interface exists. */
export class FakeNetwork {
  readonly #sockets = new Set<OpenSocket>();
  readonly #ipv6 = new Set<OpenIpv6Socket>();
  /** Called for each reply of a server. */
  onReply: (reply: SentReply) => void = () => undefined;
  /** Called for each reply to a message of DHCPv6. */
  onDhcpv6Reply: (reply: SentDhcpv6Reply) => void = () => undefined;
  /** Called for each Router Advertisement. */
  onAdvertisement: (sent: SentAdvertisement) => void = () => undefined;
  /** Called for each Router Solicitation of a pod, with its owner. */
  onRouterSolicitation: (owner: string) => void = () => undefined;
  /** Called when a pod asks whether a host is there. */
  onNeighborSolicitation: (owner: string, address: Ipv6Address) => void = () => undefined;
  /** Called for each opening of a socket for IPv6: returns why it fails. Default: it does not. */
  ipv6OpenFailure: () => Error | undefined = () => undefined;
  /** Called for each opening: returns why it fails. Default: it does not. */
  openFailure: () => Error | undefined = () => undefined;
  /** The number of sockets opened so far. */
  opened = 0;
  sendsFrames = true;

  get openSockets(): number {
    return this.#sockets.size;
  }

  get openIpv6Sockets(): number {
    return this.#ipv6.size;
  }

  /** The sockets of one pod. */
  socketsOf(host: FakeHost): DhcpSockets {
    return {
      indexOf: host.kernel.indexOf,
      open: (interfaceName, handler, events) => host.process.settled(this.#open({ host, interfaceName, handler, events })),
    };
  }

  /** The sockets for IPv6 of one pod. */
  ipv6SocketsOf(host: FakeHost): Ipv6Sockets {
    return {
      open: (interfaceName, handlers) => host.process.settled(this.#openIpv6(host, interfaceName, handlers)),
    };
  }

  /** Sends a message of DHCPv6 to all servers. */
  sendDhcpv6(packet: Uint8Array, source: Dhcpv6Source): void {
    for (const socket of this.#ipv6) {
      const { host, interfaceName, interfaceIndex, handlers } = socket;
      if (host.kernel.indexOf(interfaceName) !== interfaceIndex) continue;
      host.process.deliver(() => {
        const reply = this.#ipv6.has(socket) ? handlers.answerDhcpv6(packet, source) : undefined;
        if (reply !== undefined) this.onDhcpv6Reply({ owner: host.owner, atMs: host.process.timeMs, to: source, ...reply });
      });
    }
  }

  /** Asks all agents for a Router Advertisement. */
  solicitRouters(source: Ipv6Source | undefined): void {
    this.#toIpv6(({ onRouterSolicitation }) => onRouterSolicitation(source));
  }

  /** A router advertises itself to all agents. */
  advertiseRouter(source: Ipv6Source, heard: HeardAdvertisement, isAsOfAgent = false): void {
    this.#toIpv6(({ onRouterAdvertisement }) => onRouterAdvertisement(source, heard, isAsOfAgent));
  }

  /** A host says to all agents that it is there. */
  advertiseNeighbor(heard: HeardNeighbor, macAddress: MacAddress): void {
    this.#toIpv6(({ onNeighborAdvertisement }) => onNeighborAdvertisement(heard, macAddress));
  }

  #toIpv6(deliver: (handlers: Ipv6Handlers) => void): void {
    for (const { host, interfaceName, interfaceIndex, handlers } of this.#ipv6)
      if (host.kernel.indexOf(interfaceName) === interfaceIndex) host.process.deliver(() => deliver(handlers));
  }

  /** Broadcasts these octets from a client. */
  broadcast(packet: Uint8Array): void {
    for (const socket of this.#sockets) this.#receive(socket, packet);
  }

  /** Sends these octets from a client to an address: only an interface that has it receives them. */
  unicast(packet: Uint8Array, address: Ipv4Address): void {
    for (const socket of this.#sockets) if (socket.host.kernel.has(socket.interfaceName, address)) this.#receive(socket, packet);
  }

  /** Makes the sockets of an interface fail. */
  fail(interfaceName: string, error: Error): void {
    for (const socket of this.#sockets) if (socket.interfaceName === interfaceName) socket.events.onError(error);
  }

  /** Makes the kernel refuse replies on an interface. */
  failSending(interfaceName: string, failure: UnsentReplies): void {
    for (const socket of this.#sockets) if (socket.interfaceName === interfaceName) socket.events.onSendFailure(failure);
  }

  async #open(opening: Omit<OpenSocket, 'interfaceIndex'>): Promise<DhcpSocket> {
    const failure = this.openFailure();
    if (failure !== undefined) throw failure;
    const interfaceIndex = opening.host.kernel.indexOf(opening.interfaceName);
    if (interfaceIndex === 0) throw new Error('ENODEV');
    const socket = { ...opening, interfaceIndex };
    this.#sockets.add(socket);
    this.opened++;
    return {
      interfaceIndex,
      sendsFrames: this.sendsFrames,
      inject: (packet) => this.#answer(socket, packet),
      send: (replies) => {
        for (const { bytes, queued } of replies) this.#deliver(socket, bytes, queued);
      },
      close: () => void this.#sockets.delete(socket),
    };
  }

  async #openIpv6(host: FakeHost, interfaceName: string, handlers: Ipv6Handlers): Promise<Ipv6Socket> {
    const failure = this.ipv6OpenFailure();
    if (failure !== undefined) throw failure;
    const socket = { host, interfaceName, interfaceIndex: host.kernel.indexOf(interfaceName), handlers };
    this.#ipv6.add(socket);
    return {
      interfaceIndex: socket.interfaceIndex,
      hardwareAddress: Uint8Array.of(2, 0, 0, 0, 0, 1),
      advertise: (message, way) => this.onAdvertisement({ owner: host.owner, atMs: host.process.timeMs, ...way, message }),
      solicitRouters: () => this.onRouterSolicitation(host.owner),
      solicitNeighbor: (address) => this.onNeighborSolicitation(host.owner, address),
      close: () => void this.#ipv6.delete(socket),
    };
  }

  #receive(socket: OpenSocket, packet: Uint8Array): void {
    const { host, interfaceName, interfaceIndex } = socket;
    if (host.kernel.indexOf(interfaceName) !== interfaceIndex) return;
    host.process.deliver(() => {
      if (!this.#sockets.has(socket)) return;
      this.#answer(socket, packet);
      socket.events.onBurst(BURST_NS, 1);
    });
  }

  #answer(socket: OpenSocket, packet: Uint8Array): void {
    const into = new Uint8Array(LARGEST_REPLY);
    const reply = socket.handler(packet, into);
    if (reply !== undefined) this.#deliver(socket, into, reply);
  }

  #deliver({ host, interfaceName, interfaceIndex }: OpenSocket, bytes: Uint8Array, reply: QueuedReply): void {
    if (host.kernel.indexOf(interfaceName) !== interfaceIndex) return;
    const decoded = decodeMessage(bytes.subarray(0, reply.length));
    if (!decoded.ok) throw new Error(`a reply cannot be decoded: ${decoded.reason}`);
    const { message } = decoded;
    this.onReply({
      owner: host.owner,
      atMs: host.process.timeMs,
      type: messageTypeOf(message.options.uint8(OptionCode.messageType) ?? 0),
      address: message.yiaddr,
      destination: reply.destination,
      message,
      bytes: bytes.slice(0, reply.length),
    });
  }
}
