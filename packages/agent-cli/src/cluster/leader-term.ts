/** What an agent has only while it leads: the server addresses on its interfaces, for as long as the lead lasts and no longer. */
import { formatIpv4Address, type Ipv4Address } from '@vmdhcp/dhcp-allocator';
import type { AgentNetworkConfig } from '@vmdhcp/reconciler';
import type { Logger } from '@vmdhcp/service-process';
import { announceAddress } from '../net/announce-address.js';
import { dropAddresses, type InterfaceAddress, leaseAddresses } from '../net/leased-addresses.js';
import { ifNameToIndex } from '../net/libc.js';
import type { FollowedPools } from './followed-pools.js';

const CHECK_INTERVAL_MS = 250;
/** What the kernel takes for no end. */
const FOR_EVER_SECONDS = 0xffffffff;

export interface LeaderTermPorts {
  readonly configs: readonly AgentNetworkConfig[];
  readonly pools: FollowedPools;
  /** Pools that must not be served here now, whoever leads. */
  readonly isWithheld: (poolKey: string) => boolean;
  readonly logger: Logger;
  /** Asked for every packet: a process that was frozen reads what has queued up before any of its timers runs. */
  readonly isLeading: () => boolean;
  /** The interface has its server address now: from here on the leader answers. */
  readonly onAddressGiven: (interfaceName: string) => void;
  readonly onStateChange: () => void;
}

/** An address, and the interface it was put on: another one of the same name does not have it. */
interface HeldAddress extends InterfaceAddress {
  readonly serverAddress: Ipv4Address;
  readonly interfaceIndex: number;
  /** `new`: to be given; `set`: there; `leaving`: being taken away; `stuck`: that failed, and is tried again. */
  state: 'new' | 'set' | 'leaving' | 'stuck';
}

export class LeaderTerm {
  readonly #ports: LeaderTermPorts;
  /** By interface. */
  readonly #addresses = new Map<string, HeldAddress>();
  #timer: NodeJS.Timeout | undefined;
  /** Changes of addresses happen one after the other. */
  #work: Promise<void> = Promise.resolve();
  #endsAtMs = 0;
  #begun = false;
  #ended = false;
  /** Why the addresses are not as they should be. */
  #problem: string | undefined;

  constructor(ports: LeaderTermPorts) {
    this.#ports = ports;
  }

  /** @param safeMs - for how long from now nobody else can have the addresses, if the lead is not renewed. */
  begin(safeMs: number): void {
    this.#begun = true;
    this.#endsAtMs = performance.now() + safeMs;
    this.#timer = setInterval(() => this.check(), CHECK_INTERVAL_MS);
    this.check();
  }

  /** The lead lasts so much longer: so do the addresses. */
  renew(safeMs: number): void {
    this.#endsAtMs = performance.now() + safeMs;
    if (this.#begun) this.#enqueue(() => this.#prolong());
  }

  /** True if the interface has its server address from here. */
  hasAddress(interfaceName: string): boolean {
    return this.#addresses.get(interfaceName)?.state === 'set';
  }

  /** True while the interface has, or may have, a server address from here. */
  mayHaveAddress(interfaceName: string): boolean {
    return this.#addresses.has(interfaceName);
  }

  /** Why the server addresses are not where they should be. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Gives addresses to interfaces that are there and to be served, and takes them from others. */
  check(): void {
    if (this.#ended || !this.#begun) return;
    let isGiven = false;
    for (const config of this.#ports.configs) {
      const wanted = this.#wantedOn(config);
      const held = this.#addresses.get(config.interfaceName);
      if (isSame(held, wanted)) continue;
      if (held !== undefined && held.state !== 'leaving') this.#take(held);
      if (wanted === undefined) continue;
      this.#addresses.set(wanted.interfaceName, wanted);
      isGiven = true;
    }
    if (isGiven) this.#enqueue(() => this.#prolong());
  }

  /** Takes the addresses away. False if that failed: the kernel does it when their time is over. */
  async end(): Promise<boolean> {
    this.#ended = true;
    clearInterval(this.#timer);
    let isDone = true;
    this.#enqueue(async () => {
      isDone = await dropAddresses([...this.#addresses.values()]);
      this.#addresses.clear();
    });
    await this.#work;
    return isDone;
  }

  #wantedOn({ interfaceName, ipPoolRef }: AgentNetworkConfig): HeldAddress | undefined {
    const followed = this.#ports.pools.get(ipPoolRef);
    const interfaceIndex = ifNameToIndex(interfaceName);
    if (followed.kind !== 'active' || interfaceIndex === 0 || this.#ports.isWithheld(ipPoolRef)) return undefined;
    const { serverAddress, cidr } = followed.pool;
    const address = `${formatIpv4Address(serverAddress)}/${cidr.prefixLength}`;
    return { interfaceName, address, serverAddress, interfaceIndex, state: 'new' };
  }

  #take(held: HeldAddress): void {
    held.state = 'leaving';
    this.#enqueue(async () => {
      const isGone = await dropAddresses([held]);
      if (this.#addresses.get(held.interfaceName) !== held) return;
      if (isGone) this.#addresses.delete(held.interfaceName);
      else held.state = 'stuck';
      this.#ports.onStateChange();
    });
  }

  /** Asked right before anything is done: the process may have been frozen since somebody asked for it. */
  #mayConfigure(): boolean {
    return !this.#ended && this.#ports.isLeading();
  }

  /** The kernel counts whole seconds: as many as there are before anybody else may have the addresses. */
  #seconds(): number {
    return Math.min(FOR_EVER_SECONDS, Math.floor((this.#endsAtMs - performance.now()) / 1000));
  }

  async #prolong(): Promise<void> {
    const seconds = this.#seconds();
    if (!this.#mayConfigure() || seconds < 1) return;
    const present = [...this.#addresses.values()].filter(
      ({ state, interfaceName, interfaceIndex }) =>
        (state === 'new' || state === 'set') && ifNameToIndex(interfaceName) === interfaceIndex,
    );
    const before = this.#problem;
    try {
      await leaseAddresses(present, seconds);
      this.#problem = undefined;
      const added = present.filter(({ state }) => state === 'new');
      for (const held of added) {
        held.state = 'set';
        this.#announce(held);
        this.#ports.onAddressGiven(held.interfaceName);
      }
      if (added.length > 0) this.#ports.onStateChange();
    } catch (error) {
      this.#problem = `the server address cannot be kept on its interface: ${error instanceof Error ? error.message : String(error)}`;
      if (before === undefined) this.#ports.logger.error(`${this.#problem}; it is tried again at every renewal`);
    }
    if (before !== this.#problem) this.#ports.onStateChange();
  }

  #announce({ interfaceName, serverAddress }: HeldAddress): void {
    if (!this.#mayConfigure()) return;
    try {
      announceAddress(interfaceName, serverAddress);
    } catch (error) {
      this.#ports.logger.warn(
        { interface: interfaceName, err: String(error) },
        'the server address could not be announced; clients find it out by themselves',
      );
    }
  }

  #enqueue(change: () => Promise<void>): void {
    this.#work = this.#work.then(change).catch((error: unknown) => {
      this.#ports.logger.error(
        { err: String(error) },
        'server addresses could not be changed; it is tried again at the next renewal',
      );
    });
  }
}

function isSame(held: HeldAddress | undefined, wanted: HeldAddress | undefined): boolean {
  return held?.interfaceIndex === wanted?.interfaceIndex && held?.address === wanted?.address;
}
