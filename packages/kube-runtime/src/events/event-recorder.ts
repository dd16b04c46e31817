/**
 * Kubernetes Events: what a person sees in `kubectl describe`. Recording is best effort and never blocks: the rate is limited, the same Event is
 * written once and then counted, and an Event that cannot be written is dropped.
 */

import type { ObjectClient } from '../api/object-client.js';
import type { Clock } from '../clock/clock.js';
import { keyOf } from '../object/api-object.js';
import { cutText, MOST_MESSAGE_OCTETS, MOST_REASON_OCTETS } from '../object/cut-text.js';
import { fnv1a64 } from '../object/fnv1a64.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';

/** The fields of a core/v1 Event that are written here. */
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

/** The object that an Event is about. */
export interface EventRegarding {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
}

/** The type, the reason and the message of an Event. */
export interface EventText {
  readonly type: 'Normal' | 'Warning';
  /** CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/** Who records Events, and with which client, clock and randomness. */
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
/** The share of the burst that is reserved for `record`, whose Events are not retried; those of `recordOnce` are. */
const LEFT_TO_OTHERS = 30;

/** 253 characters, less a point and a number of twelve. */
const MOST_PREFIX = 240;
/** 253 characters, less a point and a hash of sixteen. */
const MOST_PREFIX_OF_IDENTITY = 236;

interface Written {
  readonly key: string;
  readonly count: number;
  readonly atMs: number;
}

/** The name of an Event, and how often it was written before. */
interface Naming {
  readonly name: string;
  readonly count: number;
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

  /** Events that were not written, because there were too many or the server refused them. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Writes the Event, now or never; a message of more than 1,024 octets is cut. */
  record(regarding: EventRegarding, given: EventText): void {
    const text = toStored(given);
    const nowMs = this.#settings.clock.nowMs();
    const id = [regarding.kind, regarding.uid ?? `${regarding.namespace}/${regarding.name}`, text.reason, text.message].join(' ');
    const written = this.#written.get(id);
    if (written !== undefined && nowMs - written.atMs < REPEAT_MS) return;
    if (this.#stopped || this.#waiting >= MOST_WAITING || !this.#take(nowMs)) {
      this.#dropped++;
      return;
    }
    const event = this.#toEvent(regarding, text, this.#againOrNew(regarding, written));
    this.#remember(id, { key: keyOf(event), count: event.count, atMs: nowMs });
    void this.#enqueue(async () => {
      await this.#write(event, written);
      return true;
    }).then((isDone) => {
      // It may or may not have been written: retry when it is recorded again.
      if (!isDone) this.#written.delete(id);
    });
  }

  /**
   * Writes an Event that must exist exactly once, whichever process writes it: its name is derived from its object and identity, and an existing
   * Event of that name is this one. Resolves to true once it is stored; to false if it is not, or may not be: try again later. Never rejects.
   *
   * @param identity - distinguishes it from other Events about the same object; any text.
   */
  async recordOnce(regarding: EventRegarding, text: EventText, identity: string): Promise<boolean> {
    if (this.#stopped || this.#waiting >= MOST_WAITING || !this.#take(this.#settings.clock.nowMs(), LEFT_TO_OTHERS)) return false;
    const event = this.#toEvent(regarding, toStored(text), { name: nameOfIdentity(regarding, identity), count: 0 });
    return this.#enqueue(() => this.#create(event));
  }

  /** Resolves when all recorded Events are written or dropped. Await it before `stop` if Events must not be lost. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  /** Drops Events that are not written yet, and all later ones. */
  stop(): void {
    this.#stopped = true;
  }

  /** Writes one after the other. False if it failed or was not begun. */
  async #enqueue(write: () => Promise<boolean>): Promise<boolean> {
    this.#waiting++;
    const done = this.#writing.then(async () => {
      try {
        return !this.#stopped && (await write());
      } catch (error) {
        this.#fail(error);
        return false;
      } finally {
        this.#waiting--;
      }
    });
    this.#writing = done.then(() => undefined);
    return done;
  }

  async #write(event: EventObject, written: Written | undefined): Promise<void> {
    const { count, lastTimestamp } = event;
    if (written !== undefined && (await this.#settings.client.patch({ key: written.key }, { count, lastTimestamp })).ok) return;
    await this.#create(event);
  }

  /** False if it was refused. */
  async #create(event: EventObject): Promise<boolean> {
    const result = await this.#settings.client.create(event);
    if (result.ok || result.reason === 'already-exists') return true;
    this.#fail(new Error(`event refused: ${result.message}`));
    return false;
  }

  #fail(error: unknown): void {
    this.#dropped++;
    try {
      this.#settings.onError?.(error);
    } catch {
      // There is no other place to report it.
    }
  }

  #againOrNew(regarding: EventRegarding, written: Written | undefined): Naming {
    if (written !== undefined) return { name: written.key.slice(written.key.indexOf('/') + 1), count: written.count };
    const suffix = Math.floor(this.#settings.random() * 2 ** 48).toString(16);
    return { name: `${prefixOf(regarding.name)}.${suffix}`, count: 0 };
  }

  #toEvent(regarding: EventRegarding, text: EventText, { name, count }: Naming): EventObject {
    const { now, component, instance } = this.#settings;
    const namespace = regarding.namespace ?? 'default';
    const at = now();
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject: regarding,
      ...text,
      count: count + 1,
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

  #take(nowMs: number, left = 0): boolean {
    const refilled = Math.floor((nowMs - this.#refilledAtMs) / REFILL_MS);
    if (refilled > 0) {
      this.#tokens = Math.min(BURST, this.#tokens + refilled);
      this.#refilledAtMs += refilled * REFILL_MS;
    }
    if (this.#tokens <= left) return false;
    this.#tokens--;
    return true;
  }
}

/** In the form that the API server accepts. */
function toStored({ type, reason, message }: EventText): EventText {
  return { type, reason: cutText(reason, MOST_REASON_OCTETS), message: cutText(message, MOST_MESSAGE_OCTETS) };
}

/** The same name for the same object and identity, in every process. */
function nameOfIdentity({ kind, namespace = '', name, uid = '' }: EventRegarding, identity: string): string {
  const hash = fnv1a64(JSON.stringify([kind, namespace, name, uid, identity]))
    .toString(16)
    .padStart(16, '0');
  return `${prefixOf(name, MOST_PREFIX_OF_IDENTITY)}.${hash}`;
}

/** The part of an object's name that may begin an Event's name: names of roles, for example, may contain characters that names of Events may not. */
function prefixOf(name: string, most = MOST_PREFIX): string {
  const taken = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .slice(0, most);
  return taken.replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '') || 'event';
}

/** The reference to an object in an Event. */
export function toRegarding({ apiVersion = '', kind = '', metadata }: KubernetesObject): EventRegarding {
  const { namespace, name, uid } = metadata;
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }), ...(uid !== undefined && { uid }) };
}
