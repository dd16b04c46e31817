/** Probes which hosts of a network use an address. Source: RFC 5227 §2.1. */
import { setTimeout as delay } from 'node:timers/promises';
import { type EthernetAddress, formatMacAddress, type Ipv4Number } from '../ethernet/mac-address.js';
import { ArpSocket, type ReceivedArp } from './arp-socket.js';

const PROBE_MS = 300;
const POLL_INTERVAL_MS = 10;
const REQUESTS = 3;
/** How often an address is probed if packets were lost that may have contained the answer. */
const MOST_ROUNDS = 3;
/** The socket and the probes of one interface. */
const MOST_AT_A_TIME = 128;
/** The maximum number of other hosts for one probe; a healthy network has at most one. */
const MOST_OTHERS = 8;

export interface ProbedAddress {
  readonly address: Ipv4Number;
  /** The client that the address belongs to. */
  readonly macAddress: EthernetAddress;
}

/** The hosts that answered for an address. */
export interface ArpAnswers {
  /** True if the client itself answered. */
  readonly byClient: boolean;
  /** Other hosts, by the source addresses of their frames; at most eight. */
  readonly others: readonly EthernetAddress[];
}

interface Asked extends ProbedAddress {
  sinceMs: number;
  round: number;
  sent: number;
  byClient: boolean;
  isIncomplete: boolean;
  readonly others: Set<EthernetAddress>;
  readonly answer: (use: ArpAnswers) => void;
  readonly fail: (error: unknown) => void;
}

type Waiting = Pick<Asked, 'address' | 'macAddress' | 'answer' | 'fail'>;

/** One interface; its socket is open while there are probes. */
export class ArpProber {
  readonly #interfaceName: string;
  readonly #waiting: Waiting[] = [];
  readonly #asked = new Set<Asked>();
  #isRunning = false;

  constructor(interfaceName: string) {
    this.#interfaceName = interfaceName;
  }

  /**
   * Resolves to the hosts that answer for the address within 300 ms, or longer if many addresses are probed. It never resolves at the first answer,
   * because another host may answer later. It probes up to three times if more answers come in than can be read. Rejects with a SocketError if it
   * cannot probe, and with an Error if answers may have been lost.
   */
  async ask({ address, macAddress }: ProbedAddress): Promise<ArpAnswers> {
    const { promise, resolve, reject } = Promise.withResolvers<ArpAnswers>();
    this.#waiting.push({ address, macAddress, answer: resolve, fail: reject });
    if (!this.#isRunning) void this.#run();
    return await promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    let socket: ArpSocket | undefined;
    try {
      socket = new ArpSocket(this.#interfaceName);
      const own = formatMacAddress(socket.hardwareAddress);
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
    const added = this.#waiting.splice(0, MOST_AT_A_TIME - this.#asked.size);
    for (const next of added) {
      this.#asked.add({ ...next, sinceMs: nowMs, round: 1, sent: 0, byClient: false, isIncomplete: false, others: new Set() });
    }
    if (added.length > 0) socket.receiveOnlyFrom([...this.#asked].map(({ address }) => address));
    for (const one of this.#asked) {
      if (one.sent === REQUESTS || nowMs - one.sinceMs < (one.sent * PROBE_MS) / REQUESTS) continue;
      one.sent++;
      socket.request({ senderAddress: 0, targetAddress: one.address });
    }
  }

  #receive(socket: ArpSocket, own: EthernetAddress): void {
    for (const packet of socket.receive()) this.#note(packet, own);
    const nowMs = performance.now();
    for (const one of this.#asked) {
      one.isIncomplete ||= socket.hasMissed;
      if (nowMs - one.sinceMs < PROBE_MS) continue;
      if (one.isIncomplete && one.round < MOST_ROUNDS)
        Object.assign(one, { round: one.round + 1, sinceMs: nowMs, sent: 0, isIncomplete: false });
      else this.#settle(one);
    }
  }

  /** The frame has the true sender; a host can write any address into the packet. */
  #note({ senderAddress, senderHardwareAddress, frameHardwareAddress }: ReceivedArp, own: EthernetAddress): void {
    const named = formatMacAddress(senderHardwareAddress);
    const sender = formatMacAddress(frameHardwareAddress);
    if (named === own || sender === own) return;
    for (const one of this.#asked) {
      if (one.address !== senderAddress) continue;
      if (named === one.macAddress || sender === one.macAddress) one.byClient = true;
      else if (one.others.size < MOST_OTHERS) one.others.add(sender);
    }
  }

  #settle(one: Asked): void {
    this.#asked.delete(one);
    if (one.isIncomplete) one.fail(new Error(`more ARP packets came in on ${this.#interfaceName} than could be read`));
    else one.answer({ byClient: one.byClient, others: [...one.others] });
  }
}
