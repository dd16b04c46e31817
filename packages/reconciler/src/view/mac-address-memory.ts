/**
 * The memory of MAC addresses of stopped machines: learned from running instances, and read from the ConfigMaps in which the leader keeps it. Every
 * process has it, but only the leader writes it.
 */
import { type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import type { FormerMacAddresses, InterfaceKnowledge } from '../virtual-machine/machine-interfaces.js';
import { isSameMemory, type MachineMemory, rememberMachine } from '../virtual-machine/machine-memory.js';
import { type MemoryProblem, memoryRecordName, readMemoryRecord } from '../virtual-machine/memory-record.js';
import type { RememberedInterfaces } from '../virtual-machine/remembered-interfaces.js';

export interface MacAddressMemorySettings {
  /** The record in the VirtualMachineNetworkConfig of a machine, which needs no second memory. */
  readonly recordedInterfaces: (machineKey: string) => RememberedInterfaces;
  /** A ConfigMap has changed the memory of this machine. */
  readonly onRead: (machineKey: string) => void;
  /** The ConfigMap of this name must be written. */
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
  /** By name: the content of the ConfigMaps when they were last read. */
  readonly #read = new Map<string, ReadonlyMap<string, MachineMemory>>();

  constructor(settings: MacAddressMemorySettings) {
    this.#settings = settings;
  }

  /** The remembered MAC addresses of the virtual machine; updates them from a running instance. */
  note(virtualMachine: KubernetesObject, { instance }: Pick<InterfaceKnowledge, 'instance'>): FormerMacAddresses | undefined {
    const key = keyOf(virtualMachine);
    const before = this.#machines.get(key)?.memory;
    const remembered = this.#settings.recordedInterfaces(key);
    const now = rememberMachine(virtualMachine, before, { instance, remembered });
    if (!isSameMemory(before, now)) this.#remember(key, now);
    return now?.macAddresses;
  }

  /** Forgets a deleted virtual machine. */
  forget(key: string): void {
    if (this.#machines.has(key)) this.#remember(key, undefined);
  }

  /**
   * Updates from a changed ConfigMap; undefined if it is gone. A missing entry forgets nothing, because its machine may be running.
   *
   * @param isBelieved - false for the writing process itself, which knows better.
   * @returns ignored entries.
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
   * The wanted content of the ConfigMap of this name, by key of the machine.
   *
   * @param uidOf - UID of the virtual machine with a key; undefined if there is none. The memory of other UIDs is dropped.
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
