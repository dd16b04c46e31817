/** The machines and their MAC addresses, computed for Wake-on-LAN from the caches of the DHCP controller, and updated one machine at a time. */
import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import { type InterfaceKnowledge, macAddressesOf, machineInterfaces } from '../virtual-machine/machine-interfaces.js';
import type { ObjectSource } from './cluster-view.js';
import type { MacAddressMemory } from './mac-address-memory.js';
import { MacAddressOwners } from './mac-address-owners.js';
import type { ListedMachine, MachineInventory } from './machine-inventory.js';

/** Where the MAC addresses of virtual machines come from. */
export interface MachineAddressesSettings {
  readonly virtualMachines: ObjectSource;
  /** Returns the current knowledge about a virtual machine besides its own object. */
  readonly knowledgeOf: (virtualMachine: KubernetesObject) => InterfaceKnowledge;
  /** Default: without memory, MAC addresses that are in no object are forgotten when the machine stops. */
  readonly memory?: Pick<MacAddressMemory, 'note' | 'forget'> | undefined;
}

/** A machine with its MAC addresses in canonical spelling. */
interface KnownMachine extends ListedMachine {
  readonly macAddresses: readonly MacAddress[];
}

const NO_LABELS: Readonly<Record<string, string>> = {};

export class MachineAddresses implements MachineInventory {
  readonly #settings: MachineAddressesSettings;
  readonly #machines = new Map<string, KnownMachine>();
  readonly #owners = new MacAddressOwners();
  readonly #listeners = new Set<(key: string) => void>();
  readonly #waiting = new Set<() => void>();
  #synced = false;

  constructor(settings: MachineAddressesSettings) {
    this.#settings = settings;
  }

  get synced(): boolean {
    return this.#synced;
  }

  /** The number of machines. */
  get size(): number {
    return this.#machines.size;
  }

  machines(): Iterable<ListedMachine> {
    return this.#machines.values();
  }

  get(key: string): ListedMachine | undefined {
    return this.#machines.get(key);
  }

  /** Keys of the machines that have this MAC address in its canonical spelling, on whatever network; sorted. More than one: they are duplicates. */
  machinesWith(macAddress: MacAddress): readonly string[] {
    return this.#owners.of(macAddress);
  }

  onChange(listener: (key: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onSynced(listener: () => void): () => void {
    if (this.#synced) listener();
    else this.#waiting.add(listener);
    return () => this.#waiting.delete(listener);
  }

  /** Notes a change of a virtual machine, or of the knowledge about it. */
  note(key: string): void {
    const object = this.#settings.virtualMachines.get(key);
    const before = this.#machines.get(key);
    const now = object && this.#read(object);
    if (isSame(before, now)) return;
    if (now === undefined) {
      this.#machines.delete(key);
      this.#settings.memory?.forget(key);
    } else this.#machines.set(key, now);
    this.#noteOwner(key, before?.macAddresses ?? [], now?.macAddresses ?? []);
    for (const listener of [...this.#listeners]) listener(key);
  }

  #noteOwner(key: string, before: readonly MacAddress[], now: readonly MacAddress[]): void {
    for (const macAddress of before) this.#owners.remove(macAddress, key);
    for (const macAddress of now) this.#owners.add(macAddress, key);
  }

  /** Notes all of them. */
  noteAll(): void {
    for (const virtualMachine of this.#settings.virtualMachines.values()) this.note(keyOf(virtualMachine));
  }

  /** Called when everything that the addresses depend on is listed. */
  complete(): void {
    if (this.#synced) return;
    // Some were noted before their instances and memory were known.
    this.noteAll();
    this.#synced = true;
    for (const listener of [...this.#waiting]) listener();
    this.#waiting.clear();
  }

  #read(object: KubernetesObject): KnownMachine {
    const { namespace = '', name, uid, labels = NO_LABELS } = object.metadata;
    const { knowledgeOf, memory } = this.#settings;
    const knowledge = knowledgeOf(object);
    const formerMacAddresses = memory?.note(object, knowledge);
    const macAddresses = macAddressesOf(machineInterfaces(object, { ...knowledge, formerMacAddresses }));
    return { namespace, name, ...(uid !== undefined && { uid }), labels, macAddresses };
  }
}

function isSame(one: KnownMachine | undefined, other: KnownMachine | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.uid === other.uid && hasSameItems(one.macAddresses, other.macAddresses) && hasSameLabels(one.labels, other.labels);
}

function hasSameItems(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}

function hasSameLabels(some: ListedMachine['labels'], others: ListedMachine['labels']): boolean {
  const keys = Object.keys(some);
  return keys.length === Object.keys(others).length && keys.every((key) => some[key] === others[key]);
}
