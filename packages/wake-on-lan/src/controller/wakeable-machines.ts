/** Which machines may be woken by which address now, from all WolConfigs and the virtual machines of the cluster. */
import type { Clock } from '@vmdhcp/kube-runtime';
import type { ReadWolConfig } from '../config/read-wol-config.js';
import type { WakeUpPolicy } from '../machine/plan-wake-up.js';
import type { WakeConfig } from '../machine/wake-config.js';
import { type DuplicateAddress, type PacketTarget, type WakeIndex, wakeable } from '../machine/wakeable.js';
import type { MachineSource } from './machine-source.js';

/** The addresses that agents report. */
export interface FollowedAddresses {
  /**
   * All addresses that a packet may wake now, in no order and in the canonical spelling; includes those that lead to two
   * machines, whose wake-ups are refused with that reason.
   * @param passwordSecret - `SECRET/KEY` of the password in the packet; undefined if none was checked.
   */
  readonly snapshot: (passwordSecret?: string) => readonly string[];
  /** `SECRET/KEY` of each password that a WolConfig requires. */
  readonly passwords: () => ReadonlySet<string>;
  /** Calls the listener after changes, once for several in a short time. @returns a function that ends that. */
  readonly onChange: (listener: () => void) => () => void;
}

/** What a decision about a wake-up reads. */
export interface WakeableMachines {
  /**
   * What a packet for this address, in the canonical spelling, wakes. @param passwordSecret - `SECRET/KEY` of the password in the
   * packet; undefined if none was checked.
   */
  readonly find: (macAddress: string, passwordSecret?: string) => PacketTarget;
  /** The number of virtual machines that may be woken. */
  readonly size: () => number;
  /** The policy of waking if one of these WolConfigs, by name, allows it. */
  readonly policyOf: (configs: readonly string[]) => WakeUpPolicy;
  readonly addresses: FollowedAddresses;
}

/** Agents learn of changes after this time. */
const GATHER_MS = 100;

interface IndexSettings {
  readonly inventory: Pick<MachineSource, 'machines' | 'get' | 'onChange'>;
  readonly clock: Clock;
  /** Called when a machine has changed: the counts and names in the status of WolConfigs may change. */
  readonly onMachineChange: () => void;
}

export class WakeableMachineIndex implements WakeableMachines {
  readonly #settings: IndexSettings;
  readonly #listeners = new Set<() => void>();
  #stopFollowing: () => void = () => undefined;
  #callOffNotice: (() => void) | undefined;
  /** Undefined: it is rebuilt when it is read. WolConfigs usually change several at a time. */
  #built: WakeIndex | undefined;
  #configs: readonly ReadWolConfig[] = [];

  constructor(settings: IndexSettings) {
    this.#settings = settings;
  }

  readonly addresses: FollowedAddresses = {
    snapshot: (passwordSecret) => this.#current().addressesForPacket(passwordSecret),
    passwords: () => this.#current().passwords,
    onChange: (listener) => {
      // Adding the same listener twice calls it twice.
      const call = () => listener();
      this.#listeners.add(call);
      return () => void this.#listeners.delete(call);
    },
  };

  start(): void {
    const { inventory } = this.#settings;
    this.#stopFollowing = inventory.onChange((key) => this.#update(key));
    this.#built = undefined;
    this.#notify();
  }

  stop(): void {
    this.#stopFollowing();
    this.#callOffNotice?.();
    this.#listeners.clear();
  }

  /** Sets the WolConfigs in use. Only if what one of them allows has changed, every machine is checked again, at the next query. */
  setConfigs(configs: readonly ReadWolConfig[]): void {
    const isSame =
      configs.length === this.#configs.length &&
      configs.every(({ allows }, index) => JSON.stringify(allows) === JSON.stringify(this.#configs[index]?.allows));
    this.#configs = configs;
    if (isSame) return;
    this.#built = undefined;
    this.#notify();
  }

  readonly find = (macAddress: string, passwordSecret?: string): PacketTarget =>
    this.#current().findForPacket(macAddress, passwordSecret);

  readonly size = (): number => this.#current().size;

  readonly policyOf = (configs: readonly string[]): WakeUpPolicy => ({
    unpauses: this.#configs.some(({ name, policy }) => policy.unpauses && configs.includes(name)),
  });

  /** The number of machines that the WolConfig of this name allows. */
  managedBy(config: string): number {
    return this.#current().managedBy(config);
  }

  /** The addresses that lead to more than one machine, at least one of which the WolConfig of this name allows. */
  duplicates(): ReadonlyMap<string, readonly DuplicateAddress[]> {
    const byConfig = new Map<string, DuplicateAddress[]>();
    for (const duplicate of this.#current().duplicates()) {
      const target = this.#current().find(duplicate.macAddress);
      const machines = target.kind === 'ambiguous' ? target.machines : [];
      for (const config of new Set(machines.flatMap(({ configs }) => configs))) {
        const known = byConfig.get(config);
        // Copying the list for each address would take seconds if a tenant has created ten thousand machines with it.
        if (known === undefined) byConfig.set(config, [duplicate]);
        else known.push(duplicate);
      }
    }
    return byConfig;
  }

  /** `namespace/name` of the machines in mappings that do not exist, sorted. */
  missingMachines(config: WakeConfig): readonly string[] {
    return this.#current().missingMachines(config);
  }

  #current(): WakeIndex {
    const { inventory } = this.#settings;
    this.#built ??= wakeable(
      this.#configs.map(({ allows }) => allows),
      inventory.machines(),
    );
    return this.#built;
  }

  #update(key: string): void {
    const machine = this.#settings.inventory.get(key);
    const slash = key.indexOf('/');
    if (machine === undefined) this.#built?.delete({ namespace: key.slice(0, slash), name: key.slice(slash + 1) });
    else this.#built?.set(machine);
    this.#settings.onMachineChange();
    this.#notify();
  }

  #notify(): void {
    this.#callOffNotice ??= this.#settings.clock.after(GATHER_MS, () => {
      this.#callOffNotice = undefined;
      // Also without listeners: the first wake-up after a change should not wait for it.
      this.#current();
      for (const listener of [...this.#listeners]) listener();
    });
  }
}
