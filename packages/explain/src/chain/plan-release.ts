/** Plans what an administrator writes or deletes to free an address: only addresses that no virtual machine needs. */
import { describeNames, type KubernetesObject, type MergePatch } from '@vmdhcp/kube-runtime';
import { type Observed, objectOf } from './chain-observation.js';
import type { ClientRecord } from './client-records.js';

/** A virtual machine, its running instance and its network config, as far as they exist. */
export interface ObservedMachine {
  readonly virtualMachine: Observed;
  readonly instance: Observed;
  readonly networkConfig: Observed;
}

/** What frees an address, or why it is not freed. */
export type ReleasePlan =
  | { readonly kind: 'refused' | 'nothing'; readonly message: string }
  /** The deletion of a VirtualMachineNetworkConfig. */
  | { readonly kind: 'delete-config'; readonly object: KubernetesObject; readonly message: string }
  /** A patch of an IPPool. */
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
  if (unread) return { kind: 'refused', message: `cannot read whether ${key} still runs, so nothing is released` };
  const object = objectOf(networkConfig);
  if (object === undefined)
    return { kind: 'nothing', message: `${key} has no VirtualMachineNetworkConfig, so no address is assigned to it` };
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

/** @param owner - undefined if no virtual machine claims the address. */
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
        message: `remove the unreadable entry of ${address} from the status of IPPool ${pool}`,
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

/** Removes the entry of an address from a map of the status. */
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
    message: `${address} is assigned to ${macAddress}, which several virtual machines have, and none of their statuses names the address: ${names}; release one of them by its name`,
  };
}

function ofNoMachine(address: string, macAddress = 'a client'): ReleasePlan {
  return {
    kind: 'refused',
    message: `${address} is assigned to ${macAddress}, which no virtual machine claims: the controller will free it; check its log if the address stays assigned`,
  };
}
