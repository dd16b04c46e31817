/** What an administrator writes or deletes so that an address is free: only what no virtual machine needs. */
import { describeNames, type KubernetesObject, type MergePatch } from '@vmdhcp/kube-runtime';
import { type Observed, objectOf } from './chain-observation.js';
import type { ClientRecord } from './client-records.js';

export interface ObservedMachine {
  readonly virtualMachine: Observed;
  readonly instance: Observed;
  readonly networkConfig: Observed;
}

export type ReleasePlan =
  | { readonly kind: 'refused' | 'nothing'; readonly message: string }
  /** A VirtualMachineNetworkConfig. */
  | { readonly kind: 'delete-config'; readonly object: KubernetesObject; readonly message: string }
  /** Of an IPPool. */
  | { readonly kind: 'patch-status'; readonly pool: string; readonly patch: MergePatch; readonly message: string };

/** The addresses of a virtual machine: free only where it and its instance are gone. */
export function planMachineRelease(key: string, { virtualMachine, instance, networkConfig }: ObservedMachine): ReleasePlan {
  if (virtualMachine.kind === 'found') {
    const remedy = `delete it, or exclude interfaces by its annotation network.harvesterhci.io/dhcp-opt-out`;
    return {
      kind: 'refused',
      message: `VirtualMachine ${key} exists, and the controller would assign the same addresses again; ${remedy}`,
    };
  }
  if (instance.kind === 'found')
    return { kind: 'refused', message: `VirtualMachineInstance ${key} is there, and may use its addresses; delete it first` };
  const unread = [virtualMachine, instance, networkConfig].some(({ kind }) => kind === 'refused' || kind === 'unread');
  if (unread) return { kind: 'refused', message: `whether ${key} still runs cannot be read, so that nothing is released` };
  const object = objectOf(networkConfig);
  if (object === undefined)
    return { kind: 'nothing', message: `${key} has no VirtualMachineNetworkConfig, so that no address is assigned to it` };
  return {
    kind: 'delete-config',
    object,
    message: `delete VirtualMachineNetworkConfig ${key}, whose virtual machine does not exist: the controller frees its addresses`,
  };
}

/** The virtual machine that has an address. */
export interface AddressOwner {
  readonly key: string;
  readonly objects: ObservedMachine;
  /** `namespace/name` of others that may have it instead: the status of none of them tells. */
  readonly rivals: readonly string[];
}

/** @param owner - undefined: no virtual machine claims the address. */
export function planAddressRelease(record: ClientRecord, owner: AddressOwner | undefined): ReleasePlan {
  const { address, pool, state, macAddress } = record;
  switch (state) {
    case 'quarantined':
      return entryRelease(pool, 'quarantined', {
        address,
        message: `end the quarantine of ${address} in IPPool ${pool}: it is quarantined again if the other machine is still there`,
      });
    case 'unreadable':
      return entryRelease(pool, 'allocated', {
        address,
        message: `remove the entry of ${address}, which cannot be read, from the status of IPPool ${pool}`,
      });
    case 'assigned':
      return owner === undefined ? ofNoMachine(address, macAddress) : ofOwner(record, owner);
    case 'reserved':
      return {
        kind: 'refused',
        message: `${address} is reserved for ${macAddress}: change spec.ipv4Config.reservations of IPPool ${pool}`,
      };
    case 'excluded':
    case 'unavailable':
      return {
        kind: 'refused',
        message: `${address} is never leased: it is excluded, or an address of the server, the router or the network`,
      };
    case 'free':
    case 'outside-range':
      return { kind: 'nothing', message: `no client has ${address} of IPPool ${pool}` };
  }
}

/** The entry of an address in a map of the status goes. */
function entryRelease(
  pool: string,
  map: 'quarantined' | 'allocated',
  { address, message }: { readonly address: string; readonly message: string },
): ReleasePlan {
  return { kind: 'patch-status', pool, patch: { status: { ipv4: { [map]: { [address]: null } } } }, message };
}

function ofOwner({ address, macAddress }: ClientRecord, { key, objects, rivals }: AddressOwner): ReleasePlan {
  if (rivals.length === 0) return planMachineRelease(key, objects);
  const names = describeNames([key, ...rivals]);
  return {
    kind: 'refused',
    message: `${address} is assigned to ${macAddress}, which several virtual machines have, and the status of none has the address: ${names}; release one of them by its name`,
  };
}

function ofNoMachine(address: string, macAddress = 'a client'): ReleasePlan {
  return {
    kind: 'refused',
    message: `${address} is assigned to ${macAddress}, which no virtual machine claims: the controller frees it by itself; look at its log if it stays`,
  };
}
