import type { NetworkConfig } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { identityOf, readNetworkConfigs } from './network-config-entries.js';
import type { NetworkConfigAction } from './plan-network-config.js';

/**
 * True if the action can free an address: it deletes the VirtualMachineNetworkConfig, removes an entry of it, asks for another address in one, or
 * makes the virtual machine its owner, with which the garbage collector deletes it. Such an action must not be based on an outdated virtual machine.
 *
 * @param observed - the VirtualMachineNetworkConfig; undefined if there is none.
 */
export function needsNewestMachine(action: NetworkConfigAction, observed: KubernetesObject | undefined): boolean {
  if (action.kind !== 'update') return action.kind === 'delete';
  if (readField(action.patch, 'metadata', 'ownerReferences') !== undefined) return true;
  const spec = readField(action.patch, 'spec');
  if (spec === undefined || observed === undefined) return false;
  const kept = new Set(readNetworkConfigs({ metadata: observed.metadata, spec }).map(describeEntry));
  return readNetworkConfigs(observed).some((entry) => !kept.has(describeEntry(entry)));
}

function describeEntry(entry: NetworkConfig): string {
  return `${identityOf(entry)} ${entry.ipAddress ?? ''}`;
}
