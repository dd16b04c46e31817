import { INTERFACES_ANNOTATION, VM_NAME_LABEL } from '@vmdhcp/ippool-api/agent';
import { isBeingDeleted, type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';

/** A VirtualMachineNetworkConfig whose VirtualMachine does not exist. */
export interface MissingMachine {
  readonly reason: 'virtual-machine-missing';
  readonly message: string;
}

/**
 * The condition of a VirtualMachineNetworkConfig that was created for a virtual machine and outlives it, as after `kubectl delete vm
 * --cascade=orphan`; undefined otherwise. Call it if there is no virtual machine of that name.
 *
 * It was created for one if it has the label or the annotation that only the controller sets. While it has an owner, it is about to be deleted. A
 * config that a person created for a bare host has neither.
 */
export function describeMissingVirtualMachine(object: KubernetesObject): MissingMachine | undefined {
  const { name, labels, annotations } = object.metadata;
  if (isBeingDeleted(object) || isOwnedByVirtualMachine(object)) return undefined;
  if (labels?.[VM_NAME_LABEL] !== name && annotations?.[INTERFACES_ANNOTATION] === undefined) return undefined;
  return {
    reason: 'virtual-machine-missing',
    message: `VirtualMachine ${keyOf(object)} does not exist, and its addresses stay recorded for it: delete this VirtualMachineNetworkConfig to free them, or create the virtual machine again to keep them`,
  };
}

/** True if it is deleted together with a virtual machine. */
export function isOwnedByVirtualMachine({ metadata }: KubernetesObject): boolean {
  return (metadata.ownerReferences ?? []).some(({ kind }) => kind === 'VirtualMachine');
}
