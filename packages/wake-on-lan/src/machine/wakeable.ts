/**
 * Which machines may be woken: the union of what each configuration allows, never more. A machine is allowed if one configuration
 * alone allows it; settings that another configuration omits do not extend it.
 */
import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';
import { oneOfEachNamespaceFirst } from './one-of-each-namespace-first.js';
import {
  type Allowance,
  allowanceOf,
  type MachineKey,
  machineKey,
  mappedAddresses,
  type WakeConfig,
  type WakeMachine,
} from './wake-config.js';

/** A machine that may be woken, and the names of the configurations that allow it, sorted. */
export interface AllowedMachine {
  readonly machine: WakeMachine;
  readonly configs: readonly string[];
  /** True if one of these configurations maps the address to it, so that it needs no interface with it. */
  readonly isMapped: boolean;
}

/** What a MAC address stands for: one machine, none, or several. */
export type WakeTarget =
  | ({ readonly kind: 'machine' } & AllowedMachine)
  /** No configuration allows a machine by this address, or there is none. */
  | { readonly kind: 'not-allowed' }
  /**
   * More than one machine is allowed by this address, and not exactly one of them by a mapping. None is woken. One of each
   * namespace comes before the second one of any.
   */
  | { readonly kind: 'ambiguous'; readonly machines: readonly AllowedMachine[] };

/** What one packet wakes. */
export type PacketTarget =
  | WakeTarget
  /** Each configuration that allows a machine by this address requires a password that was not checked; their names. */
  | { readonly kind: 'needs-password'; readonly configs: readonly string[] };

/** An address that would wake more than one machine, and so wakes none. */
export interface DuplicateAddress {
  readonly macAddress: MacAddress;
  /** One of each namespace comes before the second one of any. */
  readonly machines: readonly MachineKey[];
}

/** The index of wakeable machines, by MAC address. The order of configurations and machines does not matter. */
export function wakeable(configs: readonly WakeConfig[], machines: Iterable<WakeMachine>): WakeIndex {
  const index = new WakeIndex(configs);
  for (const machine of machines) index.set(machine);
  return index;
}

/** The machines that may be woken, kept up to date one machine at a time. */
export class WakeIndex {
  readonly #allowances: readonly { readonly name: string; readonly allowance: Allowance }[];
  /** Names of configurations whose mappings name each machine. */
  readonly #explicit: ReadonlySet<string>;
  /** Addresses of mappings: they belong only to the mapped machines, even while these do not exist. */
  readonly #mapped: ReadonlySet<MacAddress>;
  /** `SECRET/KEY` by the name of each configuration that requires a password. */
  readonly #passwords: ReadonlyMap<string, string>;
  readonly #machines = new Map<MachineKey, WakeMachine>();
  readonly #addresses = new Map<MachineKey, ReadonlyMap<MacAddress, readonly string[]>>();
  readonly #allowed = new Map<MacAddress, Set<MachineKey>>();
  readonly #duplicates = new Set<MacAddress>();
  readonly #managed = new Map<string, number>();

  /** Without machines. */
  constructor(configs: readonly WakeConfig[]) {
    this.#explicit = new Set(configs.filter(({ mode }) => mode === 'Explicit').map(({ name }) => name));
    this.#mapped = new Set(configs.flatMap(mappedAddresses));
    this.#passwords = new Map(
      configs.flatMap(({ name, passwordSecret }) => (passwordSecret === undefined ? [] : [[name, passwordSecret] as const])),
    );
    this.#allowances = configs.map((config) => ({ name: config.name, allowance: allowanceOf(config) }));
  }

  /** The number of wakeable machines. */
  get size(): number {
    return this.#addresses.size;
  }

  /** `SECRET/KEY` of each password that a configuration requires. */
  get passwords(): ReadonlySet<string> {
    return new Set(this.#passwords.values());
  }

  /** Adds or updates a machine. The time depends on the number of configurations, not of machines. */
  set(machine: WakeMachine): void {
    const key = machineKey(machine);
    this.delete(machine);
    this.#machines.set(key, machine);
    const addresses = this.#addressesOf(machine);
    if (addresses.size === 0) return;
    this.#addresses.set(key, addresses);
    for (const macAddress of addresses.keys()) this.#allow(macAddress, key);
    this.#count(addresses, 1);
  }

  /** Removes a machine; does nothing if it is not there. */
  delete(machine: Pick<WakeMachine, 'namespace' | 'name'>): void {
    const key = machineKey(machine);
    this.#machines.delete(key);
    const addresses = this.#addresses.get(key);
    if (addresses === undefined) return;
    this.#addresses.delete(key);
    for (const macAddress of addresses.keys()) this.#disallow(macAddress, key);
    this.#count(addresses, -1);
  }

  /** The machine of this address, in its canonical spelling, whichever passwords the configurations require. */
  find(macAddress: MacAddress): WakeTarget {
    const machines = oneOfEachNamespaceFirst(this.#allowed.get(macAddress) ?? []).flatMap((key) =>
      this.#allowedMachine(key, macAddress),
    );
    // A mapping by an administrator is never ambiguous: otherwise the owner of another machine could stop its wake-ups by copying
    // the address, or get them while it is replaced.
    const [one, ...others] = this.#mapped.has(macAddress) ? machines.filter(({ isMapped }) => isMapped) : machines;
    if (one === undefined) return { kind: 'not-allowed' };
    return others.length === 0 ? { kind: 'machine', ...one } : { kind: 'ambiguous', machines };
  }

  /**
   * What a packet for this address wakes. A password decides whether it wakes its machine, but never which machine that is.
   * @param checked - `SECRET/KEY` of the password in the packet; undefined if none was checked.
   */
  findForPacket(macAddress: MacAddress, checked: string | undefined): PacketTarget {
    const target = this.find(macAddress);
    if (target.kind === 'not-allowed' || this.#passwords.size === 0) return target;
    const machines = target.kind === 'machine' ? [target] : target.machines;
    const configs = [...new Set(machines.flatMap((one) => one.configs))];
    if (!configs.some((name) => this.#isSatisfied(name, checked))) return { kind: 'needs-password', configs: configs.toSorted() };
    if (target.kind === 'ambiguous') return target;
    return this.#allowedBy(
      target,
      target.configs.filter((name) => this.#isSatisfied(name, checked)),
    );
  }

  /**
   * Every address by which a packet may wake a machine, or would wake several and so wakes none; in no order. @param checked -
   * see `findForPacket`.
   */
  addressesForPacket(checked: string | undefined): MacAddress[] {
    const addresses = [...this.addresses()];
    if (this.#passwords.size === 0) return addresses;
    return addresses.filter((macAddress) => this.findForPacket(macAddress, checked).kind !== 'needs-password');
  }

  /** Every address by which one or more machines may be woken; in no order. */
  *addresses(): IterableIterator<MacAddress> {
    for (const macAddress of this.#allowed.keys())
      if (!this.#mapped.has(macAddress) || this.find(macAddress).kind !== 'not-allowed') yield macAddress;
  }

  /** Every address that wakes none of its machines because there is more than one, sorted. */
  duplicates(): DuplicateAddress[] {
    return [...this.#duplicates].toSorted().flatMap((macAddress) => {
      const target = this.find(macAddress);
      return target.kind === 'ambiguous'
        ? [{ macAddress, machines: target.machines.map(({ machine }) => machineKey(machine)) }]
        : [];
    });
  }

  /** The mappings of a configuration whose machine does not exist, as `namespace/name`, sorted. */
  missingMachines(config: WakeConfig): MachineKey[] {
    if (config.mode !== 'Explicit') return [];
    return [...new Set(config.mappings.map(machineKey))].filter((key) => !this.#machines.has(key)).toSorted();
  }

  /** The number of machines that the configuration of this name allows. */
  managedBy(config: string): number {
    return this.#managed.get(config) ?? 0;
  }

  #isSatisfied(config: string, checked: string | undefined): boolean {
    const demanded = this.#passwords.get(config);
    return demanded === undefined || demanded === checked;
  }

  /** The names of the configurations that allow it, by MAC address. */
  #addressesOf(machine: WakeMachine): ReadonlyMap<MacAddress, readonly string[]> {
    const addresses = new Map<MacAddress, string[]>();
    for (const { name, allowance } of this.#allowances) {
      for (const macAddress of allowance(machine)) {
        const names = addresses.get(macAddress) ?? [];
        addresses.set(macAddress, [...names, name].toSorted());
      }
    }
    return addresses;
  }

  #allowedMachine(key: MachineKey, macAddress: MacAddress): AllowedMachine[] {
    const machine = this.#machines.get(key);
    const configs = this.#addresses.get(key)?.get(macAddress);
    return machine === undefined || configs === undefined ? [] : [this.#allowedBy({ machine }, configs)];
  }

  #allowedBy<Machine extends Pick<AllowedMachine, 'machine'>>(machine: Machine, configs: readonly string[]) {
    return { ...machine, configs, isMapped: configs.some((name) => this.#explicit.has(name)) };
  }

  #allow(macAddress: MacAddress, key: MachineKey): void {
    const keys = this.#allowed.get(macAddress) ?? new Set();
    this.#allowed.set(macAddress, keys.add(key));
    if (keys.size > 1) this.#duplicates.add(macAddress);
  }

  #disallow(macAddress: MacAddress, key: MachineKey): void {
    const keys = this.#allowed.get(macAddress);
    keys?.delete(key);
    if (keys?.size === 0) this.#allowed.delete(macAddress);
    if ((keys?.size ?? 0) < 2) this.#duplicates.delete(macAddress);
  }

  #count(addresses: ReadonlyMap<MacAddress, readonly string[]>, difference: number): void {
    for (const config of new Set([...addresses.values()].flat()))
      this.#managed.set(config, (this.#managed.get(config) ?? 0) + difference);
  }
}
