import { createHash } from 'node:crypto';
import { AnswerMemory, RedfishClient } from '@vmdhcp/redfish-client';
import type { HostTarget } from '../agent/ports.js';
import { redfishTargetOf } from './redfish-target-of.js';

interface CachedClient {
  readonly client: RedfishClient;
  /** A hash of everything that the client was created from. */
  readonly madeOf: string;
  calls: number;
  isRetired: boolean;
}

export interface RedfishClientsSettings {
  /** The default time limit of a call, in milliseconds. */
  readonly timeoutMs: number;
  /** The number of clients that are kept between calls, 1 or more; the one that was unused for longest is closed first. */
  readonly most: number;
  /** Default: one of 48 MiB. */
  readonly memory?: AnswerMemory;
}

/** One client for each host: its connections and its session last from one poll to the next. All of them share the memory for answers. A client whose host or Secret changed ends when its calls have ended. */
export class RedfishClients {
  readonly #settings: RedfishClientsSettings;
  /** By name of the host; the last one was used most recently. */
  readonly #clients = new Map<string, CachedClient>();
  readonly #closing = new Set<Promise<void>>();
  readonly #memory: AnswerMemory;

  constructor(settings: RedfishClientsSettings) {
    this.#settings = settings;
    this.#memory = settings.memory ?? new AnswerMemory();
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Calls the client of a host. @throws RedfishError */
  async use<Result>(target: HostTarget, call: (client: RedfishClient) => Promise<Result>): Promise<Result> {
    const cached = this.#clientOf(target);
    cached.calls++;
    try {
      return await call(cached.client);
    } finally {
      cached.calls--;
      if (cached.isRetired) this.#closeIdle(cached);
    }
  }

  /** Ends all calls and sessions. */
  async close(): Promise<void> {
    for (const [name, cached] of this.#clients) {
      this.#clients.delete(name);
      this.#close(cached);
    }
    await Promise.all(this.#closing);
  }

  #clientOf(target: HostTarget): CachedClient {
    const madeOf = hashOf(target);
    const known = this.#clients.get(target.name);
    if (known !== undefined) this.#clients.delete(target.name);
    if (known !== undefined && known.madeOf !== madeOf) this.#retire(known);
    const isUsable = known !== undefined && known.madeOf === madeOf;
    const cached = isUsable ? known : { client: this.#create(target), madeOf, calls: 0, isRetired: false };
    this.#clients.set(target.name, cached);
    this.#dropOldest();
    return cached;
  }

  #create(target: HostTarget): RedfishClient {
    return new RedfishClient(redfishTargetOf(target), {
      timeoutMs: this.#settings.timeoutMs,
      memory: this.#memory,
    });
  }

  #dropOldest(): void {
    const [oldest] = this.#clients;
    if (oldest === undefined || this.#clients.size <= this.#settings.most) return;
    this.#clients.delete(oldest[0]);
    this.#retire(oldest[1]);
  }

  #retire(cached: CachedClient): void {
    cached.isRetired = true;
    this.#closeIdle(cached);
  }

  #closeIdle(cached: CachedClient): void {
    if (cached.calls === 0) this.#close(cached);
  }

  #close({ client }: CachedClient): void {
    const closing = client.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

/** So that credentials are not stored twice. */
function hashOf({ address, connection, secret = {} }: HostTarget): string {
  const values = Object.entries(secret).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const parts = [address, connection.port, connection.https, values.map(([key, value]) => [key, String(value)])];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
}
