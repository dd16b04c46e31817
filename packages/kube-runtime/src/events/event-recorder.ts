/**
 * Kubernetes Events: what a person sees in `kubectl describe`. Telling is best effort and never in the way: it is bounded
 * in rate, the same Event is written once and then counted, and what cannot be written is dropped.
 */

import type { ObjectClient } from '../api/object-client.js';
import type { Clock } from '../clock/clock.js';
import { keyOf } from '../object/api-object.js';
import { cutText, MOST_MESSAGE_OCTETS, MOST_REASON_OCTETS } from '../object/cut-text.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';

/** An Event of core/v1, as far as it is written here. */
export interface EventObject extends KubernetesObject {
  readonly involvedObject: EventRegarding;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly source: { readonly component: string };
  readonly reportingComponent: string;
  readonly reportingInstance: string;
}

export interface EventRegarding {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
}

export interface EventText {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase. */
  readonly reason: string;
  readonly message: string;
}

export interface EventRecorderSettings {
  readonly client: Pick<ObjectClient<EventObject>, 'create' | 'patch'>;
  readonly clock: Clock;
  /** RFC 3339, now. */
  readonly now: () => string;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  readonly component: string;
  readonly instance: string;
  readonly onError?: (error: unknown) => void;
}

/** The same Event is written again after this time. */
const REPEAT_MS = 300_000;
const MOST_REMEMBERED = 4_096;
/** Events at once, and how long until another one may be written. */
const BURST = 60;
/** Events that wait for a server that is slow. */
const MOST_WAITING = 100;
const REFILL_MS = 200;

/** Of 253 characters, a point and twelve of a number. */
const MOST_PREFIX = 240;

interface Written {
  readonly key: string;
  readonly count: number;
  readonly atMs: number;
}

export class EventRecorder {
  readonly #settings: EventRecorderSettings;
  /** Oldest first. */
  readonly #written = new Map<string, Written>();
  #tokens = BURST;
  #refilledAtMs: number;
  #writing: Promise<void> = Promise.resolve();
  #dropped = 0;
  #waiting = 0;
  #stopped = false;

  constructor(settings: EventRecorderSettings) {
    this.#settings = settings;
    this.#refilledAtMs = settings.clock.nowMs();
  }

  /** Events that were not written, as there were too many or the server would not have them. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Tells it, now or never; a message of more than 1,024 octets is cut. */
  record(regarding: EventRegarding, { type, reason, message }: EventText): void {
    const text = { type, reason: cutText(reason, MOST_REASON_OCTETS), message: cutText(message, MOST_MESSAGE_OCTETS) };
    const nowMs = this.#settings.clock.nowMs();
    const id = [regarding.kind, regarding.uid ?? `${regarding.namespace}/${regarding.name}`, text.reason, text.message].join(' ');
    const written = this.#written.get(id);
    if (written !== undefined && nowMs - written.atMs < REPEAT_MS) return;
    if (this.#stopped || this.#waiting >= MOST_WAITING || !this.#take(nowMs)) {
      this.#dropped++;
      return;
    }
    const event = this.#toEvent(regarding, text, written);
    this.#remember(id, { key: keyOf(event), count: event.count, atMs: nowMs });
    this.#waiting++;
    this.#writing = this.#writing
      .then(() => (this.#stopped ? undefined : this.#write(event, written)))
      .catch((error: unknown) => {
        // Whether it was written is open: it is tried again when it is recorded again.
        this.#written.delete(id);
        this.#fail(error);
      })
      .then(() => {
        this.#waiting--;
      });
  }

  /** Resolves when what was recorded so far is written or dropped: to be awaited before `stop` where Events must not be lost. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  /** Drops what is not written yet, and whatever else is written. */
  stop(): void {
    this.#stopped = true;
  }

  async #write(event: EventObject, written: Written | undefined): Promise<void> {
    const { client } = this.#settings;
    const { count, lastTimestamp } = event;
    if (written !== undefined && (await client.patch({ key: written.key }, { count, lastTimestamp })).ok) return;
    const result = await client.create(event);
    if (!result.ok && result.reason !== 'already-exists') this.#fail(new Error(`event refused: ${result.message}`));
  }

  #fail(error: unknown): void {
    this.#dropped++;
    try {
      this.#settings.onError?.(error);
    } catch {
      // There is no other place to report it.
    }
  }

  #toEvent(regarding: EventRegarding, text: EventText, written: Written | undefined): EventObject {
    const { now, random, component, instance } = this.#settings;
    const namespace = regarding.namespace ?? 'default';
    const suffix = Math.floor(random() * 2 ** 48).toString(16);
    const name =
      written === undefined ? `${prefixOf(regarding.name)}.${suffix}` : written.key.slice(written.key.indexOf('/') + 1);
    const at = now();
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject: regarding,
      ...text,
      count: (written?.count ?? 0) + 1,
      firstTimestamp: at,
      lastTimestamp: at,
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
    };
  }

  #remember(id: string, written: Written): void {
    this.#written.delete(id);
    this.#written.set(id, written);
    const [oldest] = this.#written.keys();
    if (this.#written.size > MOST_REMEMBERED && oldest !== undefined) this.#written.delete(oldest);
  }

  #take(nowMs: number): boolean {
    const refilled = Math.floor((nowMs - this.#refilledAtMs) / REFILL_MS);
    if (refilled > 0) {
      this.#tokens = Math.min(BURST, this.#tokens + refilled);
      this.#refilledAtMs += refilled * REFILL_MS;
    }
    if (this.#tokens === 0) return false;
    this.#tokens--;
    return true;
  }
}

/** What of an object's name an Event's name can begin with: names of roles and the like contain more than the name of an Event may. */
function prefixOf(name: string): string {
  const taken = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .slice(0, MOST_PREFIX);
  return taken.replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '') || 'event';
}

/** The object as Events name it. */
export function toRegarding({ apiVersion = '', kind = '', metadata }: KubernetesObject): EventRegarding {
  const { namespace, name, uid } = metadata;
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) };
}
