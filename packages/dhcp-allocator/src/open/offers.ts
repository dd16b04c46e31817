import type { Ipv4Address } from '../address/ipv4-address.js';
import type { MacAddress } from '../address/mac-address.js';
import { OrderedMap } from './ordered-map.js';

/** How long an offer keeps its address from being offered to others: three retransmissions of a REQUEST. Source: RFC 2131 §4.1 (4, 8, 16 s). */
export const OFFER_MS = 30_000;

/** Offers that are remembered for a pool. */
export const MOST_OFFERS = 4_096;

/** An address that was offered, and not asked for yet. It is in memory only: a crash costs the client a retransmission. */
export interface Offer {
  readonly macAddress: MacAddress;
  readonly address: Ipv4Address;
  /** Where the client is: the link, or a relay and what it adds (option 82). */
  readonly place: string;
  /** The lease that was offered is a short first one. */
  readonly isShort: boolean;
  readonly endsAtMs: number;
}

/**
 * The offers of a pool. An address is offered to one client at a time, and a client has one offer.
 *
 * Made-up clients cost memory only until `MOST_OFFERS`. Then, and when every free address is offered, the oldest offer of the place with the most
 * offers is forgotten, so that one port cannot use up the offers of all.
 */
export class Offers {
  readonly #byClient = new OrderedMap<MacAddress, Offer>(({ macAddress }) => macAddress);
  readonly #byAddress = new Map<Ipv4Address, Offer>();
  readonly #places = new Map<string, Place>();
  /** Places by how many offers they have, so that the one with the most is found at once, also among thousands of made-up relays. */
  readonly #placesBySize: OrderedMap<string, Place>[] = [];
  #most = 0;
  #forgottenUntilMs = Number.NEGATIVE_INFINITY;

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

  /**
   * True if the offers have nothing against this client requesting the address: it is offered to it, or to none. While offers have been
   * forgotten, the first client that requests an address has it: made-up clients request none.
   */
  allow(macAddress: MacAddress, address: Ipv4Address, nowMs: number): boolean {
    const offer = this.#byAddress.get(address);
    return offer === undefined || offer.macAddress === macAddress || nowMs < this.#forgottenUntilMs;
  }

  /** An offer that the client had before, or another client of this address, is gone. */
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

  /** Returns the offer that the client had. */
  remove(macAddress: MacAddress): Offer | undefined {
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
    return ended;
  }

  /** Removes the oldest offer of the place that has the most, and returns it. */
  forgetOldest(nowMs: number): Offer | undefined {
    const oldest = this.#placesOfSize(this.#most).oldest?.offers.oldest;
    if (oldest === undefined) return undefined;
    this.#forgottenUntilMs = nowMs + OFFER_MS;
    return this.remove(oldest.macAddress);
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
