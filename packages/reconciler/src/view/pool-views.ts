/** IPPools and their interpretation; each version is read once. */
import { type KubernetesObject, keyOf, ObjectIndex, readField } from '@vmdhcp/kube-runtime';
import { networkOfPool } from '../network/network-problem.js';
import { type PoolReading, readPool } from '../pool/read-pool.js';
import { type RecordedAddresses, readRecordedAddresses } from '../pool/recorded-addresses.js';

/** A pool object and its interpretation. */
export interface PoolView {
  readonly key: string;
  readonly object: KubernetesObject;
  /** `namespace/name`, or empty if the spec names none. */
  readonly network: string;
  readonly paused: boolean;
  readonly reading: PoolReading;
  readonly recorded: RecordedAddresses;
  readonly addressOf: RecordedAddresses['addressOf'];
}

/** The result of the newest version of a pool, for the next version. */
interface LastReading {
  /** UID and generation of the object that was read; a change of the status does not cause the spec to be read again. */
  readonly of: string;
  readonly reading: PoolReading;
}

export class PoolViews {
  readonly #byNetwork = new ObjectIndex<PoolView>(({ network }) => [network]);
  readonly #views = new WeakMap<KubernetesObject, PoolView>();
  readonly #readings = new Map<string, LastReading>();
  /** By key, so that the next version need not be parsed completely. */
  readonly #recorded = new Map<string, RecordedAddresses>();

  /** Keys of the pools that name a network. */
  on(network: string): ReadonlySet<string> {
    return this.#byNetwork.keysOf(network);
  }

  /**
   * Updates the pool with this key; undefined if it does not exist.
   *
   * @returns its former and new networks.
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
