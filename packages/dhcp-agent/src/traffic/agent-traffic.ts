/**
 * Notes the messages and answers of each client, in bounded memory. It is part of the path of every packet, so it allocates nothing there and reads
 * the time once for each burst. Prepared answers of a burst are noted at its end, in two short loops: their memory is not in the cache, and a
 * processor can wait for several such places at the same time only if little code lies between them.
 */
import { type ClientMessageType, type Ipv4Address, type Lease, type MacAddress, readMacAddress } from '@vmdhcp/dhcp-allocator';
import { ANSWERED, ClientHistory, type PacketToNote, RECEIVED } from './client-history.js';
import { ClientSlots, type RoomSizes, type Standing } from './client-slots.js';
import { messageTypeIn } from './message-type-in.js';
import { Place } from './place.js';
import type { ClientView, Counts, PlaceView, ReplacedClients } from './traffic-view.js';

/** Four megabytes, of which only the used part takes memory. */
const SIZES: RoomSizes = { declared: 12_288, leased: 3_072, unknown: 1_024 };
/** The maximum number of prepared answers that wait to be noted: the largest burst that is read at once. */
const MOST_PENDING = 64;
const PENDING_WORDS = 5;
/**
 * How many packets are noted for their clients in a second, and at once: more than real clients send. The rest is counted for its pool only. Clients
 * that no object declares have a separate share, so that a flood of them does not affect the others.
 */
const DECLARED_SHARE = { perMs: 4, burst: 8_000 };
const OTHERS_SHARE = { perMs: 2, burst: 4_000 };
const MOST_REASONS = 255;
const CHADDR = 28;
const REQUEST_OF_CLIENT = 1;
const ETHERNET = 1;
const MAC_ADDRESS_LENGTH = 6;

/** The clock and the bounds of the record of who sent what. */
export interface AgentTrafficSettings {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** How many clients are kept. Default: 12,288 that objects declare, 3,072 unknown clients with a lease, 1,024 others. */
  readonly sizes?: RoomSizes;
}

/** The outcome of a client's packet. */
export interface NotedPacket {
  readonly place: Place;
  /** Octets with the client's MAC address at `macOffset`; the whole packet if its type must be read from it. */
  readonly octets: Uint8Array;
  readonly macOffset: number;
  readonly standing: Standing;
  /** Undefined if it must be read from the packet. */
  readonly received?: ClientMessageType | undefined;
  readonly answer?: 'offer' | 'ack' | 'nak' | 'inform' | undefined;
  /** The address in the answer. */
  readonly address?: Ipv4Address | undefined;
  readonly reason?: string | undefined;
  readonly from: Ipv4Address;
  /** True if the message was counted before, and this is its later outcome. */
  readonly isLater?: boolean;
}

const ANSWER_OF = { offer: 1, ack: 2, inform: 2, nak: 3 } as const;
const [DISCOVER, REQUEST] = [0, 1];
const RECEIVED_OF: Readonly<Record<ClientMessageType, number>> = { discover: 0, request: 1, decline: 2, release: 3, inform: 4 };
const UNREADABLE = 5;

export class AgentTraffic {
  readonly sinceMs: number;
  readonly #settings: AgentTrafficSettings;
  readonly #slots: ClientSlots;
  readonly #history: ClientHistory;
  /** By interface and pool. Both come from the configuration, so there are few. */
  readonly #places = new Map<string, Place>();
  readonly #placeList: Place[] = [];
  /** By number; 0 for none. */
  readonly #reasons: string[] = [''];
  readonly #reasonIds = new Map<string, number>();
  readonly #packet: PacketToNote = { received: 0, answered: 0, reason: 0, from: 0, address: 0, isLater: false };
  /** When the current burst was read; negative if no packet of it has asked yet. */
  #burstAtMs = -1;
  #isLater = false;
  /** For each waiting prepared answer: client (two words), kind, place and address. */
  readonly #pending = new Int32Array(MOST_PENDING * PENDING_WORDS);
  readonly #pendingSlots = new Int32Array(MOST_PENDING);
  #pendingCount = 0;
  /** How many packets may still be noted. */
  #declaredShare = DECLARED_SHARE.burst;
  #othersShare = OTHERS_SHARE.burst;
  #refilledAtMs = 0;
  #notNoted = 0;

  constructor(settings: AgentTrafficSettings) {
    this.#settings = settings;
    this.sinceMs = settings.nowMs();
    this.#slots = new ClientSlots(settings.sizes ?? SIZES, settings.random() * 0x1_0000_0000);
    this.#history = new ClientHistory(this.#slots);
  }

  /** The time at which the burst that is being answered was read, in milliseconds since 1970. */
  nowMs(): number {
    if (this.#burstAtMs < 0) {
      this.#burstAtMs = this.#settings.nowMs();
      this.#history.setTime(this.#burstAtMs);
      this.#refill(this.#burstAtMs);
    }
    return this.#burstAtMs;
  }

  /** Ends the burst. Call it after each burst, and around everything else that notes packets. */
  endBurst(): void {
    if (this.#pendingCount > 0) this.#notePending();
    this.#burstAtMs = -1;
  }

  /** Answers packets that came in earlier, and were counted then. */
  again(answer: () => void): void {
    this.endBurst();
    this.#isLater = true;
    answer();
    this.endBurst();
    this.#isLater = false;
  }

  /** @param poolName - empty if no pool is served on the interface. */
  placeOf(interfaceName: string, poolName: string): Place {
    const key = `${interfaceName} ${poolName}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place = new Place(this.#placeList.length & 0xffff, interfaceName, poolName);
    this.#places.set(key, place);
    this.#placeList.push(place);
    return place;
  }

  /**
   * Counts the OFFER or ACK to a declared client, for its pool. It is on the path of nearly every packet, and allocates nothing.
   * @returns true if `noteGranted` must be called for the client.
   */
  countGranted(place: Place, kind: 'offer' | 'ack'): boolean {
    const isOffer = kind === 'offer';
    const nowMs = this.nowMs();
    if (place.lastAtMs !== nowMs) place.lastAtMs = nowMs;
    const { messages, answers } = place;
    if (!this.#isLater) messages[isOffer ? DISCOVER : REQUEST] = (messages[isOffer ? DISCOVER : REQUEST] as number) + 1;
    answers[ANSWER_OF[kind]] = (answers[ANSWER_OF[kind]] as number) + 1;
    if (this.#declaredShare >= 1) return true;
    this.#notNoted++;
    return false;
  }

  /** Notes it for its client, at the end of the burst. */
  // oxlint-disable-next-line max-params -- on the packet path: an object would be garbage for every packet
  noteGranted(place: Place, hardwareAddress: Uint8Array, kind: 'offer' | 'ack', lease: Lease, from: Ipv4Address): void {
    if (this.#pendingCount === MOST_PENDING) this.#notePending();
    this.#declaredShare--;
    const pending = this.#pending;
    const at = PENDING_WORDS * this.#pendingCount++;
    pending[at] = highOf(hardwareAddress, 0, place);
    pending[at + 1] = lowOf(hardwareAddress, 0);
    pending[at + 2] = kind === 'offer' ? 1 : 0;
    pending[at + 3] = from;
    pending[at + 4] = lease.address;
  }

  /** Packets that are counted only for their pools, because too many came within a second. */
  get notNoted(): number {
    return this.#notNoted;
  }

  /** The clock may be set: a share never exceeds that of one second. */
  #refill(nowMs: number): void {
    const passedMs = Math.min(Math.max(nowMs - this.#refilledAtMs, 0), 1_000);
    this.#refilledAtMs = nowMs;
    this.#declaredShare = Math.min(this.#declaredShare + passedMs * DECLARED_SHARE.perMs, DECLARED_SHARE.burst);
    this.#othersShare = Math.min(this.#othersShare + passedMs * OTHERS_SHARE.perMs, OTHERS_SHARE.burst);
  }

  /** True if a packet of such a client may be noted; it then counts against the share. */
  #takeShare(standing: Standing): boolean {
    const isDeclared = standing === 'declared';
    const isLeft = (isDeclared ? this.#declaredShare : this.#othersShare) >= 1;
    if (!isLeft) this.#notNoted++;
    else if (isDeclared) this.#declaredShare--;
    else this.#othersShare--;
    return isLeft;
  }

  #notePending(): void {
    const [pending, found, slots, count] = [this.#pending, this.#pendingSlots, this.#slots, this.#pendingCount];
    this.#pendingCount = 0;
    for (let index = 0, at = 0; index < count; index++, at += PENDING_WORDS)
      found[index] = slots.find(pending[at] as number, pending[at + 1] as number);
    const packet = this.#packet;
    packet.reason = 0;
    packet.isLater = this.#isLater;
    for (let index = 0, at = 0; index < count; index++, at += PENDING_WORDS) {
      const [high, low] = [pending[at] as number, pending[at + 1] as number];
      let slot = found[index] as number;
      // An earlier client of the burst may have taken the slot.
      if (slot < 0 || slot >= slots.declaredEnd || !slots.has(slot, high, low)) slot = slots.take(high, low, 'declared');
      const isOffer = pending[at + 2] === 1;
      packet.received = isOffer ? DISCOVER : REQUEST;
      packet.answered = isOffer ? ANSWER_OF.offer : ANSWER_OF.ack;
      packet.from = pending[at + 3] as number;
      packet.address = pending[at + 4] as number;
      this.#history.note(slot, packet);
    }
  }

  /** Notes the outcome of a packet. A packet without a client's MAC address is only counted for its place. */
  note(noted: NotedPacket): void {
    if (this.#pendingCount > 0) this.#notePending();
    const { place, octets, macOffset } = noted;
    const packet = this.#packet;
    packet.received = receivedOf(noted);
    packet.answered = noted.answer === undefined ? 0 : ANSWER_OF[noted.answer];
    packet.reason = noted.reason === undefined ? 0 : this.#reasonId(noted.reason);
    packet.from = noted.from;
    packet.address = noted.address ?? 0;
    packet.isLater = this.#isLater || noted.isLater === true;
    this.#count(place, packet);
    if (noted.received === undefined && !hasHostMac(octets)) return;
    if (this.#takeShare(noted.standing))
      this.#history.note(this.#slots.take(highOf(octets, macOffset, place), lowOf(octets, macOffset), noted.standing), packet);
  }

  /** The known clients, in no particular order. @param filter - a field that is left out matches all. */
  *clients(filter: { readonly pool?: string | undefined; readonly mac?: MacAddress | undefined } = {}): Generator<ClientView> {
    if (this.#pendingCount > 0) this.#notePending();
    for (const [slot, standing] of this.#slots.used()) {
      const place = this.#placeOfSlot(slot);
      if (place === undefined || (filter.pool !== undefined && filter.pool !== place.poolName)) continue;
      const mac = this.#macOf(slot);
      if (filter.mac !== undefined && filter.mac !== mac) continue;
      yield {
        mac,
        pool: place.poolName,
        interface: place.interfaceName,
        standing,
        messages: this.#history.messages(slot),
        answers: this.#history.answers(slot),
        unanswered: this.#history.unanswered(slot, this.#reasons),
        lastAtMs: this.#slots.lastAtMs[slot] ?? 0,
        last: this.#history.last(slot, this.#reasons),
      };
    }
  }

  /** All pools that received something, in the order of their first packet. */
  pools(): PlaceView[] {
    return this.#placeList
      .filter(({ lastAtMs }) => lastAtMs > 0)
      .map(({ poolName, interfaceName, messages, answers, unanswered, lastAtMs }) => ({
        pool: poolName,
        interface: interfaceName,
        messages: named(RECEIVED, messages),
        answers: named(ANSWERED, answers),
        unanswered: Object.fromEntries(unanswered),
        lastAtMs,
      }));
  }

  replaced(): ReplacedClients {
    return this.#slots.replaced();
  }

  #count(place: Place, packet: PacketToNote): void {
    place.lastAtMs = this.nowMs();
    const { messages, answers } = place;
    if (!packet.isLater) messages[packet.received] = (messages[packet.received] as number) + 1;
    if (packet.answered > 0) answers[packet.answered] = (answers[packet.answered] as number) + 1;
    else if (packet.reason > 0) {
      const reason = this.#reasons[packet.reason] as string;
      place.unanswered.set(reason, (place.unanswered.get(reason) ?? 0) + 1);
    }
  }

  /** Reasons are words of this program: there are few. */
  #reasonId(reason: string): number {
    const known = this.#reasonIds.get(reason);
    if (known !== undefined) return known;
    if (this.#reasons.length > MOST_REASONS) return 0;
    const id = this.#reasons.push(reason) - 1;
    this.#reasonIds.set(reason, id);
    return id;
  }

  #placeOfSlot(slot: number): Place | undefined {
    return this.#placeList[this.#slots.keyOf(slot).high & 0xffff];
  }

  #macOf(slot: number): MacAddress {
    const { high, low } = this.#slots.keyOf(slot);
    return readMacAddress(Uint8Array.of(high >>> 24, high >>> 16, low >>> 24, low >>> 16, low >>> 8, low));
  }
}

function receivedOf({ received, octets }: NotedPacket): number {
  const type = received ?? messageTypeIn(octets);
  return type === undefined ? UNREADABLE : RECEIVED_OF[type];
}

function named(names: readonly string[], counts: Float64Array): Counts {
  return Object.fromEntries(names.map((name, index) => [name, counts[index] ?? 0] as const).filter(([, count]) => count > 0));
}

/** The first two octets of a MAC address, and the place. */
function highOf(octets: Uint8Array, at: number, place: Place): number {
  return ((octets[at] as number) << 24) | ((octets[at + 1] as number) << 16) | place.id;
}

function lowOf(octets: Uint8Array, at: number): number {
  return (
    ((octets[at + 2] as number) << 24) |
    ((octets[at + 3] as number) << 16) |
    ((octets[at + 4] as number) << 8) |
    (octets[at + 5] as number)
  );
}

/** True if the packet, which may be any octets, has the Ethernet address of a client where DHCP has it: neither of a group nor zero. */
function hasHostMac(packet: Uint8Array): boolean {
  const isOfClient = packet[0] === REQUEST_OF_CLIENT && packet[1] === ETHERNET && packet[2] === MAC_ADDRESS_LENGTH;
  if (packet.length < CHADDR + MAC_ADDRESS_LENGTH || !isOfClient) return false;
  const isGroup = ((packet[CHADDR] as number) & 1) === 1;
  return !isGroup && packet.subarray(CHADDR, CHADDR + MAC_ADDRESS_LENGTH).some((octet) => octet !== 0);
}
