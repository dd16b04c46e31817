/** One network interface and its sockets: UDP port 67, and the one for IPv6 while a pool of the interface has IPv6 addresses. */

import type {
  AgentObserver,
  DhcpPacketHandler,
  DhcpSocket,
  DhcpSocketEvents,
  DhcpSockets,
  Ipv6Handlers,
  Ipv6Socket,
  Ipv6Sockets,
  LateReply,
} from '../ports.js';
import { InterfaceSocket, type InterfaceState } from './interface-socket.js';

/** What an interface needs to be served: sockets, and a handler of its packets. */
export interface ServedInterfacePorts {
  readonly observer: AgentObserver;
  readonly nowMs: () => number;
  readonly handler: DhcpPacketHandler;
  readonly sockets: DhcpSockets;
  readonly socketEvents: Omit<DhcpSocketEvents, 'onError'>;
  /** Default: no IPv6. */
  readonly ipv6?: ServedIpv6;
  /** Called before the port is opened, for example to add addresses to the interface. */
  readonly prepare?: () => Promise<void>;
  readonly onStateChange: () => void;
}

export interface ServedIpv6 extends Omit<Ipv6Handlers, 'onError'> {
  readonly sockets: Ipv6Sockets;
  /** True while a pool of the interface has IPv6 addresses. */
  readonly isWanted: () => boolean;
  /** Called several times a second. @param socket - undefined if it is not open. */
  readonly look: (socket: Ipv6Socket | undefined) => void;
}

export class ServedInterface {
  readonly name: string;
  readonly #dhcp: InterfaceSocket<DhcpSocket>;
  readonly #ipv6: InterfaceSocket<Ipv6Socket> | undefined;
  readonly #served: ServedIpv6 | undefined;
  #isStopped = false;

  constructor(name: string, ports: ServedInterfacePorts) {
    const { observer, nowMs, sockets, handler, socketEvents, ipv6, prepare, onStateChange } = ports;
    const common = { observer, nowMs, indexOf: sockets.indexOf, onStateChange };
    this.name = name;
    this.#dhcp = new InterfaceSocket(name, {
      ...common,
      open: async (onError) => {
        await prepare?.();
        const socket = await sockets.open(name, handler, { ...socketEvents, onError });
        if (!socket.sendsFrames) observer.observe({ kind: 'frames-not-sent', interfaceName: name });
        return socket;
      },
    });
    this.#served = ipv6;
    this.#ipv6 =
      ipv6 &&
      new InterfaceSocket(name, {
        ...common,
        // The port reports that the interface comes and goes.
        observer: { observe: (event) => (event.kind === 'socket-failed' ? observer.observe(event) : undefined) },
        open: (onError) => ipv6.sockets.open(name, { ...ipv6, onError }).catch(throwIpv6Problem),
      });
  }

  /** The state of the port; IPv6 does not matter for it. */
  get state(): InterfaceState {
    return this.#dhcp.state;
  }

  /** Why IPv6 is not served although it should be; undefined if it is, or is being opened. */
  get ipv6Problem(): string | undefined {
    const state = this.#ipv6?.state;
    return state?.kind === 'failed' && this.#served?.isWanted() ? state.message : undefined;
  }

  /** Opens or closes the sockets to match the interface. Call it repeatedly; it never throws. */
  async check(): Promise<void> {
    if (this.#isStopped) return;
    await this.#dhcp.check();
    await this.#ipv6?.check(this.#served?.isWanted() && !this.#isStopped);
    this.#served?.look(this.#ipv6?.socket);
  }

  /** The interface that is served now; another one of the same name has another index. */
  get interfaceIndex(): number | undefined {
    return this.#dhcp.socket?.interfaceIndex;
  }

  /** Answers a packet that was received earlier, as if it came in now. */
  inject(packet: Uint8Array): void {
    this.#dhcp.socket?.inject(packet);
  }

  /** Sends delayed replies; without an open port they are lost, and their clients ask again. */
  send(replies: readonly LateReply[]): void {
    this.#dhcp.socket?.send(replies);
  }

  stop(): void {
    this.#isStopped = true;
    for (const socket of [this.#dhcp, this.#ipv6]) void socket?.check(false);
    this.#served?.look(undefined);
  }
}

function throwIpv6Problem(cause: unknown): never {
  throw new Error(`IPv6 is not served: ${(cause as Error).message}`, { cause });
}
