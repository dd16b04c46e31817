/**
 * DHCP clients by the thousand: DISCOVER, OFFER, REQUEST, ACK, over and over, with so many exchanges under way at a time.
 * A loop of its own that never waits: everything is read and sent in bursts, and messages are templates with a few octets
 * changed, so that it is quicker than the servers it measures.
 */
import { encodeMessage, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { libc, MessageSlab, SocketError, UDP_HEADERS_LENGTH, writeSockaddrLl, writeUdpHeaders } from '@vmdhcp/linux-sockets';

export type LoadMode = 'relayed' | 'direct' | 'broadcast';

export interface LoadSettings {
  /** `relayed`: UDP from a relay. `direct`: frames of clients without address. `broadcast`: those, asking for broadcast replies. */
  readonly mode: LoadMode;
  /** The interfaces that clients are on, in turn; one for `relayed`. */
  readonly interfaces: readonly string[];
  /** Of the relay. */
  readonly relayAddress: string;
  /** Whom the relay sends to. */
  readonly serverAddress: string;
  /** Exchanges under way at a time. */
  readonly window: number;
  readonly seconds: number;
  /** How many hardware addresses; client `i` has the first one plus `i`. */
  readonly clients: number;
  /** The hardware address of the first client is so much later; default 0. */
  readonly firstClient?: number;
  /** Exchanges that begin in a second; default: as many as the window allows. */
  readonly perSecond?: number;
  /** True: the result has every client that got an ACK. */
  readonly listsAcknowledged?: boolean;
}

export interface LatencyMs {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
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
const HISTOGRAM_US = 200_000;
const XID_AT = 4;
const CHADDR_AT = 28;
const OPTIONS_AT = 240;
/** Where the template of a REQUEST has the values of options 50 and 54. */
const REQUESTED_AT = OPTIONS_AT + 5;
const SERVER_AT = OPTIONS_AT + 11;
const ASKED_FOR = [1, 28, 3, 15, 6, 12];

const State = { free: 0, discovering: 1, requesting: 2 } as const;

class Histogram {
  readonly #counts = new Uint32Array(HISTOGRAM_US + 1);
  #count = 0;
  #max = 0;

  add(ms: number): void {
    const us = Math.floor(ms * 1000);
    const at = Math.min(us, HISTOGRAM_US);
    this.#counts[at] = (this.#counts[at] as number) + 1;
    this.#count++;
    if (ms > this.#max) this.#max = ms;
  }

  summary(): LatencyMs {
    const at = (share: number) => {
      let left = this.#count * share;
      const us = this.#counts.findIndex((count) => {
        left -= count;
        return left < 0;
      });
      return Math.max(us, 0) / 1000;
    };
    return { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: this.#max };
  }
}

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
  readonly #offers = new Histogram();
  readonly #acks = new Histogram();
  readonly #perInterface: number[];
  readonly #acknowledged: [client: number, address: number][] = [];
  /** Of frames; none where clients are relayed. */
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
      discover: template({ giaddr, flags, headers: this.#headers }, [[53, [1]]]),
      request: template({ giaddr, flags, headers: this.#headers }, [
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
    const { clients, firstClient = 0 } = this.#settings;
    this.#client[slot] = firstClient + (this.#started++ % clients);
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

function addressOf(text: string): number {
  const address = parseIpv4Address(text);
  if (address === undefined) throw new Error(`${text} is no IPv4 address`);
  return address;
}

interface TemplateFields {
  readonly giaddr: number;
  readonly flags: number;
  readonly headers: number;
}

function template(
  { giaddr, flags, headers }: TemplateFields,
  options: readonly (readonly [number, readonly number[]])[],
): Buffer {
  const { bytes } = encodeMessage({
    ...{ op: 1, htype: 1, hlen: 6, hops: giaddr === 0 ? 0 : 1, xid: 0, secs: 0, flags, ciaddr: 0, yiaddr: 0, siaddr: 0, giaddr },
    chaddr: Uint8Array.of(0x00, 0x0c, 0x01, 0x02, 0x00, 0x00),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options: [...options.map(([code, value]) => [code, Uint8Array.from(value)] as const), [55, Uint8Array.from(ASKED_FOR)]],
  });
  const packet = Buffer.alloc(headers + bytes.length);
  packet.set(bytes, headers);
  if (headers > 0) {
    writeUdpHeaders(packet, bytes.length, {
      sourceAddress: 0,
      sourcePort: 68,
      destinationAddress: 0xffff_ffff,
      destinationPort: 67,
    });
    // 0: no checksum, as the octets after it change. Source: RFC 768.
    packet.writeUInt16BE(0, 26);
  }
  return packet;
}

interface ReplyFields {
  type: number;
  /** Where the value of its option 54 stands. */
  serverAt: number;
}

/** One object for all replies: they come by the hundred thousand. */
function readReply(packet: Buffer, into: ReplyFields, { start, end }: { readonly start: number; readonly end: number }): void {
  into.type = 0;
  into.serverAt = 0;
  for (let at = start; at + 1 < end && packet[at] !== 255; ) {
    const code = packet[at] as number;
    if (code === 0) {
      at++;
      continue;
    }
    if (code === 53) into.type = packet[at + 2] as number;
    if (code === 54) into.serverAt = at + 2;
    if (into.type !== 0 && into.serverAt !== 0) break;
    at += 2 + (packet[at + 1] as number);
  }
}

/** Stores of octets are much quicker than methods of Buffer. */
function writeUint32(into: Uint8Array, at: number, value: number): void {
  into[at] = value >>> 24;
  into[at + 1] = value >>> 16;
  into[at + 2] = value >>> 8;
  into[at + 3] = value;
}

function openRelaySocket(address: string): number {
  const fd = libc.socket(libc.AF_INET, libc.SOCK_DGRAM, 0);
  if (fd < 0) throw new SocketError('open a UDP socket');
  enlarge(fd);
  const name = Buffer.alloc(16);
  name.writeUInt16LE(libc.AF_INET, 0);
  name.writeUInt16BE(67, 2);
  name.writeUInt32BE(addressOf(address), 4);
  if (libc.bind(fd, name, name.length) < 0) throw new SocketError(`bind ${address}:67`);
  return fd;
}

/** A socket for frames of one interface, or of all if there are several. */
function openFrameSocket(interfaces: readonly string[]): number {
  const fd = libc.socket(libc.AF_PACKET, libc.SOCK_DGRAM, 0);
  if (fd < 0) throw new SocketError('open a packet socket');
  enlarge(fd);
  const name = Buffer.alloc(20);
  name.writeUInt16LE(libc.AF_PACKET, 0);
  name.writeUInt16BE(libc.ETHERTYPE_IPV4, 2);
  name.writeInt32LE(interfaces.length === 1 ? libc.ifNameToIndex(interfaces[0] as string) : 0, 4);
  if (libc.bind(fd, name, name.length) < 0) throw new SocketError('bind a packet socket');
  return fd;
}

function enlarge(fd: number): void {
  const octets = Buffer.alloc(4);
  octets.writeInt32LE(16 << 20);
  // As far as the system allows; and beyond that with rights that a user namespace does not give.
  for (const option of [libc.SO_RCVBUF, libc.SO_SNDBUF, libc.SO_RCVBUFFORCE, libc.SO_SNDBUFFORCE]) {
    libc.setsockopt(fd, libc.SOL_SOCKET, option, octets, 4);
  }
}

/** @param headers - octets of IP and UDP header before the message. */
function isReply(packet: Buffer, headers: number): boolean {
  return packet[headers] === 2 && (headers === 0 || packet[9] === 17);
}
