// Run inside a machine of the bench: `node storm-clients.js SETTINGS`. Many clients are switched on at once, each asks once and repeats as RFC 2131
// §4.1 says. Prints a StormResult. Both are JSON.
import { libc, MessageSlab, UDP_HEADERS_LENGTH, writeSockaddrLl } from '@vmdhcp/linux-sockets';
import { FIRST_CLIENT } from './load-generator.js';
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
import { openFrameSocket } from './load-sockets.js';

export interface StormSettings {
  readonly interfaceName: string;
  readonly clients: number;
  /** Within this time all clients send their first DISCOVER. */
  readonly spreadMs: number;
  readonly mostSeconds: number;
}

export interface StormResult {
  /** From a client's first packet to its ACK, in order; fewer than there are clients if some got none. */
  readonly acknowledgedAfterMs: readonly number[];
  readonly packetsSent: number;
  readonly packetsRepeated: number;
  readonly naks: number;
}

const BURST = 64;
const BROADCAST = Buffer.alloc(6, 0xff);
const State = { off: 0, discovering: 1, requesting: 2, bound: 3 } as const;
/** Source: RFC 2131 §4.1. */
const FIRST_WAIT_MS = 4_000;
const JITTER_MS = 1_000;
const CLOCK_INTERVAL_MS = 20;

class Storm {
  readonly #settings: StormSettings;
  readonly #fd: number;
  readonly #received = new MessageSlab({ count: BURST, size: 2048 });
  readonly #outgoing = new MessageSlab({ count: 1, size: 1024 });
  readonly #templates = {
    discover: messageTemplate({ giaddr: 0, flags: 0, headers: UDP_HEADERS_LENGTH }, [[53, [1]]]),
    request: messageTemplate({ giaddr: 0, flags: 0, headers: UDP_HEADERS_LENGTH }, [
      [53, [3]],
      [50, [0, 0, 0, 0]],
      [54, [0, 0, 0, 0]],
    ]),
  };
  readonly #state: Uint8Array;
  readonly #startedAt: Float64Array;
  readonly #repeatAt: Float64Array;
  readonly #waitMs: Float64Array;
  /** Offered address and server of each client, four octets each. */
  readonly #offers: Buffer;
  readonly #reply: ReplyFields = { type: 0, serverAt: 0 };
  readonly #acknowledged: number[] = [];
  #sent = 0;
  #repeated = 0;
  #naks = 0;

  constructor(settings: StormSettings) {
    this.#settings = settings;
    this.#fd = openFrameSocket([settings.interfaceName]);
    const target = { interfaceIndex: libc.ifNameToIndex(settings.interfaceName), etherType: libc.ETHERTYPE_IPV4 };
    writeSockaddrLl(this.#outgoing.names[0] as Buffer, target, BROADCAST);
    const { clients } = settings;
    this.#state = new Uint8Array(clients);
    this.#startedAt = new Float64Array(clients);
    this.#repeatAt = new Float64Array(clients);
    this.#waitMs = new Float64Array(clients);
    this.#offers = Buffer.alloc(8 * clients);
  }

  run(): StormResult {
    const { clients, spreadMs, mostSeconds } = this.#settings;
    const begin = performance.now();
    let [on, lookedAt] = [0, begin];
    for (let now = begin; this.#acknowledged.length < clients && now - begin < mostSeconds * 1_000; now = performance.now()) {
      const due = Math.min(clients, Math.floor(((now - begin) / spreadMs) * clients));
      for (let count = 0; on < due && count < BURST; count++) this.#switchOn(on++, now);
      this.#receive(now);
      if (now - lookedAt < CLOCK_INTERVAL_MS) continue;
      lookedAt = now;
      this.#repeatLate(on, now);
    }
    libc.close(this.#fd);
    const acknowledgedAfterMs = this.#acknowledged.toSorted((one, other) => one - other);
    return { acknowledgedAfterMs, packetsSent: this.#sent, packetsRepeated: this.#repeated, naks: this.#naks };
  }

  #switchOn(client: number, now: number): void {
    this.#startedAt[client] = now;
    this.#enter(client, State.discovering, now);
  }

  #enter(client: number, state: number, now: number): void {
    this.#state[client] = state;
    this.#waitMs[client] = FIRST_WAIT_MS;
    this.#send(client, now);
  }

  #repeatLate(on: number, now: number): void {
    for (let client = 0; client < on; client++) {
      if (this.#state[client] === State.bound || now < (this.#repeatAt[client] as number)) continue;
      this.#repeated++;
      this.#waitMs[client] = 2 * (this.#waitMs[client] as number);
      this.#send(client, now);
    }
  }

  #send(client: number, now: number): void {
    const isRequest = this.#state[client] === State.requesting;
    const from = isRequest ? this.#templates.request : this.#templates.discover;
    const packet = this.#outgoing.buffers[0] as Buffer;
    packet.set(from);
    writeUint32(packet, UDP_HEADERS_LENGTH + XID_AT, client + 1);
    writeUint32(packet, UDP_HEADERS_LENGTH + CHADDR_AT + 2, (FIRST_CLIENT + client) % 0x1_0000_0000);
    if (isRequest) {
      this.#offers.copy(packet, UDP_HEADERS_LENGTH + REQUESTED_AT, 8 * client, 8 * client + 4);
      this.#offers.copy(packet, UDP_HEADERS_LENGTH + SERVER_AT, 8 * client + 4, 8 * client + 8);
    }
    this.#outgoing.setOutgoing(0, { start: 0, end: from.length }, 20);
    while (libc.sendmmsg(this.#fd, this.#outgoing.headers, 1, libc.MSG_DONTWAIT) < 1);
    this.#sent++;
    this.#repeatAt[client] = now + (this.#waitMs[client] as number) + (2 * Math.random() - 1) * JITTER_MS;
  }

  #receive(now: number): void {
    const count = libc.recvmmsg(this.#fd, this.#received.headers, BURST, libc.MSG_DONTWAIT, null);
    for (let index = 0; index < count; index++)
      this.#read(this.#received.buffers[index] as Buffer, this.#received.receivedLength(index), now);
  }

  #read(packet: Buffer, length: number, now: number): void {
    if (length < UDP_HEADERS_LENGTH + OPTIONS_AT + 3 || !isReply(packet, UDP_HEADERS_LENGTH)) return;
    const client = packet.readUInt32BE(UDP_HEADERS_LENGTH + XID_AT) - 1;
    if (client >= this.#settings.clients) return;
    readReply(packet, this.#reply, { start: UDP_HEADERS_LENGTH + OPTIONS_AT, end: length });
    const { type, serverAt } = this.#reply;
    if (type === 2 && this.#state[client] === State.discovering) {
      packet.copy(this.#offers, 8 * client, UDP_HEADERS_LENGTH + 16, UDP_HEADERS_LENGTH + 20);
      packet.copy(this.#offers, 8 * client + 4, serverAt, serverAt + 4);
      this.#enter(client, State.requesting, now);
    } else if (type === 5 && this.#state[client] === State.requesting) {
      this.#state[client] = State.bound;
      this.#acknowledged.push(now - (this.#startedAt[client] as number));
    } else if (type === 6 && this.#state[client] === State.requesting) {
      this.#naks++;
      this.#enter(client, State.discovering, now);
    }
  }
}

process.stdout.write(`${JSON.stringify(new Storm(JSON.parse(process.argv[2] ?? '{}') as StormSettings).run())}\n`);
