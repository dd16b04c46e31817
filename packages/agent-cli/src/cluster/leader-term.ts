/**
 * What an agent does only while it leads: it has the server addresses on its interfaces, for as long as the lead lasts and
 * no longer, and answers.
 */
import { formatIpv4Address, type Ipv4Address } from '@vmdhcp/dhcp-allocator';
import type { AgentNetworkConfig } from '@vmdhcp/reconciler';
import type { Logger } from '@vmdhcp/service-process';
import { announceAddress } from '../net/announce-address.js';
import { dropAddresses, type InterfaceAddress, leaseAddresses } from '../net/leased-addresses.js';
import { ifNameToIndex } from '../net/libc.js';
import type { DhcpServer } from '../serve/dhcp-server.js';
import { type InterfaceState, ServedInterface } from '../serve/served-interface.js';
import type { FollowedPools } from './followed-pools.js';

const INTERFACE_CHECK_INTERVAL_MS = 250;
const NO_POOLS: ReturnType<DhcpServer['poolsNamed']> = [];
/** What the kernel takes for no end. */
const FOR_EVER_SECONDS = 0xffffffff;

export interface LeaderTermPorts {
  readonly configs: readonly AgentNetworkConfig[];
  readonly pools: FollowedPools;
  readonly server: DhcpServer;
  readonly logger: Logger;
  /** Asked for every packet: a process that was frozen reads what has queued up before any of its timers runs. */
  readonly isLeading: () => boolean;
  /** False: interfaces have their addresses from somebody else. */
  readonly configureInterfaces: boolean;
  readonly observeBurst: (durationNs: number) => void;
  readonly onSendFailure: (interfaceName: string, failure: { readonly error: string; readonly count: number }) => void;
  readonly onStateChange: () => void;
}

export class LeaderTerm {
  readonly #ports: LeaderTermPorts;
  readonly #interfaces = new Map<string, ServedInterface>();
  /** By interface: what was put on it. */
  readonly #addresses = new Map<string, InterfaceAddress>();
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

  /** @param remainingMs - how long the lead lasts, if it is not renewed. */
  begin(remainingMs: number): void {
    this.#begun = true;
    this.renew(remainingMs);
    this.#timer = setInterval(() => void this.check(), INTERFACE_CHECK_INTERVAL_MS);
    void this.check();
  }

  /** The lead lasts so much longer: so do the addresses. */
  renew(remainingMs: number): void {
    this.#endsAtMs = performance.now() + remainingMs;
    if (this.#begun) this.#enqueue(() => this.#prolong());
  }

  /** Why an interface that is served has not the address it should have. */
  addressProblem(interfaceName: string): string | undefined {
    return this.#addresses.has(interfaceName) ? this.#problem : undefined;
  }

  /** Brings interfaces in line with what is there and what is to be served. */
  async check(): Promise<void> {
    if (this.#ended || !this.#begun) return;
    for (const config of this.#ports.configs) {
      const isActive = this.#ports.pools.get(config.ipPoolRef).kind === 'active';
      const served = this.#interfaces.get(config.interfaceName);
      if (isActive && served === undefined) this.#interfaces.set(config.interfaceName, this.#createInterface(config));
      else if (!isActive && served !== undefined) this.#closeInterface(config.interfaceName, served);
    }
    await Promise.all([...this.#interfaces.values()].map((served) => served.check()));
  }

  stateOf(interfaceName: string): InterfaceState {
    return this.#interfaces.get(interfaceName)?.state ?? { kind: 'opening' };
  }

  /** Stops answering, then takes the addresses away. False if that failed: the kernel does it when their time is over. */
  async end(): Promise<boolean> {
    this.#ended = true;
    clearInterval(this.#timer);
    for (const served of this.#interfaces.values()) served.stop();
    this.#interfaces.clear();
    let isDone = true;
    this.#enqueue(async () => {
      isDone = await dropAddresses([...this.#addresses.values()]);
      this.#addresses.clear();
    });
    await this.#work;
    return isDone;
  }

  #createInterface({ interfaceName, ipPoolRef }: AgentNetworkConfig): ServedInterface {
    const { server, logger, isLeading, observeBurst, onSendFailure, onStateChange } = this.#ports;
    return new ServedInterface(interfaceName, {
      logger,
      nowMs: Date.now,
      handler: server.handler(interfaceName, () => (isLeading() ? server.poolsNamed([ipPoolRef]) : NO_POOLS)),
      portEvents: { onBurst: observeBurst, onSendFailure: (failure) => onSendFailure(interfaceName, failure) },
      prepare: () => this.#giveAddress(interfaceName, ipPoolRef),
      onStateChange,
    });
  }

  #closeInterface(interfaceName: string, served: ServedInterface): void {
    served.stop();
    this.#interfaces.delete(interfaceName);
    const address = this.#addresses.get(interfaceName);
    this.#addresses.delete(interfaceName);
    if (address !== undefined) this.#enqueue(async () => void (await dropAddresses([address])));
  }

  async #giveAddress(interfaceName: string, poolKey: string): Promise<void> {
    const followed = this.#ports.pools.get(poolKey);
    if (followed.kind !== 'active' || !this.#ports.configureInterfaces) return;
    const { serverAddress, cidr } = followed.pool;
    const address = { interfaceName, address: `${formatIpv4Address(serverAddress)}/${cidr.prefixLength}` };
    this.#addresses.set(interfaceName, address);
    let failure: unknown;
    this.#enqueue(async () => {
      if (!this.#mayConfigure()) return;
      await leaseAddresses([address], this.#seconds()).catch((error: unknown) => {
        failure = error;
      });
    });
    await this.#work;
    if (failure !== undefined) throw failure;
    this.#announce(interfaceName, serverAddress);
  }

  /** Asked right before anything is done: the process may have been frozen since somebody asked for it. */
  #mayConfigure(): boolean {
    return !this.#ended && this.#ports.isLeading();
  }

  /** What is left of the lead in whole seconds, which is what the kernel counts; rounded up it still ends before anybody else may lead. */
  #seconds(): number {
    const remainingMs = this.#endsAtMs - performance.now();
    return Math.min(FOR_EVER_SECONDS, Math.max(1, Math.ceil(remainingMs / 1000)));
  }

  #announce(interfaceName: string, address: Ipv4Address): void {
    if (!this.#mayConfigure()) return;
    try {
      announceAddress(interfaceName, address);
    } catch (error) {
      this.#ports.logger.warn(
        { interface: interfaceName, err: String(error) },
        'the server address could not be announced; clients find it out by themselves',
      );
    }
  }

  async #prolong(): Promise<void> {
    if (!this.#mayConfigure()) return;
    const present = [...this.#addresses.values()].filter(({ interfaceName }) => ifNameToIndex(interfaceName) !== 0);
    const before = this.#problem;
    try {
      await leaseAddresses(present, this.#seconds());
      this.#problem = undefined;
    } catch (error) {
      this.#problem = `the server address cannot be kept on its interface: ${error instanceof Error ? error.message : String(error)}`;
      if (before === undefined) this.#ports.logger.error(`${this.#problem}; it is tried again at every renewal`);
    }
    if (before !== this.#problem) this.#ports.onStateChange();
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
