/** Who may be woken by which address, as of now: from all WolConfigs and the virtual machines of the cluster. */
import type { Clock } from '@vmdhcp/kube-runtime';
import type { ReadWolConfig } from '../config/read-wol-config.js';
import type { WakeUpPolicy } from '../machine/plan-wake-up.js';
import type { WakeConfig } from '../machine/wake-config.js';
import { type DuplicateAddress, type PacketTarget, type WakeIndex, wakeable } from '../machine/wakeable.js';
import type { MachineSource } from './machine-source.js';

/** The addresses that agents report. */
export interface FollowedAddresses {
  /**
   * All of them now that a packet may wake, in no order and in the canonical spelling; also those that lead to two machines, whose wake-ups are refused with that reason.
   * @param passwordSecret - `SECRET/KEY` of the password that it had; undefined: none was checked.
   */
  readonly snapshot: (passwordSecret?: string) => readonly string[];
  /** `SECRET/KEY` of each password that a WolConfig demands. */
  readonly passwords: () => ReadonlySet<string>;
  /** Calls the listener after changes, once for all of a moment. @returns what ends that. */
  readonly onChange: (listener: () => void) => () => void;
}

/** What a decision about a wake-up reads. */
export interface WakeableMachines {
  /** What a packet for this address, in the canonical spelling, wakes. @param passwordSecret - `SECRET/KEY` of the password that it had; undefined: none was checked. */
  readonly find: (macAddress: string, passwordSecret?: string) => PacketTarget;
  /** How many virtual machines may be woken. */
  readonly size: () => number;
  /** What waking does where one of these WolConfigs, by name, allows it. */
  readonly policyOf: (configs: readonly string[]) => WakeUpPolicy;
  readonly addresses: FollowedAddresses;
}

/** Agents learn of changes after this time. */
const GATHER_MS = 100;

interface IndexSettings {
  readonly inventory: Pick<MachineSource, 'machines' | 'get' | 'onChange'>;
  readonly clock: Clock;
  /** A machine has changed: what the status of WolConfigs counts and names may be another. */
  readonly onMachineChange: () => void;
}

export class WakeableMachineIndex implements WakeableMachines {
  readonly #settings: IndexSettings;
  readonly #listeners = new Set<() => void>();
  #stopFollowing: () => void = () => undefined;
  #callOffNotice: (() => void) | undefined;
  /** Undefined: it is built anew when it is read. WolConfigs mostly change several at a time. */
  #built: WakeIndex | undefined;
  #configs: readonly ReadWolConfig[] = [];

  constructor(settings: IndexSettings) {
    this.#settings = settings;
  }

  readonly addresses: FollowedAddresses = {
    snapshot: (passwordSecret) => this.#current().addressesForPacket(passwordSecret),
    passwords: () => this.#current().passwords,
    onChange: (listener) => {
      // The same listener twice is called twice.
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

  /** The WolConfigs that are used. Only where one allows something else than before, every machine is looked at again, at the next question. */
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

  /** How many machines the WolConfig of this name allows. */
  managedBy(config: string): number {
    return this.#current().managedBy(config);
  }

  /** The addresses that lead to more than one machine, of which a WolConfig allows one, by its name. */
  duplicates(): ReadonlyMap<string, readonly DuplicateAddress[]> {
    const byConfig = new Map<string, DuplicateAddress[]>();
    for (const duplicate of this.#current().duplicates()) {
      const target = this.#current().find(duplicate.macAddress);
      const machines = target.kind === 'ambiguous' ? target.machines : [];
      for (const config of new Set(machines.flatMap(({ configs }) => configs))) {
        const known = byConfig.get(config);
        // A copy of the list for each address would take seconds where a tenant has made ten thousand of them.
        if (known === undefined) byConfig.set(config, [duplicate]);
        else known.push(duplicate);
      }
    }
    return byConfig;
  }

  /** `namespace/name` of the machines that mappings name and that do not exist, sorted. */
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
      // Also where no listener asks: the first wake-up after a change should not wait for it.
      this.#current();
      for (const listener of [...this.#listeners]) listener();
    });
  }
}
