/**
 * Manages the server addresses of pools on the interfaces of a bare host (`--configure-interfaces`). The agent adds an address
 * for a short time and prolongs it while it runs, so that the kernel removes it if the agent is killed. An address that existed
 * before is never changed: neither prolonged nor removed.
 */
import { formatIpv4Address, type Pool } from '@vmdhcp/dhcp-allocator';
import type { LinkAddress, ListedAddress } from '@vmdhcp/linux-sockets';
import type { Logger } from '@vmdhcp/service-process';
import type { HostAddresses } from './host-addresses.js';

/** How long the kernel keeps an address that is not prolonged. */
const LIFETIME_SECONDS = 10;
/** The kernel may remove an address this much early (ADDRCONF_TIMER_FUZZ_MINUS is a fiftieth of a second). */
const TOLERANCE_MS = 100;

/** The server address of one pool on one interface. */
type PoolAddress = Pick<Pool, 'serverAddress' | 'cidr'>;

/** An address that this agent added. */
interface OwnAddress extends LinkAddress {
  readonly interfaceName: string;
  /** When it was last prolonged, or a little before. */
  readonly prolongedAtMs: number;
}

export class HostServerAddresses {
  readonly #host: HostAddresses;
  readonly #logger: Logger;
  /** By interface and address. */
  readonly #own = new Map<string, OwnAddress>();
  /** The last logged message, by interface and address. */
  readonly #problems = new Map<string, string>();

  constructor(host: HostAddresses, logger: Logger) {
    this.#host = host;
    this.#logger = logger;
  }

  /** Adds the server addresses of these pools that the interface lacks. @throws Error with the reason of the system. */
  ensure(interfaceName: string, pools: readonly PoolAddress[]): void {
    for (const pool of pools) this.#ensureOne(interfaceName, pool);
  }

  /**
   * Removes own addresses that belong to none of these pools; on served interfaces, prolongs the others and adds missing ones.
   * Never throws; call it every second.
   */
  keep(poolsOfInterface: ReadonlyMap<string, readonly PoolAddress[]>, isServed: (interfaceName: string) => boolean): void {
    for (const [key, own] of [...this.#own]) {
      const pools = poolsOfInterface.get(own.interfaceName) ?? [];
      const isWanted = pools.some((pool) => pool.serverAddress === own.address && pool.cidr.prefixLength === own.prefixLength);
      if (!isWanted) this.#remove(key);
    }
    for (const [interfaceName, pools] of poolsOfInterface) {
      for (const pool of isServed(interfaceName) ? pools : []) this.#tryToEnsure(interfaceName, pool);
    }
  }

  /** Removes the addresses that the agent added. */
  release(): void {
    for (const key of [...this.#own.keys()]) this.#remove(key);
    this.#own.clear();
  }

  #ensureOne(interfaceName: string, { serverAddress: address, cidr: { prefixLength } }: PoolAddress): void {
    const interfaceIndex = this.#host.indexOf(interfaceName);
    if (interfaceIndex === 0) throw new Error(`interface ${interfaceName} is missing`);
    const wanted = { interfaceIndex, address, prefixLength };
    const text = `${formatIpv4Address(address)}/${prefixLength}`;
    const key = `${interfaceName} ${text}`;
    const isPresent = this.#host.list(interfaceIndex).some((present) => present.address === address);
    const isOwn = this.#isOwn(key);
    const nowMs = this.#host.nowMs();
    if (isPresent && !isOwn) return;
    if (isPresent) this.#host.prolong(wanted, LIFETIME_SECONDS);
    else if (!this.#host.add(wanted, LIFETIME_SECONDS)) return;
    else this.#logger.info({ interface: interfaceName, address: text }, 'server address added to the interface');
    this.#own.set(key, { ...wanted, interfaceName, prolongedAtMs: nowMs });
  }

  #tryToEnsure(interfaceName: string, pool: PoolAddress): void {
    const place = `${interfaceName} ${formatIpv4Address(pool.serverAddress)}`;
    try {
      this.#ensureOne(interfaceName, pool);
      this.#problems.delete(place);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message === this.#problems.get(place)) return;
      this.#problems.set(place, message);
      this.#logger.error({ place }, `the server address cannot be kept on the interface: ${message}; trying again every second`);
    }
  }

  /**
   * True if the address is on its interface and this agent added it. It belongs to another program if the interface was replaced,
   * if the agent could not prolong it in time, or if it never expires; then the agent leaves it alone.
   */
  #isOwn(key: string): boolean {
    const own = this.#own.get(key);
    if (own === undefined) return false;
    const isInTime = this.#host.nowMs() - own.prolongedAtMs < LIFETIME_SECONDS * 1000 - TOLERANCE_MS;
    if (isInTime && this.#host.indexOf(own.interfaceName) === own.interfaceIndex && this.#isTemporary(own)) return true;
    this.#own.delete(key);
    return false;
  }

  #isTemporary({ interfaceIndex, address, prefixLength }: OwnAddress): boolean {
    const isIt = (present: ListedAddress) => present.address === address && present.prefixLength === prefixLength;
    return listOrNone(this.#host, interfaceIndex).some((present) => isIt(present) && Number.isFinite(present.validSeconds));
  }

  /** Removes an own address, unless it now belongs to another program; the next `keep` tries again if the system refuses. */
  #remove(key: string): void {
    const own = this.#own.get(key);
    if (own === undefined || !this.#isOwn(key) || !this.#host.remove(own)) return;
    this.#own.delete(key);
    const address = `${formatIpv4Address(own.address)}/${own.prefixLength}`;
    this.#logger.info({ interface: own.interfaceName, address }, 'server address removed from the interface');
  }
}

/** Forgets addresses of a removed interface: the kernel removed them with it. */
function listOrNone(host: HostAddresses, interfaceIndex: number): readonly ListedAddress[] {
  try {
    return host.list(interfaceIndex);
  } catch {
    return [];
  }
}
