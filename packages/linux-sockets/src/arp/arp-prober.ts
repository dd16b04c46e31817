/** Probes which hosts of a network use an address. Source: RFC 5227 §2.1. */
import { setTimeout as delay } from 'node:timers/promises';
import { type EthernetAddress, formatMacAddress, type Ipv4Number } from '../ethernet/mac-address.js';
import { ArpSocket, type ReceivedArp } from './arp-socket.js';

const REQUESTS = 3;
const REQUEST_INTERVAL_MS = 100;
const POLL_INTERVAL_MS = 10;
/** How many requests go out at most, so that thousands of new addresses do not flood the network: 15 Mbit/s. */
const REQUESTS_PER_MS = 30;
/** As many as were due in this time go out at once after a pause of the process. */
const MOST_DUE_MS = 20;
/** How often an address is probed if packets were lost that may have contained the answer. */
const MOST_ROUNDS = 3;
/** How many addresses are probed at a time. */
const MOST_AT_A_TIME = 16_384;
/** The same in a flood, when the kernel must know each address, so that packets of others are not read. */
const MOST_IN_FLOOD = 128;
/** For how long after lost packets there may be a flood. */
const FLOOD_MS = 5_000;
/** For how long the system may have no room for requests. */
const MOST_STUCK_MS = 2_000;
/** The maximum number of other hosts for one probe; a healthy network has at most one. */
const MOST_OTHERS = 8;

/** An address that is probed, and the client that is to have it. */
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
  round: number;
  sent: number;
  /** When the last request was sent. */
  sentAtMs: number;
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
  /** In the order in which they were asked for. */
  #waiting: Waiting[] = [];
  readonly #asked = new Set<Asked>();
  /** Rarely more than one: two clients may want the same address. */
  readonly #byAddress = new Map<Ipv4Number, Set<Asked>>();
  #isRunning = false;
  #dueSinceMs = 0;
  #floodUntilMs = 0;
  /** Since when the system has had no room for requests. */
  #stuckSinceMs = 0;

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
    this.#dueSinceMs = performance.now() - POLL_INTERVAL_MS;
    this.#stuckSinceMs = performance.now();
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
      this.#byAddress.clear();
    } finally {
      socket?.close();
      this.#isRunning = false;
    }
  }

  #send(socket: ArpSocket): void {
    const nowMs = performance.now();
    const room = Math.floor(Math.min(nowMs - this.#dueSinceMs, MOST_DUE_MS) * REQUESTS_PER_MS);
    this.#dueSinceMs = nowMs;
    const due = this.#findDue(nowMs, room);
    const most = nowMs < this.#floodUntilMs ? MOST_IN_FLOOD : MOST_AT_A_TIME;
    const free = Math.min(room - due.length, most - this.#asked.size);
    const added = this.#waiting.splice(0, Math.max(0, free)).map((next) => this.#add(next));
    if (added.length > 0) socket.receiveOnlyFrom([...this.#byAddress.keys()]);
    due.push(...added);
    const sent = socket.probe(due.map(({ address }) => address));
    for (const one of due.slice(0, sent)) Object.assign(one, { sent: one.sent + 1, sentAtMs: nowMs });
    if (sent > 0 || due.length === 0) this.#stuckSinceMs = nowMs;
    if (nowMs - this.#stuckSinceMs > MOST_STUCK_MS) throw new Error(`no ARP request could be sent on ${this.#interfaceName}`);
  }

  /** The next requests for addresses that are being probed. */
  #findDue(nowMs: number, most: number): Asked[] {
    const due: Asked[] = [];
    for (const one of this.#asked) {
      if (due.length === most) break;
      if (one.sent < REQUESTS && nowMs - one.sentAtMs >= REQUEST_INTERVAL_MS) due.push(one);
    }
    return due;
  }

  #add(next: Waiting): Asked {
    const one: Asked = {
      ...next,
      ...{ round: 1, sent: 0, sentAtMs: Number.NEGATIVE_INFINITY, byClient: false, isIncomplete: false, others: new Set() },
    };
    this.#asked.add(one);
    const same = this.#byAddress.get(one.address);
    if (same === undefined) this.#byAddress.set(one.address, new Set([one]));
    else same.add(one);
    return one;
  }

  #remove(one: Asked): void {
    this.#asked.delete(one);
    const same = this.#byAddress.get(one.address);
    same?.delete(one);
    if (same?.size === 0) this.#byAddress.delete(one.address);
  }

  #receive(socket: ArpSocket, own: EthernetAddress): void {
    for (const packet of socket.receive()) this.#note(packet, own);
    const nowMs = performance.now();
    if (socket.hasMissed) this.#onFlood(socket, nowMs);
    for (const one of this.#asked) {
      one.isIncomplete ||= socket.hasMissed;
      if (one.sent < REQUESTS || nowMs - one.sentAtMs < REQUEST_INTERVAL_MS) continue;
      if (one.isIncomplete && one.round < MOST_ROUNDS) Object.assign(one, { round: one.round + 1, sent: 0, isIncomplete: false });
      else this.#settle(one);
    }
  }

  /** Probes only as many addresses as the kernel can tell from others; the latest ones begin again. */
  #onFlood(socket: ArpSocket, nowMs: number): void {
    this.#floodUntilMs = nowMs + FLOOD_MS;
    const late = [...this.#asked].slice(MOST_IN_FLOOD);
    for (const one of late) this.#remove(one);
    if (late.length > 0) this.#waiting = [...late, ...this.#waiting];
    socket.receiveOnlyFrom([...this.#byAddress.keys()]);
  }

  /** The frame has the true sender; a host can write any address into the packet. */
  #note({ senderAddress, senderHardwareAddress, frameHardwareAddress }: ReceivedArp, own: EthernetAddress): void {
    const named = formatMacAddress(senderHardwareAddress);
    const sender = formatMacAddress(frameHardwareAddress);
    if (named === own || sender === own) return;
    for (const one of this.#byAddress.get(senderAddress) ?? []) {
      if (named === one.macAddress || sender === one.macAddress) one.byClient = true;
      else if (one.others.size < MOST_OTHERS) one.others.add(sender);
    }
  }

  #settle(one: Asked): void {
    this.#remove(one);
    if (one.isIncomplete) one.fail(new Error(`more ARP packets came in on ${this.#interfaceName} than could be read`));
    else one.answer({ byClient: one.byClient, others: [...one.others] });
  }
}
