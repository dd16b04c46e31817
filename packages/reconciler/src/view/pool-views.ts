/** IPPools and what they mean, each version read once. */
import type { Ipv4Address, MacAddress } from '@vmdhcp/dhcp-allocator';
import { type KubernetesObject, keyOf, ObjectIndex, readField } from '@vmdhcp/kube-runtime';
import { networkOfPool } from '../network/network-problem.js';
import { type PoolReading, readPool } from '../pool/read-pool.js';
import { type RecordedAddresses, readRecordedAddresses } from '../pool/recorded-addresses.js';

/** A pool object and what it means. */
export interface PoolView {
  readonly key: string;
  readonly object: KubernetesObject;
  /** `namespace/name`, or empty where the spec names none. */
  readonly network: string;
  readonly paused: boolean;
  readonly reading: PoolReading;
  readonly recorded: RecordedAddresses;
  readonly addressOf: ReadonlyMap<MacAddress, Ipv4Address>;
}

/** What was read of the newest version of a pool, for the next version. */
interface LastReading {
  /** UID and generation of what was read; a status that changes does not make the spec be read again. */
  readonly of: string;
  readonly reading: PoolReading;
}

export class PoolViews {
  readonly #byNetwork = new ObjectIndex<PoolView>(({ network }) => [network]);
  readonly #views = new WeakMap<KubernetesObject, PoolView>();
  readonly #readings = new Map<string, LastReading>();
  /** By key: the next version need not be parsed from the beginning. */
  readonly #recorded = new Map<string, RecordedAddresses>();

  /** Keys of the pools that name a network. */
  on(network: string): ReadonlySet<string> {
    return this.#byNetwork.keysOf(network);
  }

  /**
   * The pool with this key is now as given; undefined: it does not exist.
   *
   * @returns the networks that it named and names.
   */
  update(key: string, object: KubernetesObject | undefined): ReadonlySet<string> {
    if (object === undefined) {
      this.#readings.delete(key);
      this.#recorded.delete(key);
    }
    return this.#byNetwork.update(key, object && this.of(object));
  }

  of(object: KubernetesObject): PoolView {
    const known = this.#views.get(object);
    if (known !== undefined) return known;
    const key = keyOf(object);
    const recorded = readRecordedAddresses(object, this.#recorded.get(key));
    this.#recorded.set(key, recorded);
    const view: PoolView = {
      key,
      object,
      network: networkOfPool(object),
      paused: readField(object.spec, 'paused') === true,
      reading: this.#readingOf(object),
      recorded,
      addressOf: recorded.addressOf,
    };
    this.#views.set(object, view);
    return view;
  }

  #readingOf(object: KubernetesObject): PoolReading {
    const key = keyOf(object);
    const { uid, generation } = object.metadata;
    const known = this.#readings.get(key);
    if (known !== undefined && generation !== undefined && known.of === `${uid} ${generation}`) return known.reading;
    const reading = readPool(object);
    this.#readings.set(key, { of: `${uid} ${generation}`, reading });
    return reading;
  }
}
