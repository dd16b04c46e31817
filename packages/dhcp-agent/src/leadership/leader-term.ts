/** What an agent has only while it leads: the server addresses on its interfaces, for as long as the lead lasts and no longer. */
import type { AgentNetworkConfig } from '@vmdhcp/ippool-api';
import type { Clock } from '@vmdhcp/kube-runtime';
import { every } from '../every.js';
import type { FollowedPools } from '../pool/followed-pools.js';
import type { AddressKernel, Logger, ServerAddress } from '../ports.js';
import { MOST_TELLING_MS } from './leadership-times.js';

const CHECK_INTERVAL_MS = 250;
/** An address that the kernel heard of too late is given again, for less time, if there is any. */
const ATTEMPTS = 2;
/** What the kernel takes for no end. */
const FOR_EVER_SECONDS = 0xffffffff;

export interface LeaderTermPorts {
  readonly configs: readonly AgentNetworkConfig[];
  readonly pools: Pick<FollowedPools, 'get'>;
  readonly kernel: AddressKernel;
  readonly clock: Clock;
  /** True for an interface that is isolated from the other networks of the pod: another one gets no address. */
  readonly isIsolated: (interfaceName: string) => boolean;
  /** Pools that must not be served here now, whoever leads. */
  readonly isSuspended: (poolKey: string) => boolean;
  readonly logger: Logger;
  /** Asked for every packet: a process that was frozen reads what has queued up before any of its timers runs. */
  readonly isLeading: () => boolean;
  /** The interface has its server address now: from here on the leader answers. */
  readonly onAddressGiven: (interfaceName: string) => void;
  readonly onStateChange: () => void;
}

/** An address, and the interface it was put on: another one of the same name does not have it. */
interface HeldAddress extends ServerAddress {
  /** `new`: to be given; `set`: there; `stuck`: it could not be taken away, which is tried again. */
  state: 'new' | 'set' | 'stuck';
}

export class LeaderTerm {
  readonly #ports: LeaderTermPorts;
  /** By interface. */
  readonly #addresses = new Map<string, HeldAddress>();
  #callOff: () => void = () => undefined;
  #endsAtMs = 0;
  #begun = false;
  #ended = false;
  /** Why addresses are not as they should be, by interface. */
  readonly #problems = new Map<string, string>();

  constructor(ports: LeaderTermPorts) {
    this.#ports = ports;
  }

  /** @param safeMs - for how long from now nobody else can have the addresses, if the lead is not renewed. */
  begin(safeMs: number): void {
    this.#begun = true;
    this.#endsAtMs = this.#nowMs() + safeMs;
    this.#callOff = every(this.#ports.clock, CHECK_INTERVAL_MS, () => this.check());
    this.check();
  }

  /** The lead lasts so much longer: so do the addresses. */
  renew(safeMs: number): void {
    this.#endsAtMs = this.#nowMs() + safeMs;
    if (this.#begun) this.#prolong();
  }

  /** True if the interface has its server address from here. */
  hasAddress(interfaceName: string): boolean {
    return this.#addresses.get(interfaceName)?.state === 'set';
  }

  /** True while the interface has, or may have, a server address from here. */
  mayHaveAddress(interfaceName: string): boolean {
    return this.#addresses.has(interfaceName);
  }

  /** Why the server address is not on the interface, where it should be. */
  problemOf(interfaceName: string): string | undefined {
    return this.#problems.get(interfaceName);
  }

  problems(): string[] {
    return [...this.#problems.values()];
  }

  /** Gives addresses to interfaces that are there and to be served, and takes them from others. */
  check(): void {
    if (this.#ended || !this.#begun) return;
    let isGiven = false;
    for (const config of this.#ports.configs) {
      const wanted = this.#wantedOn(config);
      const held = this.#addresses.get(config.interfaceName);
      if (isSame(held, wanted) && held?.state !== 'stuck') continue;
      if (held !== undefined) this.#take(held);
      if (wanted === undefined) continue;
      this.#addresses.set(wanted.interfaceName, wanted);
      isGiven = true;
    }
    if (isGiven) this.#prolong();
  }

  /** Takes the addresses away. False if that failed: the kernel does it when their time is over. */
  end(): boolean {
    this.#ended = true;
    this.#callOff();
    const isDone = this.#ports.kernel.take([...this.#addresses.values()]);
    this.#addresses.clear();
    return isDone;
  }

  #nowMs(): number {
    return this.#ports.kernel.nowMs();
  }

  #wantedOn({ interfaceName, ipPoolRef }: AgentNetworkConfig): HeldAddress | undefined {
    const { pools, kernel, isSuspended, isIsolated } = this.#ports;
    const followed = pools.get(ipPoolRef);
    const interfaceIndex = kernel.indexOf(interfaceName);
    if (followed.kind !== 'active' || interfaceIndex === 0) return undefined;
    if (isSuspended(ipPoolRef) || !isIsolated(interfaceName)) return undefined;
    const { serverAddress, cidr } = followed.pool;
    return { interfaceName, interfaceIndex, address: serverAddress, prefixLength: cidr.prefixLength, state: 'new' };
  }

  #take(held: HeldAddress): void {
    this.#problems.delete(held.interfaceName);
    if (this.#ports.kernel.take([held])) this.#addresses.delete(held.interfaceName);
    else held.state = 'stuck';
    this.#ports.onStateChange();
  }

  /** Asked right before anything is done: the process may have been frozen since somebody asked for it. */
  #mayConfigure(): boolean {
    return !this.#ended && this.#ports.isLeading();
  }

  /** The kernel counts whole seconds: as many as there are before anybody else may have the addresses. */
  #seconds(): number {
    return Math.min(FOR_EVER_SECONDS, Math.floor((this.#endsAtMs - this.#nowMs()) / 1000));
  }

  #prolong(): void {
    const { kernel } = this.#ports;
    if (!this.#mayGive()) return;
    const present = [...this.#addresses.values()].filter(
      ({ state, interfaceName, interfaceIndex }) => state !== 'stuck' && kernel.indexOf(interfaceName) === interfaceIndex,
    );
    for (let attempt = 0; attempt < ATTEMPTS && this.#mayGive(); attempt++) {
      const seconds = this.#seconds();
      const failures = kernel.give(present, seconds);
      if (!this.#mayKeep(seconds)) continue;
      for (const [index, held] of present.entries()) this.#note(held, failures[index]);
      this.#announceNew(present.filter((_, index) => failures[index] === undefined));
      return;
    }
    this.#retract(present);
  }

  #mayGive(): boolean {
    return this.#mayConfigure() && this.#seconds() >= 1;
  }

  /** Asked again after addresses were given: where the process was frozen in between, they would outlive the lead. */
  #mayKeep(seconds: number): boolean {
    const isInTime = seconds === FOR_EVER_SECONDS || this.#nowMs() + seconds * 1000 <= this.#endsAtMs + MOST_TELLING_MS;
    return this.#mayConfigure() && isInTime;
  }

  /** An agent that leads still gets them again at its next renewal. */
  #retract(addresses: readonly HeldAddress[]): void {
    this.#ports.logger.warn(
      'the agent was stopped or too slow while it configured its server addresses: it has removed them; a leader adds them again when it renews its Lease',
    );
    for (const held of addresses) held.state = this.#ports.kernel.take([held]) ? 'new' : 'stuck';
    this.#ports.onStateChange();
  }

  #note({ interfaceName }: HeldAddress, failure: Error | undefined): void {
    const before = this.#problems.get(interfaceName);
    const after = failure && `the server address cannot be kept on interface ${interfaceName}: ${failure.message}`;
    if (before === after) return;
    if (after === undefined) this.#problems.delete(interfaceName);
    else {
      this.#problems.set(interfaceName, after);
      this.#ports.logger.error(`${after}; it is tried again at every renewal`);
    }
    this.#ports.onStateChange();
  }

  #announceNew(present: readonly HeldAddress[]): void {
    const added = present.filter(({ state }) => state === 'new');
    for (const held of added) {
      held.state = 'set';
      this.#announce(held);
      this.#ports.onAddressGiven(held.interfaceName);
    }
    if (added.length > 0) this.#ports.onStateChange();
  }

  #announce({ interfaceName, address }: HeldAddress): void {
    try {
      this.#ports.kernel.announce(interfaceName, address);
    } catch (error) {
      this.#ports.logger.warn(
        { interface: interfaceName, err: String(error) },
        'the server address could not be announced; clients find it out by themselves',
      );
    }
  }
}

function isSame(held: HeldAddress | undefined, wanted: HeldAddress | undefined): boolean {
  return (
    held?.interfaceIndex === wanted?.interfaceIndex &&
    held?.address === wanted?.address &&
    held?.prefixLength === wanted?.prefixLength
  );
}
