/**
 * Keeps the listeners of a host in line with its interfaces. Each place has a separate socket: one that is in use, or whose
 * interface disappears, is reported and tried again, and the others continue.
 */
import { chooseInterfaces } from './choose-interfaces.js';
import type { ListenableLink } from './listenable-link.js';
import {
  describePlace,
  type ListeningPlace,
  type ListeningPorts,
  type PayloadHandler,
  type WakeSocket,
} from './listening-ports.js';

const RETRY_INTERVAL_MS = 5_000;

/** The interfaces, UDP ports and frames that are listened to. */
export interface WakeListenersSettings {
  /** Empty for every interface with a network outside. @see chooseInterfaces */
  readonly patterns: readonly string[];
  readonly udpPorts: readonly number[];
  /** False for UDP only. */
  readonly frames: boolean;
}

type Listener =
  | { readonly kind: 'listening'; readonly place: ListeningPlace; readonly socket: WakeSocket }
  | {
      readonly kind: 'failed';
      readonly place: ListeningPlace;
      readonly interfaceIndex: number;
      readonly message: string;
      readonly retryAtMs: number;
    };

/** Opens and closes listeners as interfaces come and go. */
export class WakeListeners {
  readonly #settings: WakeListenersSettings;
  readonly #ports: ListeningPorts;
  readonly #onPayload: PayloadHandler;
  /** By `describePlace`. */
  readonly #listeners = new Map<string, Listener>();
  #missing: readonly string[] = [];
  #whyNotListed: string | undefined;
  #isChecking = false;
  #isStopped = false;

  constructor(settings: WakeListenersSettings, ports: ListeningPorts, onPayload: PayloadHandler) {
    this.#settings = settings;
    this.#ports = ports;
    this.#onPayload = onPayload;
  }

  /** Every place that receives now. */
  get listening(): readonly ListeningPlace[] {
    return [...this.#listeners.values()].filter(({ kind }) => kind === 'listening').map(({ place }) => place);
  }

  /** What does not work, one line each; empty if everything works. */
  get dead(): readonly string[] {
    return [
      ...(this.#whyNotListed === undefined ? [] : [this.#whyNotListed]),
      ...this.#missing.map(
        (name) => `${name}: no such interface, or it is down or not an Ethernet interface; correct --interface, or set it up`,
      ),
      ...[...this.#listeners].flatMap(([place, one]) => (one.kind === 'failed' ? [`${place}: ${one.message}`] : [])),
      ...(this.#listeners.size === 0 && this.#missing.length === 0 ? [this.#describeNoInterface()] : []),
    ];
  }

  /** Updates the listeners for the current interfaces. Call it about every second; never rejects. */
  async check(nowMs: number): Promise<void> {
    if (this.#isChecking || this.#isStopped) return;
    this.#isChecking = true;
    try {
      const links = this.#listLinks();
      if (links === undefined) return;
      const chosen = chooseInterfaces(links, this.#settings.patterns);
      this.#reportMissing(chosen.missing);
      this.#closeLost(new Map(chosen.links.map((link) => [link.interfaceName, link])));
      for (const link of chosen.links) for (const place of this.#placesOf(link)) await this.#ensure(place, link, nowMs);
    } finally {
      this.#isChecking = false;
    }
  }

  /** Closes every socket. */
  stop(): void {
    this.#isStopped = true;
    for (const listener of this.#listeners.values()) if (listener.kind === 'listening') listener.socket.close();
    this.#listeners.clear();
  }

  #describeNoInterface(): string {
    const { patterns } = this.#settings;
    const why =
      patterns.length === 0 ? 'no interface has a network outside this host' : `no interface matches ${patterns.join(' ')}`;
    return `${why}; name one with --interface, or with spec.agent.interfaces of the WolConfig`;
  }

  #listLinks(): readonly ListenableLink[] | undefined {
    try {
      const links = this.#ports.listLinks();
      this.#whyNotListed = undefined;
      return links;
    } catch (error) {
      if (this.#whyNotListed === undefined) this.#ports.observe({ kind: 'interfaces-not-listed', error: error as Error });
      this.#whyNotListed = `interfaces: ${(error as Error).message}`;
      return undefined;
    }
  }

  #placesOf({ interfaceName }: ListenableLink): ListeningPlace[] {
    const { udpPorts, frames } = this.#settings;
    return [
      ...udpPorts.map((port): ListeningPlace => ({ interfaceName, way: 'udp', port })),
      ...(frames ? [{ interfaceName, way: 'ethernet' } as const] : []),
    ];
  }

  #reportMissing(missing: readonly string[]): void {
    for (const interfaceName of missing)
      if (!this.#missing.includes(interfaceName)) this.#ports.observe({ kind: 'interface-missing', interfaceName });
    this.#missing = missing;
  }

  #closeLost(chosen: ReadonlyMap<string, ListenableLink>): void {
    const lost = new Set<string>();
    for (const [key, listener] of this.#listeners) {
      const { interfaceName } = listener.place;
      const index = listener.kind === 'listening' ? listener.socket.interfaceIndex : listener.interfaceIndex;
      if (chosen.get(interfaceName)?.interfaceIndex === index) continue;
      if (listener.kind === 'listening') listener.socket.close();
      this.#listeners.delete(key);
      lost.add(interfaceName);
    }
    for (const interfaceName of lost) this.#ports.observe({ kind: 'interface-lost', interfaceName });
  }

  async #ensure(place: ListeningPlace, link: ListenableLink, nowMs: number): Promise<void> {
    const key = describePlace(place);
    const known = this.#listeners.get(key);
    if (known?.kind === 'listening' || (known !== undefined && nowMs < known.retryAtMs)) return;
    try {
      const socket = await this.#ports.open(place, this.#onPayload, (error) => this.#fail(place, link, { error, nowMs }));
      if (this.#isStopped) {
        socket.close();
        return;
      }
      this.#listeners.set(key, { kind: 'listening', place, socket });
      this.#ports.observe({ kind: 'listening', place });
    } catch (error) {
      this.#fail(place, link, { error: error as Error, nowMs });
    }
  }

  #fail(place: ListeningPlace, { interfaceIndex }: ListenableLink, { error, nowMs }: { error: Error; nowMs: number }): void {
    if (this.#isStopped) return;
    const key = describePlace(place);
    const known = this.#listeners.get(key);
    if (known?.kind === 'listening') known.socket.close();
    const isNew = known?.kind !== 'failed' || known.message !== error.message;
    const retryAtMs = nowMs + RETRY_INTERVAL_MS;
    this.#listeners.set(key, { kind: 'failed', place, interfaceIndex, message: error.message, retryAtMs });
    if (isNew) this.#ports.observe({ kind: 'listener-failed', place, error });
  }
}
