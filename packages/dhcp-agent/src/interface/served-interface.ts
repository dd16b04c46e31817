/**
 * One network interface and its port: opened when the interface appears, reopened when another one of the same name replaces it, and closed when it
 * vanishes. Deleting an interface causes no error on its sockets, so its index is checked in short intervals.
 */

import type { AgentObserver, DhcpPacketHandler, DhcpSocket, DhcpSocketEvents, DhcpSockets, LateReply } from '../ports.js';

const RETRY_INTERVAL_MS = 1_000;

/** Whether an interface is served, and why not. */
export type InterfaceState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'serving' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'failed'; readonly message: string };

/** What an interface needs to be served: sockets, and a handler of its packets. */
export interface ServedInterfacePorts {
  readonly observer: AgentObserver;
  readonly nowMs: () => number;
  readonly handler: DhcpPacketHandler;
  readonly sockets: DhcpSockets;
  readonly socketEvents: Omit<DhcpSocketEvents, 'onError'>;
  /** Called before the port is opened, for example to add addresses to the interface. */
  readonly prepare?: () => Promise<void>;
  readonly onStateChange: () => void;
}

export class ServedInterface {
  readonly name: string;
  readonly #ports: ServedInterfacePorts;
  #state: InterfaceState = { kind: 'opening' };
  #socket: DhcpSocket | undefined;
  #checking = false;
  #retryAtMs = 0;
  #stopped = false;

  constructor(name: string, ports: ServedInterfacePorts) {
    this.name = name;
    this.#ports = ports;
  }

  get state(): InterfaceState {
    return this.#state;
  }

  /** Opens or closes the port to match the interface. Call it repeatedly; it never throws. */
  async check(): Promise<void> {
    if (this.#checking || this.#stopped) return;
    this.#checking = true;
    try {
      await this.#check(this.#ports.sockets.indexOf(this.name));
    } finally {
      this.#checking = false;
    }
  }

  /** The interface that is served now; another one of the same name has another index. */
  get interfaceIndex(): number | undefined {
    return this.#socket?.interfaceIndex;
  }

  /** Answers a packet that was received earlier, as if it came in now. */
  inject(packet: Uint8Array): void {
    this.#socket?.inject(packet);
  }

  /** Sends delayed replies; without an open port they are lost, and their clients ask again. */
  send(replies: readonly LateReply[]): void {
    this.#socket?.send(replies);
  }

  stop(): void {
    this.#stopped = true;
    this.#close();
  }

  async #check(interfaceIndex: number): Promise<void> {
    if (interfaceIndex === 0) {
      this.#close();
      if (this.#state.kind !== 'missing') {
        this.#ports.observer.observe({ kind: 'interface-missing', interfaceName: this.name });
        this.#setState({ kind: 'missing' });
      }
      return;
    }
    if (this.#socket?.interfaceIndex === interfaceIndex) return;
    if (this.#state.kind === 'failed' && this.#ports.nowMs() < this.#retryAtMs) return;
    const replaced = this.#socket !== undefined || this.#state.kind === 'missing';
    this.#close();
    await this.#open(replaced);
  }

  async #open(replaced: boolean): Promise<void> {
    try {
      await this.#ports.prepare?.();
      const socket = await this.#ports.sockets.open(this.name, this.#ports.handler, {
        ...this.#ports.socketEvents,
        onError: (error) => this.#fail(error),
      });
      if (this.#stopped) {
        socket.close();
        return;
      }
      this.#socket = socket;
      if (replaced) this.#ports.observer.observe({ kind: 'interface-back', interfaceName: this.name });
      if (!socket.sendsFrames) this.#ports.observer.observe({ kind: 'frames-not-sent', interfaceName: this.name });
      this.#setState({ kind: 'serving' });
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #fail(error: Error): void {
    this.#close();
    this.#retryAtMs = this.#ports.nowMs() + RETRY_INTERVAL_MS;
    const known = this.#state.kind === 'failed' ? this.#state.message : undefined;
    if (known !== error.message) this.#ports.observer.observe({ kind: 'socket-failed', interfaceName: this.name, error });
    this.#setState({ kind: 'failed', message: error.message });
  }

  #close(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }

  #setState(state: InterfaceState): void {
    this.#state = state;
    this.#ports.onStateChange();
  }
}
