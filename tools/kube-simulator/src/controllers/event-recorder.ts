import type { ApiClient } from '../api/api-client.js';
import { isMissing } from './api-outcome.js';
import { type KubeObject, toTime } from './workload-kinds.js';

export interface Occurrence {
  /** The object that the Event is about. */
  readonly object: KubeObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** How many Events are remembered, so that a repetition increments their count. */
const mostRemembered = 1_000;

/** Writes Events as one component; a repetition increments the count of the Event. */
export class EventRecorder {
  readonly #api: () => ApiClient;
  readonly #component: string;
  readonly #known = new Map<string, { readonly namespace: string; readonly name: string }>();
  #serial = 0n;

  constructor(api: () => ApiClient, component: string) {
    this.#api = api;
    this.#component = component;
  }

  /** Never fails: an Event that cannot be written (its namespace is being deleted) is ignored. */
  async record(occurrence: Occurrence): Promise<void> {
    try {
      if (!(await this.#countUp(occurrence))) await this.#create(occurrence);
    } catch {
      // See above.
    }
  }

  async #countUp(occurrence: Occurrence): Promise<boolean> {
    const where = this.#known.get(keyOf(occurrence));
    if (where === undefined) return false;
    const path = { resource: 'events', ...where };
    const live = this.#api().get(path);
    if (live === undefined) return false;
    try {
      const body = { count: Number(live['count'] ?? 1) + 1, lastTimestamp: toTime(new Date()) };
      await this.#api().patch(path, { type: 'merge', body });
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async #create(occurrence: Occurrence): Promise<void> {
    const { object, type, reason, message } = occurrence;
    const { name = '', uid = '', resourceVersion } = object.metadata;
    const namespace = object.metadata.namespace ?? 'default';
    const time = toTime(new Date());
    const created = await this.#api().create(
      { resource: 'events', namespace },
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: `${name}.${this.#stamp()}`, namespace },
        involvedObject: {
          kind: object.kind,
          ...(object.metadata.namespace === undefined ? {} : { namespace }),
          name,
          uid,
          apiVersion: object.apiVersion,
          ...(resourceVersion === undefined ? {} : { resourceVersion }),
        },
        reason,
        message,
        source: { component: this.#component },
        firstTimestamp: time,
        lastTimestamp: time,
        count: 1,
        type,
        eventTime: null,
        reportingComponent: this.#component,
        reportingInstance: '',
      },
    );
    this.#remember(occurrence, { namespace, name: created.metadata.name ?? '' });
  }

  /** Nanoseconds in hexadecimal, as every client-go does it; unique within this recorder. */
  #stamp(): string {
    this.#serial += 1n;
    return (BigInt(Date.now()) * 1_000_000n + this.#serial).toString(16);
  }

  #remember(occurrence: Occurrence, where: { readonly namespace: string; readonly name: string }): void {
    const [oldest] = this.#known.keys();
    if (this.#known.size >= mostRemembered && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(keyOf(occurrence), where);
  }
}

const keyOf = ({ object, type, reason, message }: Occurrence): string => `${object.metadata.uid} ${type} ${reason} ${message}`;
