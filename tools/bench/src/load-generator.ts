/**
 * DHCP clients by the thousand: DISCOVER, OFFER, REQUEST, ACK, over and over, with so many exchanges under way at a time.
 * A loop of its own that never waits: everything is read and sent in bursts, and messages are templates with a few octets
 * changed, so that it is quicker than the servers it measures.
 */
import { libc, MessageSlab, SocketError, UDP_HEADERS_LENGTH, writeSockaddrLl } from '@vmdhcp/linux-sockets';
import { LatencyHistogram, type LatencyMs } from './latency-histogram.js';
import {
  CHADDR_AT,
  isReply,
  messageTemplate,
  OPTIONS_AT,
  REQUESTED_AT,
  type ReplyFields,
  readReply,
  SERVER_AT,
  writeUint32,
  XID_AT,
} from './load-messages.js';
import { addressOf, openFrameSocket, openRelaySocket } from './load-sockets.js';

export type LoadMode = 'relayed' | 'direct' | 'broadcast';

export interface LoadSettings {
  /** `relayed`: UDP from a relay. `direct`: frames of clients without address. `broadcast`: those, asking for broadcast replies. */
  readonly mode: LoadMode;
  /** The interfaces that clients are on, in turn; one for `relayed`. */
  readonly interfaces: readonly string[];
  /** The address of the relay. */
  readonly relayAddress: string;
  /** Whom the relay sends to. */
  readonly serverAddress: string;
  /** Exchanges under way at a time. */
  readonly window: number;
  readonly seconds: number;
  /** How many hardware addresses; client `i` has the first one plus `i`. */
  readonly clients: number;
  /** Exchanges that begin in a second; default: as many as the window allows. */
  readonly perSecond?: number;
  /** True: the result has every client that got an ACK. */
  readonly listsAcknowledged?: boolean;
}

export interface LoadResult {
  readonly exchangesPerSecond: number;
  readonly exchanges: number;
  /** Exchanges without an end within a second. */
  readonly lost: number;
  readonly naks: number;
  readonly discoverToOffer: LatencyMs;
  readonly requestToAck: LatencyMs;
  /** Exchanges that were completed, for each interface. */
  readonly perInterface: readonly number[];
  /** Client and address of each ACK, if that was asked for. */
  readonly acknowledged?: readonly (readonly [client: number, address: number])[];
  /** How often the kernel had to be asked again to send. */
  readonly sendFailures: number;
}

export const FIRST_CLIENT = 0x000c_0102_0000;
const BURST = 64;
const TIMEOUT_MS = 1_000;
const SLOTS = 65_536;
/** The kernel is asked again: what it does not take at once must not count as lost by the server. */
const MOST_SEND_FAILURES = 1_000_000;
const State = { free: 0, discovering: 1, requesting: 2 } as const;

/** Runs the load; blocks until it is done. @throws SocketError */
export function generateLoad(settings: LoadSettings): LoadResult {
  return new LoadRun(settings).run();
}

class LoadRun {
  readonly #settings: LoadSettings;
  readonly #fd: number;
  /** Octets before the message in what is sent and received. */
  readonly #headers: number;
  readonly #received = new MessageSlab({ count: BURST, size: 2048 });
  readonly #outgoing = new MessageSlab({ count: BURST, size: 1024 });
  #queued = 0;
  readonly #templates: { readonly discover: Buffer; readonly request: Buffer };
  readonly #state = new Uint8Array(SLOTS);
  readonly #client = new Uint32Array(SLOTS);
  readonly #sentAt = new Float64Array(SLOTS);
  readonly #reply: ReplyFields = { type: 0, serverAt: 0 };
  readonly #offers = new LatencyHistogram();
  readonly #acks = new LatencyHistogram();
  readonly #perInterface: number[];
  readonly #acknowledged: [client: number, address: number][] = [];
  /** The interfaces for frames; none if clients are relayed. */
  readonly #interfaceIndexes: readonly number[];
  #next = 0;
  #started = 0;
  #underWay = 0;
  #done = 0;
  #naks = 0;
  #lost = 0;
  #scanned = 0;
  #sendFailures = 0;

  constructor(settings: LoadSettings) {
    this.#settings = settings;
    const relayed = settings.mode === 'relayed';
    this.#fd = relayed ? openRelaySocket(settings.relayAddress) : openFrameSocket(settings.interfaces);
    this.#headers = relayed ? 0 : UDP_HEADERS_LENGTH;
    const giaddr = relayed ? addressOf(settings.relayAddress) : 0;
    const flags = settings.mode === 'broadcast' ? 0x8000 : 0;
    this.#templates = {
      discover: messageTemplate({ giaddr, flags, headers: this.#headers }, [[53, [1]]]),
      request: messageTemplate({ giaddr, flags, headers: this.#headers }, [
        [53, [3]],
        [50, [0, 0, 0, 0]],
        [54, [0, 0, 0, 0]],
      ]),
    };
    this.#perInterface = settings.interfaces.map(() => 0);
    this.#interfaceIndexes = relayed ? [] : settings.interfaces.map((name) => libc.ifNameToIndex(name));
    if (relayed) this.#addressRelayed();
    else for (let index = 0; index < BURST; index++) this.#addressFrame(index, 0);
  }

  run(): LoadResult {
    const { seconds, window, perSecond, listsAcknowledged } = this.#settings;
    const startedAt = performance.now();
    const endsAt = startedAt + seconds * 1000;
    let now = startedAt;
    while (now < endsAt) {
      const due = perSecond === undefined ? BURST : Math.floor(((now - startedAt) / 1000) * perSecond) - this.#started;
      for (let count = Math.min(window - this.#underWay, BURST, due); count > 0; count--) this.#start(now);
      this.#flush();
      this.#receive(performance.now());
      this.#flush();
      now = performance.now();
      this.#giveUpOld(now);
    }
    const lastsMs = now - startedAt;
    while (this.#underWay > 0 && performance.now() < now + TIMEOUT_MS) {
      this.#receive(performance.now());
      this.#flush();
    }
    libc.close(this.#fd);
    return {
      exchangesPerSecond: Math.round((this.#done / lastsMs) * 1000),
      exchanges: this.#done,
      lost: this.#lost + this.#underWay,
      naks: this.#naks,
      discoverToOffer: this.#offers.summary(),
      requestToAck: this.#acks.summary(),
      perInterface: this.#perInterface,
      ...(listsAcknowledged === true && { acknowledged: this.#acknowledged }),
      sendFailures: this.#sendFailures,
    };
  }

  #start(now: number): void {
    const slot = this.#next++ % SLOTS;
    if (this.#state[slot] !== State.free) {
      this.#lost++;
      this.#underWay--;
    }
    this.#state[slot] = State.discovering;
    this.#client[slot] = this.#started++ % this.#settings.clients;
    this.#sentAt[slot] = now;
    this.#underWay++;
    this.#queue(this.#templates.discover, slot);
  }

  /** Queues a copy of a template, with the slot's transaction and client; returns where the message begins. */
  #queue(from: Buffer, slot: number): Buffer {
    if (this.#queued === BURST) this.#flush();
    const index = this.#queued++;
    const packet = this.#outgoing.buffers[index] as Buffer;
    const client = this.#client[slot] as number;
    packet.set(from);
    writeUint32(packet, this.#headers + XID_AT, slot + 1);
    // The template has the first two octets: 65,536 clients and more would not fit the network.
    writeUint32(packet, this.#headers + CHADDR_AT + 2, (FIRST_CLIENT + client) % 0x1_0000_0000);
    if (this.#interfaceIndexes.length > 1) this.#addressFrame(index, client);
    this.#outgoing.setOutgoing(index, { start: 0, end: from.length }, this.#headers > 0 ? 20 : 16);
    return packet;
  }

  #receive(now: number): void {
    const count = libc.recvmmsg(this.#fd, this.#received.headers, BURST, libc.MSG_DONTWAIT, null);
    for (let index = 0; index < count; index++) {
      const packet = this.#received.buffers[index] as Buffer;
      const length = this.#received.receivedLength(index);
      if (length > this.#headers + OPTIONS_AT + 3) this.#read(packet, length, now);
    }
  }

  #read(packet: Buffer, length: number, now: number): void {
    const at = this.#headers;
    // Frames hold everything that passes the interface; only replies of a server are meant.
    if (!isReply(packet, at)) return;
    const slot = packet.readUInt32BE(at + XID_AT) - 1;
    const state = slot < SLOTS ? this.#state[slot] : State.free;
    if (state === State.free) return;
    const found = this.#reply;
    readReply(packet, found, { start: at + OPTIONS_AT, end: length });
    if (state === State.discovering && found.type === 2) {
      this.#offers.add(now - (this.#sentAt[slot] as number));
      this.#state[slot] = State.requesting;
      this.#sentAt[slot] = now;
      const request = this.#queue(this.#templates.request, slot);
      packet.copy(request, at + REQUESTED_AT, at + 16, at + 20);
      packet.copy(request, at + SERVER_AT, found.serverAt, found.serverAt + 4);
    } else if (state === State.requesting && found.type === 5) {
      this.#acks.add(now - (this.#sentAt[slot] as number));
      this.#end(slot);
      this.#done++;
      if (this.#settings.listsAcknowledged === true)
        this.#acknowledged.push([this.#client[slot] as number, packet.readUInt32BE(at + 16)]);
      const which = (this.#client[slot] as number) % this.#perInterface.length;
      this.#perInterface[which] = (this.#perInterface[which] as number) + 1;
    } else if (found.type === 6) {
      this.#naks++;
      this.#end(slot);
    }
  }

  #end(slot: number): void {
    this.#state[slot] = State.free;
    this.#underWay--;
  }

  #giveUpOld(now: number): void {
    for (let looked = 0; looked < 256; looked++) {
      const slot = this.#scanned++ % SLOTS;
      if (this.#state[slot] === State.free || now - (this.#sentAt[slot] as number) < TIMEOUT_MS) continue;
      this.#lost++;
      this.#end(slot);
    }
  }

  #flush(): void {
    let at = 0;
    while (at < this.#queued) {
      const headers = at === 0 ? this.#outgoing.headers : this.#outgoing.headers.subarray(at * 64);
      const sent = libc.sendmmsg(this.#fd, headers, this.#queued - at, libc.MSG_DONTWAIT);
      if (sent > 0) at += sent;
      else this.#sendFailures++;
      if (this.#sendFailures > MOST_SEND_FAILURES) throw new SocketError('send what the load wants to send');
    }
    this.#queued = 0;
  }

  #addressRelayed(): void {
    for (const name of this.#outgoing.names) {
      name.writeUInt16LE(libc.AF_INET, 0);
      name.writeUInt16BE(67, 2);
      name.writeUInt32BE(addressOf(this.#settings.serverAddress), 4);
    }
  }

  #addressFrame(index: number, client: number): void {
    const interfaceIndex = this.#interfaceIndexes[client % this.#interfaceIndexes.length] as number;
    writeSockaddrLl(this.#outgoing.names[index] as Buffer, { interfaceIndex, etherType: libc.ETHERTYPE_IPV4 }, BROADCAST_MAC);
  }
}

const BROADCAST_MAC = Buffer.alloc(6, 0xff);
