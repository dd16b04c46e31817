import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { machineInterfaces } from './machine-interfaces.js';
import { readRunningInstance } from './running-instance.js';

/** A virtual machine and its instance as the API server has them now. */
export interface MachineObjects {
  readonly virtualMachine: KubernetesObject;
  /** Undefined: there is none. */
  readonly instance: KubernetesObject | undefined;
}

/** True if the MAC address of each interface is known and none of them is this one, which the machine had some time ago. Never throws. */
export function hasLostAddress({ virtualMachine, instance }: MachineObjects, macAddress: MacAddress): boolean {
  const { interfaces, isAnnotationReadable } = machineInterfaces(virtualMachine, {
    instance: readRunningInstance(virtualMachine, instance),
  });
  if (interfaces === undefined || !isAnnotationReadable) return false;
  return [...interfaces.values()].every(
    (one) => one.macAddress !== undefined && parseMacAddress(one.macAddress.text) !== macAddress,
  );
}
