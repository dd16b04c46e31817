import { MAC_ADDRESS_MEMORY_LABEL } from '@vmdhcp/ippool-api';
import { compareText, isRecord, type KubernetesObject, type MergePatch, octetsOf, readField } from '@vmdhcp/kube-runtime';
import type { MachineMemory } from './machine-memory.js';
import { formatMemory, type MemoryProblem, machineOfEntry, memoryEntryName } from './memory-record.js';

/** The API server refuses a ConfigMap of more than a mebibyte, and each write of a larger object costs more. */
const MOST_OCTETS = 450_000;

export interface MemoryRecordNeeds {
  /** The name of the ConfigMap. */
  readonly namespace: string;
  readonly name: string;
  /** The machines whose entries belong to it, by key. */
  readonly machines: ReadonlyMap<string, MachineMemory>;
  /** True for machines that this controller sees; entries of others stay as they are. */
  readonly isSeen: (machineKey: string) => boolean;
}

export interface MemoryRecordPlan {
  /** Undefined if it is correct. */
  readonly action:
    | { readonly kind: 'create'; readonly object: KubernetesObject }
    | { readonly kind: 'patch'; readonly patch: MergePatch }
    | undefined;
  /** Machines that are not remembered, and why. */
  readonly problems: readonly MemoryProblem[];
}

/** Plans the change after which the ConfigMap (undefined if there is none) has exactly the entries of these machines. */
export function planMemoryRecord(needs: MemoryRecordNeeds, observed: KubernetesObject | undefined): MemoryRecordPlan {
  const present = readData(observed);
  const problems: MemoryProblem[] = [];
  const wanted = fittingEntries(needs, present, problems);
  const labels = { [MAC_ADDRESS_MEMORY_LABEL]: 'true' };
  if (observed === undefined) {
    if (wanted.size === 0) return { action: undefined, problems };
    const { namespace, name } = needs;
    const metadata = { namespace, name, labels };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: Object.fromEntries(wanted) };
    return { action: { kind: 'create', object }, problems };
  }
  const removed = [...present.keys()].filter((entry) => !wanted.has(entry));
  const changed = [...wanted].filter(([entry, text]) => present.get(entry) !== text);
  const isLabelled = observed.metadata.labels?.[MAC_ADDRESS_MEMORY_LABEL] === 'true';
  const isRight = removed.length === 0 && changed.length === 0;
  if (isRight && isLabelled) return { action: undefined, problems };
  const data = Object.fromEntries([...removed.map((entry) => [entry, null] as const), ...changed]);
  const patch = { ...(!isLabelled && { metadata: { labels } }), ...(!isRight && { data }) };
  return { action: { kind: 'patch', patch }, problems };
}

function readData(configMap: KubernetesObject | undefined): Map<string, unknown> {
  const data = readField(configMap, 'data');
  return new Map(Object.entries(isRecord(data) ? data : {}));
}

/** Entry to text. If there is no room for all, existing entries stay: new machines do not evict others. */
function fittingEntries(
  { name, machines, isSeen }: MemoryRecordNeeds,
  present: ReadonlyMap<string, unknown>,
  problems: MemoryProblem[],
): Map<string, unknown> {
  const fitting = new Map([...present].filter(([entry]) => !isSeen(machineOfEntry(entry))));
  let octets = sum([...fitting].map(sizeOf));
  const rank = (key: string) => (present.has(memoryEntryName(key) ?? '') ? '0' : '1') + key;
  const leftOut: string[] = [];
  for (const [key, memory] of [...machines].toSorted(([one], [other]) => compareText(rank(one), rank(other)))) {
    const entry = memoryEntryName(key);
    const text = formatMemory(memory);
    const size = sizeOf([entry ?? '', text]);
    if (entry === undefined) problems.push(notRemembered(name, key, 'its namespace and name are too long together'));
    else if (octets + size > MOST_OCTETS) leftOut.push(key);
    else {
      fitting.set(entry, text);
      octets += size;
    }
  }
  const [first] = leftOut;
  // One problem for all, because there may be thousands.
  if (first !== undefined) problems.push(notRemembered(name, first, `ConfigMap ${name} is full, also for others`));
  return fitting;
}

function notRemembered(configMap: string, machineKey: string, fault: string): MemoryProblem {
  const effect = 'its MAC addresses are not known when it is stopped and the controller starts again';
  const message = `virtual machine ${machineKey}: ${fault}; ${effect}; write a macAddress into its template`;
  return { configMap, entry: machineKey, message };
}

/** Octets of an entry in JSON. */
function sizeOf(entry: readonly [string, unknown]): number {
  return octetsOf(JSON.stringify(entry));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
