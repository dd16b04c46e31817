/**
 * Keeps the server addresses on the interfaces for as long as this replica is leader, and no longer. The kernel is the fence: each address has a
 * lifetime, so it expires by itself if the process is frozen, cut off or dead.
 */
import type { ElectionTimes } from '@vmdhcp/kube-runtime';
import type { AgentPorts, ServerAddress } from '../ports.js';
import { isLeader, type Leadership } from './leadership.js';
import { addressEndMs, MOST_CALL_MS } from './leadership-times.js';
import { type PresentAddress, planServerAddresses, type ServerAddressPlan } from './plan-server-addresses.js';

/** If the kernel call came too late, the address is added again for the remaining time. */
const ATTEMPTS = 2;

export interface ServerAddressesSettings extends Pick<AgentPorts, 'clock' | 'addresses' | 'observer'> {
  readonly times: ElectionTimes;
  /** Read right before each kernel call, because the process may have been frozen since the last one. */
  readonly leadership: () => Leadership;
  /** One for each interface that exists and should be served. */
  readonly wanted: () => readonly ServerAddress[];
  /** Called when the interface has its server address: from now on the leader answers. */
  readonly onAdded: (interfaceName: string) => void;
  readonly onChange: () => void;
}

export class ServerAddresses {
  readonly #settings: ServerAddressesSettings;
  /** By interface. */
  readonly #present = new Map<string, PresentAddress>();
  /** By interface: why a wanted address is missing. */
  readonly #problems = new Map<string, string>();

  constructor(settings: ServerAddressesSettings) {
    this.#settings = settings;
  }

  /** True if the interface has its server address. */
  has(interfaceName: string): boolean {
    return this.#present.get(interfaceName)?.isCertain === true;
  }

  /** True while the interface has, or may have, a server address. */
  mayHave(interfaceName: string): boolean {
    return this.#present.has(interfaceName);
  }

  problemOf(interfaceName: string): string | undefined {
    return this.#problems.get(interfaceName);
  }

  problems(): readonly string[] {
    return [...this.#problems.values()];
  }

  /** Adds missing addresses and removes unwanted ones. Called several times a second while this replica is leader. */
  check(): void {
    this.#remove();
    this.#add((plan) => plan.add);
  }

  /** The same, and prolongs the others, after a renewal of the Lease. */
  renew(): void {
    this.#remove();
    this.#add(({ add, prolong }) => [...add, ...prolong]);
  }

  /** Removes all addresses. False if that failed: then the kernel removes them when their lifetime ends. */
  removeAll(): boolean {
    const isDone = this.#settings.addresses.remove([...this.#present.values()]);
    this.#present.clear();
    this.#problems.clear();
    return isDone;
  }

  #plan(): ServerAddressPlan {
    const { clock, leadership, times, wanted } = this.#settings;
    const current = leadership();
    const nowMs = clock.nowMs();
    const remainingMs = isLeader(current, nowMs) ? addressEndMs(times, current.untilMs) - nowMs : 0;
    return planServerAddresses(wanted(), [...this.#present.values()], remainingMs);
  }

  #remove(): void {
    for (const address of this.#plan().remove) {
      this.#problems.delete(address.interfaceName);
      this.#forget(address);
      this.#settings.onChange();
    }
  }

  #add(select: (plan: ServerAddressPlan) => readonly ServerAddress[]): void {
    let tried: readonly ServerAddress[] = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const plan = this.#plan();
      const due = select(plan);
      if (due.length === 0) break;
      tried = due;
      const failures = this.#settings.addresses.add(due, plan.seconds);
      if (!this.#mayKeep(plan.seconds)) continue;
      this.#note(due, failures);
      return;
    }
    if (tried.length > 0) this.#retract(tried);
  }

  /** Checked after addresses were added: if the process was frozen in between, they would outlive the leadership. */
  #mayKeep(seconds: number): boolean {
    const { clock, leadership, times } = this.#settings;
    const current = leadership();
    const nowMs = clock.nowMs();
    return isLeader(current, nowMs) && nowMs + seconds * 1000 <= addressEndMs(times, current.untilMs) + MOST_CALL_MS;
  }

  #retract(addresses: readonly ServerAddress[]): void {
    const { observer, onChange } = this.#settings;
    observer.observe({ kind: 'addresses-retracted', interfaceNames: addresses.map(({ interfaceName }) => interfaceName) });
    for (const address of addresses) this.#forget(address);
    onChange();
  }

  #forget(address: ServerAddress): void {
    if (this.#settings.addresses.remove([address])) this.#present.delete(address.interfaceName);
    else this.#present.set(address.interfaceName, { ...address, isCertain: false });
  }

  #note(addresses: readonly ServerAddress[], failures: readonly (Error | undefined)[]): void {
    const before = new Set(addresses.filter(({ interfaceName }) => this.has(interfaceName)));
    for (const [index, address] of addresses.entries()) {
      const failure = failures[index];
      this.#present.set(address.interfaceName, { ...address, isCertain: failure === undefined });
      this.#noteProblem(address.interfaceName, failure);
    }
    const added = addresses.filter((address, index) => failures[index] === undefined && !before.has(address));
    for (const address of added) this.#announce(address);
    if (added.length > 0) this.#settings.onChange();
  }

  #noteProblem(interfaceName: string, failure: Error | undefined): void {
    const message = failure && `the server address cannot be kept on interface ${interfaceName}: ${failure.message}`;
    if (this.#problems.get(interfaceName) === message) return;
    if (message === undefined) this.#problems.delete(interfaceName);
    else {
      this.#problems.set(interfaceName, message);
      this.#settings.observer.observe({ kind: 'address-failed', interfaceName, message });
    }
    this.#settings.onChange();
  }

  #announce({ interfaceName, address }: ServerAddress): void {
    const { addresses, observer, onAdded } = this.#settings;
    try {
      addresses.announce(interfaceName, address);
    } catch (error) {
      observer.observe({ kind: 'announcement-failed', interfaceName, error });
    }
    onAdded(interfaceName);
  }
}
