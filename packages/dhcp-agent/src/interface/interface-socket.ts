/**
 * A socket of one network interface: opened when the interface appears, reopened when another one of the same name replaces it, and closed when it
 * vanishes. Deleting an interface causes no error on its sockets, so its index is checked in short intervals.
 */
import type { AgentObserver } from '../ports.js';

const RETRY_INTERVAL_MS = 1_000;

/** Whether an interface is served, and why not. */
export type InterfaceState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'serving' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'failed'; readonly message: string };

/** A socket that is open. */
export interface OpenSocket {
  /** The interface as it was when the socket was opened. */
  readonly interfaceIndex: number;
  readonly close: () => void;
}

export interface InterfaceSocketPorts<Socket extends OpenSocket> {
  readonly observer: AgentObserver;
  readonly nowMs: () => number;
  /** Returns 0 if there is no such interface. */
  readonly indexOf: (interfaceName: string) => number;
  /** Rejects if the socket cannot be opened. @param onError - to be called if it fails afterwards. */
  readonly open: (onError: (error: Error) => void) => Promise<Socket>;
  readonly onStateChange: () => void;
}

export class InterfaceSocket<Socket extends OpenSocket> {
  readonly #name: string;
  readonly #ports: InterfaceSocketPorts<Socket>;
  #state: InterfaceState = { kind: 'opening' };
  #socket: Socket | undefined;
  #checking = false;
  #retryAtMs = 0;
  #isWanted = true;

  constructor(name: string, ports: InterfaceSocketPorts<Socket>) {
    this.#name = name;
    this.#ports = ports;
  }

  get state(): InterfaceState {
    return this.#state;
  }

  /** Undefined if it is not open. */
  get socket(): Socket | undefined {
    return this.#socket;
  }

  /** Opens or closes the socket to match the interface. Call it repeatedly; it never throws. @param isWanted - false to have it closed. */
  async check(isWanted = true): Promise<void> {
    this.#isWanted = isWanted;
    if (!isWanted) {
      this.#close();
      this.#state = { kind: 'opening' };
    }
    if (this.#checking || !isWanted) return;
    this.#checking = true;
    try {
      await this.#check(this.#ports.indexOf(this.#name));
    } finally {
      this.#checking = false;
    }
  }

  async #check(interfaceIndex: number): Promise<void> {
    if (interfaceIndex === 0) {
      this.#close();
      if (this.#state.kind !== 'missing') {
        this.#ports.observer.observe({ kind: 'interface-missing', interfaceName: this.#name });
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
      const socket = await this.#ports.open((error) => this.#fail(error));
      if (!this.#isWanted) {
        socket.close();
        return;
      }
      this.#socket = socket;
      if (replaced) this.#ports.observer.observe({ kind: 'interface-back', interfaceName: this.#name });
      this.#setState({ kind: 'serving' });
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #fail(error: Error): void {
    this.#close();
    this.#retryAtMs = this.#ports.nowMs() + RETRY_INTERVAL_MS;
    const known = this.#state.kind === 'failed' ? this.#state.message : undefined;
    if (known !== error.message) this.#ports.observer.observe({ kind: 'socket-failed', interfaceName: this.#name, error });
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
