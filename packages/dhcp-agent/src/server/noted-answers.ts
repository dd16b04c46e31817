/** Notes the server's decisions for each client. It does nothing if there is no place to note them. */
import {
  type Answer,
  BROADCAST_ADDRESS,
  CLIENT_PORT,
  type Ipv4Address,
  type MacAddress,
  type PreparedReply,
  type RecordAnswer,
  type ReplyAnswer,
  readMacAddress,
  SERVER_PORT,
  type ServedPool,
} from '@vmdhcp/dhcp-allocator';
import type { PacketCaptures } from '../capture/packet-captures.js';
import type { DatagramAddresses } from '../capture/raw-ip-packet.js';
import type { LateReply, PacketSender, QueuedReply } from '../ports.js';
import type { AgentTraffic, NotedPacket } from '../traffic/agent-traffic.js';
import type { Standing } from '../traffic/client-slots.js';
import type { Place } from '../traffic/place.js';
import type { MessageReason, PacketDropReason } from './agent-packet-reasons.js';
import type { LateOffer } from './open-answers.js';

const [CIADDR, GIADDR, CHADDR] = [12, 24, 28];
const NO_PACKET = new Uint8Array(0);

/** A place where packets come in. All have the same object shape, for which the packet path is compiled. */
export class NotedEntry {
  readonly interfaceName: string;
  /** The pool for counting packets that belong to no pool; empty for none. */
  readonly poolName: string;
  /** The values of the last packet, because the next one usually has the same. */
  place: Place | undefined = undefined;

  constructor(interfaceName: string, poolName = '') {
    this.interfaceName = interfaceName;
    this.poolName = poolName;
  }
}

interface NotedAnswersPorts {
  readonly traffic?: AgentTraffic | undefined;
  readonly captures?: PacketCaptures | undefined;
  readonly nowMs: () => number;
  /** Undefined if only the MAC address of the client is known. */
  readonly standingOf: (poolName: string, macAddress: MacAddress) => Standing;
}

export class NotedAnswers {
  readonly #ports: NotedAnswersPorts;
  readonly #traffic: AgentTraffic | undefined;
  /** The packet that is being answered. */
  #packet: Uint8Array = NO_PACKET;
  #entry = new NotedEntry('');
  #sender: PacketSender | undefined;
  /** Why it gets no answer. */
  #reason = '';
  /** The pool of the packet. */
  #poolName = '';
  #isAgain = false;

  constructor(ports: NotedAnswersPorts) {
    this.#ports = ports;
    this.#traffic = ports.traffic;
  }

  /** Milliseconds since 1970: when the burst was read, if that is known. */
  nowMs(): number {
    return this.#traffic === undefined ? this.#ports.nowMs() : this.#traffic.nowMs();
  }

  endBurst(): void {
    this.#traffic?.endBurst();
  }

  again(answer: () => void): void {
    this.#isAgain = true;
    if (this.#traffic === undefined) answer();
    else this.#traffic.again(answer);
    this.#isAgain = false;
  }

  /** Begins a packet. */
  begin(packet: Uint8Array, entry: NotedEntry, sender: PacketSender | undefined): void {
    this.#packet = packet;
    this.#entry = entry;
    this.#sender = sender;
    this.#reason = '';
    this.#poolName = '';
  }

  noteGranted({ kind, lease, pool, hardwareAddress }: PreparedReply): void {
    this.#poolName = pool.name;
    const traffic = this.#traffic;
    if (traffic === undefined) return;
    const place = this.#placeOf(traffic, pool.name);
    // The source of a packet is expensive to find, and only noted packets need it.
    if (traffic.countGranted(place, kind)) traffic.noteGranted(place, hardwareAddress, kind, lease, this.#from());
  }

  /** @param notSent - why the answer is not sent; undefined if it is sent, or waits. @param poolName - for a packet that belongs to no pool. */
  noteAnswer(
    answer: Answer,
    { notSent, poolName }: { readonly notSent: MessageReason | undefined; readonly poolName: string },
  ): void {
    if (answer.kind === 'dropped') this.noteDropped(answer.reason, poolName);
    else this.#note(answer, outcomeOf(answer, notSent));
  }

  /** Notes a packet that is not for this server. @param poolName - empty if its pool is not known. */
  noteDropped(reason: PacketDropReason | MessageReason, poolName: string): void {
    const pool = poolName === '' ? this.#entry.poolName : poolName;
    this.#poolName = pool;
    this.#reason = reason;
    if (this.#traffic === undefined) return;
    const standing = this.#ports.standingOf(pool, readMacAddress(this.#packet, CHADDR));
    const place = this.#placeOf(this.#traffic, pool);
    this.#traffic.note({ place, octets: this.#packet, macOffset: CHADDR, standing, reason, from: this.#from() });
  }

  /** Returns the callback for the outcome of this answer's record. */
  laterOf({ client, pool, reply }: RecordAnswer): (notRecorded: MessageReason | undefined) => void {
    const traffic = this.#traffic;
    this.#poolName = pool.name;
    if (traffic === undefined) return () => undefined;
    const place = this.#placeOf(traffic, pool.name);
    const from = this.#from();
    return (notRecorded) => {
      traffic.endBurst();
      const address = reply?.decision.kind === 'ack' ? reply.decision.lease.address : undefined;
      const answered = reply === undefined ? {} : { answer: 'ack' as const, address };
      const outcome = notRecorded === undefined ? answered : { reason: notRecorded };
      const standing = notRecorded === undefined ? 'leased' : this.#ports.standingOf(pool.name, client.macAddress);
      traffic.note({ place, octets: client.message.chaddr, macOffset: 0, standing, received: client.type, from, ...outcome });
      traffic.endBurst();
    };
  }

  readonly noteLateOffer = ({ lease, interfaceName, hardwareAddress }: LateOffer): void => {
    const traffic = this.#traffic;
    if (traffic === undefined) return;
    traffic.endBurst();
    traffic.note({
      ...{ place: traffic.placeOf(interfaceName, lease.poolName), octets: hardwareAddress, macOffset: 0, from: 0 },
      ...{ standing: 'unknown', received: 'discover', answer: 'offer', address: lease.address, isLater: true },
    });
    traffic.endBurst();
  };

  #note({ client, pool }: Exclude<Answer, { readonly kind: 'dropped' }>, outcome: Partial<NotedPacket>): void {
    this.#poolName = pool.name;
    this.#reason = outcome.reason ?? '';
    if (this.#traffic === undefined) return;
    this.#traffic.note({
      ...{ place: this.#placeOf(this.#traffic, pool.name), octets: client.message.chaddr, macOffset: 0 },
      ...{ standing: this.#ports.standingOf(pool.name, client.macAddress), received: client.type, from: this.#from() },
      ...outcome,
    });
  }

  /** False if nothing is copied. */
  get isCapturing(): boolean {
    return this.#ports.captures?.isActive === true;
  }

  /** Hands the packet that was answered, and its reply, to the captures. @param into - begins with the octets of the reply. */
  capture(reply: QueuedReply | undefined, into: Uint8Array, pools: readonly ServedPool[]): void {
    const { interfaceName } = this.#entry;
    const poolName = this.#poolName;
    const pool = pools.find((served) => served.pool.name === poolName)?.pool;
    const common = { interfaceName, poolName };
    if (!this.#isAgain) {
      const addresses = this.#addressesOfPacket(pool?.serverAddress ?? BROADCAST_ADDRESS);
      const comment = this.#reason === '' || reply !== undefined ? '' : `no answer: ${this.#reason}`;
      this.#ports.captures?.note({ ...common, isSent: false, addresses, payload: this.#packet, comment });
    }
    if (reply === undefined) return;
    const addresses = addressesOfReply(reply);
    const payload = into.subarray(0, reply.length);
    this.#ports.captures?.note({ ...common, isSent: true, addresses, payload, comment: this.#reason });
  }

  /** Hands delayed replies to the captures. */
  captureLate(interfaceName: string, replies: readonly LateReply[]): void {
    for (const { poolName, bytes, queued } of replies) {
      const payload = bytes.subarray(0, queued.length);
      const addresses = addressesOfReply(queued);
      this.#ports.captures?.note({ interfaceName, poolName, isSent: true, addresses, payload, comment: '' });
    }
  }

  /** A socket shows the source of a packet, but not its destination: a client without an address broadcasts, others send to the server's address. */
  #addressesOfPacket(serverAddress: Ipv4Address): DatagramAddresses {
    const source = this.#from();
    const isRelayed = addressAt(this.#packet, GIADDR) !== 0;
    return {
      source,
      sourcePort: this.#sender?.port ?? (isRelayed ? SERVER_PORT : CLIENT_PORT),
      destination: source === 0 ? BROADCAST_ADDRESS : serverAddress,
      destinationPort: SERVER_PORT,
    };
  }

  #placeOf(traffic: AgentTraffic, poolName: string): Place {
    const entry = this.#entry;
    if (entry.place?.poolName !== poolName) entry.place = traffic.placeOf(entry.interfaceName, poolName);
    return entry.place as Place;
  }

  /** The address in the message, if the sender is not known. */
  #from(): Ipv4Address {
    if (this.#sender !== undefined) return this.#sender.address;
    return addressAt(this.#packet, GIADDR) || addressAt(this.#packet, CIADDR);
  }
}

function addressesOfReply({ serverAddress, destination }: QueuedReply): DatagramAddresses {
  const { address, port } = destination;
  return { source: serverAddress, sourcePort: SERVER_PORT, destination: address, destinationPort: port };
}

/** The outcome of a message. A RELEASE or DECLINE has no answer, and needs no reason for that. */
function outcomeOf(
  answer: Exclude<Answer, { readonly kind: 'dropped' }>,
  notSent: MessageReason | undefined,
): Partial<NotedPacket> {
  if (notSent !== undefined) return { reason: notSent };
  if (answer.kind === 'ignored') return { reason: answer.reason };
  return answer.kind === 'reply' ? { answer: answer.decision.kind, ...detailsOf(answer) } : {};
}

function detailsOf({ decision }: ReplyAnswer): Partial<NotedPacket> {
  switch (decision.kind) {
    case 'offer':
    case 'ack':
      return { address: decision.lease.address };
    case 'inform':
      return { address: decision.clientAddress };
    case 'nak':
      return { reason: decision.reason };
  }
}

function addressAt(packet: Uint8Array, offset: number): Ipv4Address {
  const [a = 0, b = 0, c = 0, d = 0] = packet.subarray(offset, offset + 4);
  return a * 0x1_00_00_00 + ((b << 16) | (c << 8) | d);
}
