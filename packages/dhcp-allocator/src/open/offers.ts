import type { Ipv4Address } from '../address/ipv4-address.js';
import type { MacAddress } from '../address/mac-address.js';
import { OrderedMap } from './ordered-map.js';

/** How long an offer keeps its address from being offered to others: three retransmissions of a REQUEST. Source: RFC 2131 §4.1 (4, 8, 16 s). */
export const OFFER_MS = 30_000;

/** Offers that keep their addresses from other clients, in one pool. */
export const MOST_OFFERS = 4_096;

/** Shared offers: they keep nothing, but their clients may still request what they were offered. Per pool. */
const MOST_SHARED_OFFERS = 32_768;

/** An address that was offered and not requested yet. Only in memory: a crash costs the client a retransmission. */
export interface Offer {
  readonly macAddress: MacAddress;
  readonly address: Ipv4Address;
  /** Where the client is: the link, or a relay and what it adds (option 82). */
  readonly place: string;
  /** True if a short first lease was offered. */
  readonly isShort: boolean;
  readonly endsAtMs: number;
}

/**
 * The offers of a pool. An address is offered to one client at a time, and a client has one offer.
 *
 * Made-up clients cost memory only until `MOST_OFFERS`. Then, and when every free address is offered, the oldest offer of the place with the most
 * offers is shared, so that one port cannot use up the offers of all: its address may be offered to another client too, and the first client that
 * requests it has it. Made-up clients request nothing.
 */
export class Offers {
  readonly #byClient = new OrderedMap<MacAddress, Offer>(({ macAddress }) => macAddress);
  readonly #byAddress = new Map<Ipv4Address, Offer>();
  readonly #places = new Map<string, Place>();
  /** Places by how many offers they have, so that the one with the most is found at once, also among thousands of made-up relays. */
  readonly #placesBySize: OrderedMap<string, Place>[] = [];
  #most = 0;
  readonly #shared = new OrderedMap<MacAddress, Offer>(({ macAddress }) => macAddress);

  get size(): number {
    return this.#byClient.size;
  }

  /** Oldest first. */
  all(): Iterable<Offer> {
    return this.#byClient.values();
  }

  of(macAddress: MacAddress): Offer | undefined {
    return this.#byClient.get(macAddress);
  }

  at(address: Ipv4Address): Offer | undefined {
    return this.#byAddress.get(address);
  }

  /** True if the address was offered to this client and the offer has not ended. */
  wasOffered(macAddress: MacAddress, address: Ipv4Address, nowMs: number): boolean {
    const offer = this.#byClient.get(macAddress) ?? this.#shared.get(macAddress);
    return offer?.address === address && offer.endsAtMs > nowMs;
  }

  /** Adds an offer. It replaces an earlier offer to the client, and an offer of this address to another client. */
  add(offer: Offer): void {
    this.remove(offer.macAddress);
    const other = this.#byAddress.get(offer.address);
    if (other !== undefined) this.remove(other.macAddress);
    this.#byClient.add(offer);
    this.#byAddress.set(offer.address, offer);
    const place = this.#places.get(offer.place) ?? newPlace(offer.place);
    this.#places.set(offer.place, place);
    this.#placesOfSize(place.offers.size).delete(place.name);
    place.offers.add(offer);
    this.#placesOfSize(place.offers.size).add(place);
    this.#most = Math.max(this.#most, place.offers.size);
  }

  /** Returns the offer that the client had, unless it is shared. */
  remove(macAddress: MacAddress): Offer | undefined {
    this.#shared.delete(macAddress);
    return this.#take(macAddress);
  }

  #take(macAddress: MacAddress): Offer | undefined {
    const offer = this.#byClient.get(macAddress);
    if (offer === undefined) return undefined;
    this.#byClient.delete(macAddress);
    this.#byAddress.delete(offer.address);
    const place = this.#places.get(offer.place) as Place;
    this.#placesOfSize(place.offers.size).delete(place.name);
    place.offers.delete(macAddress);
    if (place.offers.size === 0) this.#places.delete(place.name);
    else this.#placesOfSize(place.offers.size).add(place);
    if (this.#placesOfSize(this.#most).size === 0) this.#most--;
    return offer;
  }

  /** Removes what has ended, and returns it. */
  expire(nowMs: number): Offer[] {
    const ended: Offer[] = [];
    for (let { oldest } = this.#byClient; oldest !== undefined && oldest.endsAtMs <= nowMs; { oldest } = this.#byClient) {
      this.remove(oldest.macAddress);
      ended.push(oldest);
    }
    for (let { oldest } = this.#shared; oldest !== undefined && oldest.endsAtMs <= nowMs; { oldest } = this.#shared)
      this.#shared.delete(oldest.macAddress);
    return ended;
  }

  /** Shares the oldest offer of the place that has the most, and returns it. */
  shareOldest(): Offer | undefined {
    const oldest = this.#placesOfSize(this.#most).oldest?.offers.oldest;
    if (oldest === undefined) return undefined;
    this.#take(oldest.macAddress);
    this.#shared.add(oldest);
    if (this.#shared.size > MOST_SHARED_OFFERS) this.#shared.delete((this.#shared.oldest as Offer).macAddress);
    return oldest;
  }

  #placesOfSize(size: number): OrderedMap<string, Place> {
    const known = this.#placesBySize[size];
    if (known !== undefined) return known;
    const places = new OrderedMap<string, Place>(({ name }) => name);
    this.#placesBySize[size] = places;
    return places;
  }
}

interface Place {
  readonly name: string;
  readonly offers: OrderedMap<MacAddress, Offer>;
}

function newPlace(name: string): Place {
  return { name, offers: new OrderedMap(({ macAddress }) => macAddress) };
}
