/** Searches the networks of a leader for other DHCP servers, at the start and every few minutes. */
import type { RogueServer } from '@vmdhcp/ippool-api/agent';
import type { AgentObserver, ServerProbe } from '../ports.js';

/** A limit, because one machine can pretend to be any number of servers. */
const MOST_SERVERS = 8;
const INTERVAL_MS = 240_000;
/** The interval after one was found, or after a failure. */
const SHORT_INTERVAL_MS = 20_000;

/** How often other DHCP servers are looked for, and who is told. */
export interface RogueServersSettings {
  readonly observer: AgentObserver;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly probe: ServerProbe;
  readonly onChange: () => void;
}

interface Looked {
  /** Undefined if the attempt failed. */
  readonly servers: readonly RogueServer[] | undefined;
  readonly nextAtMs: number;
}

export class RogueServers {
  readonly #settings: RogueServersSettings;
  /** By interface. */
  readonly #looked = new Map<string, Looked>();
  #looking = false;

  constructor(settings: RogueServersSettings) {
    this.#settings = settings;
  }

  /** The servers that were found; undefined if no search has succeeded yet. */
  on(interfaceName: string): readonly RogueServer[] | undefined {
    return this.#looked.get(interfaceName)?.servers;
  }

  /** The findings of the leader, which are newer than those of an earlier leadership from here; they are checked at once in the next one. */
  adopt(interfaceName: string, servers: readonly RogueServer[]): void {
    this.#looked.set(interfaceName, { servers, nextAtMs: this.#settings.nowMs() });
  }

  /** Searches the interfaces that are due, one after the other. Call it repeatedly. */
  async look(interfaceNames: readonly string[]): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      for (const name of interfaceNames) {
        if ((this.#looked.get(name)?.nextAtMs ?? 0) <= this.#settings.nowMs()) await this.#lookAt(name);
      }
    } finally {
      this.#looking = false;
    }
  }

  async #lookAt(interfaceName: string): Promise<void> {
    const before = this.on(interfaceName);
    const servers = await this.#ask(interfaceName);
    const { random, nowMs } = this.#settings;
    const isQuiet = servers !== undefined && servers.length === 0;
    const nextAtMs = nowMs() + (isQuiet ? INTERVAL_MS : SHORT_INTERVAL_MS) * (0.9 + 0.2 * random());
    this.#looked.set(interfaceName, { servers: servers ?? before, nextAtMs });
    if (servers !== undefined && JSON.stringify(before) !== JSON.stringify(servers)) this.#tell(interfaceName, servers, before);
  }

  /** Undefined if the result is neither known nor new. */
  async #ask(interfaceName: string): Promise<RogueServer[] | undefined> {
    try {
      const servers = await this.#settings.probe(interfaceName);
      return servers.toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1)).slice(0, MOST_SERVERS);
    } catch (error) {
      this.#settings.observer.observe({ kind: 'servers-not-probed', interfaceName, error });
      return undefined;
    }
  }

  #tell(interfaceName: string, servers: readonly RogueServer[], before: readonly RogueServer[] | undefined): void {
    const { observer, onChange } = this.#settings;
    if (servers.length > 0) observer.observe({ kind: 'rogue-servers', interfaceName, servers });
    else if (before !== undefined) observer.observe({ kind: 'no-rogue-servers', interfaceName });
    onChange();
  }
}

/** Two hosts may have one address; their order does not matter. */
function orderOf({ address, macAddress }: RogueServer): string {
  return `${address} ${macAddress}`;
}
