/**
 * What is remembered of machines while they are stopped: learned from instances as they run, and read from the ConfigMaps in which the leader keeps it.
 * Any process has it; the leader alone writes it.
 */
import { type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import type { FormerMacAddresses, InterfaceKnowledge } from '../virtual-machine/machine-interfaces.js';
import { isSameMemory, type MachineMemory, rememberMachine } from '../virtual-machine/machine-memory.js';
import { type MemoryProblem, memoryRecordName, readMemoryRecord } from '../virtual-machine/memory-record.js';
import type { RememberedInterfaces } from '../virtual-machine/remembered-interfaces.js';

export interface MacAddressMemorySettings {
  /** What the VirtualMachineNetworkConfig of a machine has recorded: it needs no second memory. */
  readonly recordedInterfaces: (machineKey: string) => RememberedInterfaces;
  /** Something else is remembered of this machine than before, by what a ConfigMap has. */
  readonly onRead: (machineKey: string) => void;
  /** The ConfigMap of this name is to be written. */
  readonly onUnwritten: (configMap: string) => void;
}

interface RememberedMachine {
  /** Name of its ConfigMap. */
  readonly configMap: string;
  readonly memory: MachineMemory;
}

const NOTHING: ReadonlyMap<string, MachineMemory> = new Map();

export class MacAddressMemory {
  readonly #settings: MacAddressMemorySettings;
  readonly #machines = new Map<string, RememberedMachine>();
  /** By name, what the ConfigMaps had when they were last read. */
  readonly #read = new Map<string, ReadonlyMap<string, MachineMemory>>();

  constructor(settings: MacAddressMemorySettings) {
    this.#settings = settings;
  }

  /** What the virtual machine had when it ran, as far as that is to be remembered; it learns from the instance that runs. */
  note(virtualMachine: KubernetesObject, { instance }: Pick<InterfaceKnowledge, 'instance'>): FormerMacAddresses | undefined {
    const key = keyOf(virtualMachine);
    const before = this.#machines.get(key)?.memory;
    const remembered = this.#settings.recordedInterfaces(key);
    const now = rememberMachine(virtualMachine, before, { instance, remembered });
    if (!isSameMemory(before, now)) this.#remember(key, now);
    return now?.macAddresses;
  }

  /** The virtual machine is gone. */
  forget(key: string): void {
    if (this.#machines.has(key)) this.#remember(key, undefined);
  }

  /**
   * A ConfigMap has changed; undefined: it is gone. Nothing is forgotten because an entry is missing: its machine may run.
   *
   * @param isBelieved - false: it is the writing process itself, which knows better.
   * @returns entries that do not count.
   */
  readRecord(name: string, configMap: KubernetesObject | undefined, isBelieved: boolean): readonly MemoryProblem[] {
    const { machines, problems } = readMemoryRecord(configMap);
    const before = this.#read.get(name) ?? NOTHING;
    this.#read.set(name, machines);
    if (!isBelieved) return problems;
    for (const [key, memory] of machines) {
      if (isSameMemory(before.get(key), memory)) continue;
      this.#machines.set(key, { configMap: name, memory });
      this.#settings.onRead(key);
    }
    return problems;
  }

  /**
   * What belongs into the ConfigMap of this name, by key of the machine.
   *
   * @param uidOf - UID of the virtual machine with a key; undefined: there is none. What is remembered of others is forgotten.
   */
  recordOf(name: string, uidOf: (key: string) => string | undefined): ReadonlyMap<string, MachineMemory> {
    const machines = new Map<string, MachineMemory>();
    for (const [key, { configMap, memory }] of this.#machines) {
      if (configMap !== name) continue;
      if (uidOf(key) === memory.uid) machines.set(key, memory);
      else this.#machines.delete(key);
    }
    return machines;
  }

  #remember(key: string, memory: MachineMemory | undefined): void {
    const configMap = this.#machines.get(key)?.configMap ?? memoryRecordName(key);
    if (memory === undefined) this.#machines.delete(key);
    else this.#machines.set(key, { configMap, memory });
    this.#settings.onUnwritten(configMap);
  }
}
