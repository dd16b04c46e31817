/** Asks a network whether anybody uses an address. Source: RFC 5227 §2.1. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Ipv4Address, type MacAddress, readMacAddress, UNSPECIFIED_ADDRESS } from '@vmdhcp/dhcp-allocator';
import { ArpSocket } from './arp-socket.js';

const POLL_INTERVAL_MS = 10;
const REQUESTS = 3;
/** Of one interface. */
const MOST_AT_A_TIME = 128;

export interface AddressQuestion {
  readonly address: Ipv4Address;
  /** Who is to have it: may answer. */
  readonly macAddress: MacAddress;
}

interface Asked extends AddressQuestion {
  readonly sinceMs: number;
  sent: number;
  readonly answer: (usedBy: MacAddress | undefined) => void;
  readonly fail: (error: unknown) => void;
}

/** One interface; opened while there is something to ask. */
export class AddressProbe {
  readonly #interfaceName: string;
  readonly #timeoutMs: number;
  readonly #waiting: Asked[] = [];
  readonly #asked = new Set<Asked>();
  #isRunning = false;

  constructor(interfaceName: string, timeoutMs: number) {
    this.#interfaceName = interfaceName;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Who else uses the address; undefined: nobody answered. Resolves after `timeoutMs`, later where many are asked about.
   * Rejects with a SocketError where the network cannot be asked.
   */
  async ask(question: AddressQuestion): Promise<MacAddress | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<MacAddress | undefined>();
    this.#waiting.push({ ...question, sinceMs: 0, sent: 0, answer: resolve, fail: reject });
    if (!this.#isRunning) void this.#run();
    return await promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    let socket: ArpSocket | undefined;
    try {
      socket = new ArpSocket(this.#interfaceName);
      const own = readMacAddress(socket.hardwareAddress);
      while (this.#waiting.length > 0 || this.#asked.size > 0) {
        this.#send(socket);
        await delay(POLL_INTERVAL_MS);
        this.#receive(socket, own);
      }
    } catch (error) {
      for (const { fail } of [...this.#asked, ...this.#waiting.splice(0)]) fail(error);
      this.#asked.clear();
    } finally {
      socket?.close();
      this.#isRunning = false;
    }
  }

  #send(socket: ArpSocket): void {
    const nowMs = performance.now();
    while (this.#waiting.length > 0 && this.#asked.size < MOST_AT_A_TIME) {
      const next = this.#waiting.shift();
      if (next !== undefined) this.#asked.add({ ...next, sinceMs: nowMs });
    }
    for (const one of this.#asked) {
      if (one.sent === REQUESTS || nowMs - one.sinceMs < (one.sent * this.#timeoutMs) / REQUESTS) continue;
      one.sent++;
      socket.request({ senderAddress: UNSPECIFIED_ADDRESS, targetAddress: one.address });
    }
  }

  #receive(socket: ArpSocket, own: MacAddress): void {
    for (const { senderAddress, senderHardwareAddress } of socket.receive()) {
      const macAddress = readMacAddress(senderHardwareAddress);
      if (macAddress === own) continue;
      for (const one of this.#asked) {
        if (one.address === senderAddress) this.#settle(one, macAddress === one.macAddress ? undefined : macAddress);
      }
    }
    const nowMs = performance.now();
    for (const one of this.#asked) if (nowMs - one.sinceMs >= this.#timeoutMs) this.#settle(one, undefined);
  }

  #settle(one: Asked, usedBy: MacAddress | undefined): void {
    this.#asked.delete(one);
    one.answer(usedBy);
  }
}
