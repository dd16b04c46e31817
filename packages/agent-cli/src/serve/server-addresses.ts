/**
 * The server addresses of pools on the interfaces of a host (`--configure-interfaces`). The agent adds an address for a short time and prolongs
 * it while it runs, so that the kernel takes it away when the agent was killed. An address that was there before is never changed:
 * neither prolonged nor taken away.
 */
import { formatIpv4Address, type Pool } from '@vmdhcp/dhcp-allocator';
import {
  addAddress,
  hasAddressForGood,
  type LinkAddress,
  libc,
  lookForAddress,
  Netlink,
  removeAddresses,
} from '@vmdhcp/linux-sockets';
import type { Logger } from '@vmdhcp/service-process';

/** How long the kernel keeps an address that is not prolonged. */
const LIFETIME_SECONDS = 10;

interface OwnAddress extends LinkAddress {
  readonly interfaceName: string;
  /** `10.0.0.1/24`. */
  readonly text: string;
  /** On the clock of `performance.now`. */
  prolongedAtMs: number;
}

export class ServerAddresses {
  readonly #logger: Logger;
  /** By interface and address: those that this agent has added. */
  readonly #own = new Map<string, OwnAddress>();
  readonly #problems = new Map<string, string>();
  #netlink: Netlink | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Adds the server addresses of these pools that the interface does not have. @throws Error with what the system says. */
  ensure(interfaceName: string, pools: readonly Pool[]): Promise<void> {
    return this.#enqueue(async () => {
      for (const pool of pools) await this.#ensureOne(interfaceName, pool);
    });
  }

  /**
   * Takes away own addresses that are of none of these pools; on served interfaces prolongs the others and adds those that are missing.
   * Never throws; to be called every second.
   */
  keep(poolsOfInterface: ReadonlyMap<string, readonly Pool[]>, isServed: (interfaceName: string) => boolean): Promise<void> {
    return this.#enqueue(async () => {
      await this.#dropUnwanted(poolsOfInterface);
      for (const [interfaceName, pools] of poolsOfInterface) {
        for (const pool of isServed(interfaceName) ? pools : []) {
          const failure = await this.#ensureOne(interfaceName, pool).catch((error: unknown) => error as Error);
          this.#noteFailure(`${interfaceName} ${formatIpv4Address(pool.serverAddress)}`, failure ?? undefined);
        }
      }
    });
  }

  /** Takes away what was added. */
  release(): Promise<void> {
    return this.#enqueue(async () => {
      for (const [key, own] of [...this.#own]) await this.#drop(key, own);
      this.#own.clear();
      this.#netlink?.close();
      this.#netlink = undefined;
    });
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }

  async #ensureOne(interfaceName: string, pool: Pool): Promise<void> {
    const address = formatIpv4Address(pool.serverAddress);
    const text = `${address}/${pool.cidr.prefixLength}`;
    const key = `${interfaceName} ${text}`;
    const own = this.#ownOn(key, libc.ifNameToIndex(interfaceName));
    if (await lookForAddress(interfaceName, address)) {
      if (own !== undefined) this.#prolong(own);
      return;
    }
    this.#own.delete(key);
    const interfaceIndex = libc.ifNameToIndex(interfaceName);
    if (!(await addAddress(interfaceName, text, LIFETIME_SECONDS))) return;
    const { prefixLength } = pool.cidr;
    const added = { interfaceName, interfaceIndex, address: pool.serverAddress, prefixLength, text };
    this.#own.set(key, { ...added, prolongedAtMs: performance.now() });
    this.#logger.info({ interface: interfaceName, address: text }, 'server address added to the interface');
  }

  /** An address of an interface that was replaced is gone; one that was not prolonged in time may be another program's by now. */
  #ownOn(key: string, interfaceIndex: number): OwnAddress | undefined {
    const own = this.#own.get(key);
    if (own === undefined) return undefined;
    const isKept = performance.now() - own.prolongedAtMs < LIFETIME_SECONDS * 1000;
    if (own.interfaceIndex === interfaceIndex && isKept) return own;
    this.#own.delete(key);
    return undefined;
  }

  #prolong(own: OwnAddress): void {
    this.#netlink ??= new Netlink();
    this.#netlink.leaseAddress(own, { seconds: LIFETIME_SECONDS, prefixRoute: true });
    own.prolongedAtMs = performance.now();
  }

  /** Takes an own address away, unless it is another program's by now; tried again by the next `keep` where the system refuses it. */
  async #drop(key: string, { interfaceName, text }: OwnAddress): Promise<void> {
    const own = this.#ownOn(key, libc.ifNameToIndex(interfaceName));
    if (own === undefined) return;
    const isForGood = await hasAddressForGood(interfaceName, text).catch(() => false);
    if (!isForGood && !removeAddresses([own])) return;
    this.#own.delete(key);
    if (!isForGood) this.#logger.info({ interface: interfaceName, address: text }, 'server address taken from the interface');
  }

  async #dropUnwanted(poolsOfInterface: ReadonlyMap<string, readonly Pool[]>): Promise<void> {
    for (const [key, own] of [...this.#own]) {
      const pools = poolsOfInterface.get(own.interfaceName) ?? [];
      const isWanted = pools.some((pool) => pool.serverAddress === own.address && pool.cidr.prefixLength === own.prefixLength);
      if (!isWanted) await this.#drop(key, own);
    }
  }

  #noteFailure(place: string, failure: Error | undefined): void {
    const { message } = failure ?? {};
    if (message === this.#problems.get(place)) return;
    if (message === undefined) this.#problems.delete(place);
    else {
      this.#problems.set(place, message);
      this.#logger.error(
        { place },
        `the server address cannot be kept on the interface: ${message}; this is tried again every second`,
      );
    }
  }
}
