/**
 * Decides which MAC addresses of a virtual machine to remember: those that KubeVirt chose at its start, and that no object contains once it has
 * stopped. The template, Harvester's annotation and the VirtualMachineNetworkConfig need no memory.
 */
import { isGroupMacAddress, type MacAddress } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { type FormerMacAddresses, type InterfaceKnowledge, isUncertain, machineInterfaces } from './machine-interfaces.js';

/** The memory of one virtual machine. */
export interface MachineMemory {
  /** UID of the VirtualMachine: another one of the same name inherits nothing. */
  readonly uid: string;
  /** At least one. */
  readonly macAddresses: FormerMacAddresses;
}

/** The maximum number of remembered interfaces: more than KubeVirt can attach. */
export const MOST_REMEMBERED = 32;
const NO_ADDRESS = '00:00:00:00:00:00';

/**
 * The new memory; undefined for none.
 *
 * @param former - the former memory, of any virtual machine with this name.
 * @param knowledge - `remembered` is the record of its VirtualMachineNetworkConfig.
 */
export function rememberMachine(
  virtualMachine: KubernetesObject,
  former: MachineMemory | undefined,
  { instance, remembered }: Pick<InterfaceKnowledge, 'instance' | 'remembered'>,
): MachineMemory | undefined {
  const { uid } = virtualMachine.metadata;
  if (uid === undefined) return undefined;
  const before = former?.uid === uid ? former : undefined;
  // Its current addresses may not be seen yet.
  if (isUncertain(instance)) return before;
  const unknownAtRest = [...(machineInterfaces(virtualMachine, { remembered }).interfaces?.values() ?? [])]
    .filter(({ macAddress }) => macAddress === undefined)
    .map(({ name }) => name);
  const entries = unknownAtRest.flatMap((name): [string, MacAddress][] => {
    const macAddress = instance?.macAddresses.get(name) ?? before?.macAddresses.get(name);
    return macAddress !== undefined && isOfMachine(macAddress) ? [[name, macAddress]] : [];
  });
  if (entries.length === 0) return undefined;
  const now = { uid, macAddresses: new Map(entries.slice(0, MOST_REMEMBERED)) };
  return before !== undefined && isSameMemory(before, now) ? before : now;
}

/** True for an address that a network card can have. */
export function isOfMachine(macAddress: MacAddress): boolean {
  return !isGroupMacAddress(macAddress) && macAddress !== NO_ADDRESS;
}

export function isSameMemory(one: MachineMemory | undefined, other: MachineMemory | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  const { size } = one.macAddresses;
  if (one.uid !== other.uid || size !== other.macAddresses.size) return false;
  return [...one.macAddresses].every(([name, macAddress]) => other.macAddresses.get(name) === macAddress);
}
