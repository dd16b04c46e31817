/**
 * Stores the MAC addresses of stopped machines in ConfigMaps in the agents' namespace, never in the VirtualMachines themselves, which their owners
 * may keep in git. A hash of a machine's name selects its ConfigMap, so that a change of one machine rewrites at most a sixteenth of all.
 *
 * @example
 * data:
 *   lab.web: '{"uid":"6f1c...","interfaces":{"default":"02:00:5e:10:00:01"}}'
 */
import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { compareText, fnv1a64, isRecord, type KubernetesObject, quote, readField, readText } from '@vmdhcp/kube-runtime';
import { isOfMachine, type MachineMemory, MOST_REMEMBERED } from './machine-memory.js';

const SHARDS = 16;
const NAME_PREFIX = 'vmdhcp-mac-addresses-';
/** Source: Kubernetes, ConfigMap `data`: keys are at most 253 characters long. */
const LONGEST_ENTRY = 253;

/** The name of the ConfigMap that has the machine of this key. */
export function memoryRecordName(machineKey: string): string {
  return `${NAME_PREFIX}${(fnv1a64(machineKey) % BigInt(SHARDS)).toString(SHARDS)}`;
}

/** The names of all ConfigMaps. */
export function memoryRecordNames(): string[] {
  return Array.from({ length: SHARDS }, (_, shard) => `${NAME_PREFIX}${shard.toString(SHARDS)}`);
}

/** The entry of a machine; undefined if its name and namespace are too long together. */
export function memoryEntryName(machineKey: string): string | undefined {
  // A namespace never contains a dot.
  const entry = machineKey.replace('/', '.');
  return entry.length <= LONGEST_ENTRY ? entry : undefined;
}

/** The key of the machine with this entry. */
export function machineOfEntry(entry: string): string {
  return entry.replace('.', '/');
}

/** An ignored part of a ConfigMap. */
export interface MemoryProblem {
  /** Name of the ConfigMap. */
  readonly configMap: string;
  /** The key in `data`. */
  readonly entry: string;
  /** What is wrong, where, and the consequence. */
  readonly message: string;
}

export interface MemoryRecord {
  /** By key of the machine. */
  readonly machines: ReadonlyMap<string, MachineMemory>;
  readonly problems: readonly MemoryProblem[];
}

/** The content of a ConfigMap, empty if it is missing. An invalid part is a problem, and does not affect others. Never throws. */
export function readMemoryRecord(configMap: KubernetesObject | undefined): MemoryRecord {
  const machines = new Map<string, MachineMemory>();
  const problems: MemoryProblem[] = [];
  const { name = '' } = configMap?.metadata ?? {};
  const data = readField(configMap, 'data');
  for (const [entry, text] of Object.entries(isRecord(data) ? data : {})) {
    const key = machineOfEntry(entry);
    const read = memoryRecordName(key) === name ? readEntry(text) : 'it belongs into another ConfigMap';
    if (typeof read === 'object') machines.set(key, read);
    else {
      const message = `ConfigMap ${name}, entry ${quote(entry)}: ${read}; it does not count, and the controller removes it`;
      problems.push({ configMap: name, entry, message });
    }
  }
  return { machines, problems };
}

/** The memory, or what is wrong. */
function readEntry(text: unknown): MachineMemory | string {
  const value = parseJson(text);
  const uid = readText(value, 'uid');
  const interfaces = readField(value, 'interfaces');
  if (!uid || !isRecord(interfaces)) return 'it is not a JSON object with uid and interfaces';
  const entries = Object.entries(interfaces);
  if (entries.length === 0 || entries.length > MOST_REMEMBERED) return `it has not one to ${MOST_REMEMBERED} interfaces`;
  const macAddresses = new Map<string, MacAddress>();
  for (const [name, written] of entries) {
    const macAddress = typeof written === 'string' ? parseMacAddress(written) : undefined;
    if (macAddress === undefined || !isOfMachine(macAddress)) return `interface ${quote(name)} has no MAC address of a machine`;
    macAddresses.set(name, macAddress);
  }
  return { uid, macAddresses };
}

function parseJson(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** The value of an entry; the same memory gives the same text. */
export function formatMemory({ uid, macAddresses }: MachineMemory): string {
  const interfaces = [...macAddresses].toSorted(([one], [other]) => compareText(one, other));
  return JSON.stringify({ uid, interfaces: Object.fromEntries(interfaces) });
}
