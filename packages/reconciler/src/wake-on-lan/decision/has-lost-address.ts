import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { machineInterfaces } from '../../virtual-machine/machine-interfaces.js';
import { readRunningInstance } from '../../virtual-machine/running-instance.js';
import type { LiveMachine } from './wake-ports.js';

/** True if the MAC address of each interface of the machine is known, and none is this one: the machine was found by what it had some time ago. Never throws. */
export function hasLostAddress({ virtualMachine, instance }: LiveMachine, macAddress: MacAddress): boolean {
  const { interfaces, isAnnotationReadable } = machineInterfaces(virtualMachine, {
    instance: readRunningInstance(virtualMachine, instance),
  });
  if (interfaces === undefined || !isAnnotationReadable) return false;
  return [...interfaces.values()].every(
    (one) => one.macAddress !== undefined && parseMacAddress(one.macAddress.text) !== macAddress,
  );
}
