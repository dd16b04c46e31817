/** Looks for other DHCP servers on the networks of an agent that leads: at first, and every few minutes. */
import type { RogueServer } from '@vmdhcp/ippool-api/agent';
import type { AgentObserver, ServerProbe } from '../ports.js';

/** One machine on the network can pretend to be any number of servers: the first ones are enough. */
const MOST_SERVERS = 8;
const INTERVAL_MS = 240_000;
/** Where one was found, or the network could not be asked. */
const SHORT_INTERVAL_MS = 20_000;

export interface RogueServersSettings {
  readonly observer: AgentObserver;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly probe: ServerProbe;
  readonly onChange: () => void;
}

interface Looked {
  /** Undefined: it was tried in vain. */
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

  /** Those that were found; undefined: there was no search yet, or none was possible. */
  on(interfaceName: string): readonly RogueServer[] | undefined {
    return this.#looked.get(interfaceName)?.servers;
  }

  /** What another leader found, until the first search from here. */
  adopt(interfaceName: string, servers: readonly RogueServer[]): void {
    if (this.on(interfaceName) === undefined) this.#looked.set(interfaceName, { servers, nextAtMs: this.#settings.nowMs() });
  }

  /** Looks where it is time to: one interface after the other. To be called again and again. */
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

  /** Undefined: not known, and nothing new is known. */
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

/** Two hosts may have one address: which of them answered first is no news. */
function orderOf({ address, macAddress }: RogueServer): string {
  return `${address} ${macAddress}`;
}
