import type { ApiResource, KubernetesObject } from '@vmdhcp/kube-runtime';
import { Resource } from '../resources.js';
import { projectVirtualMachine } from '../virtual-machine/cached-virtual-machine.js';
import { projectInstance } from '../virtual-machine/running-instance.js';

/** What of an object the DHCP controller reads: the rest need not be cached. */
export function cachedParts({ plural }: ApiResource, object: KubernetesObject): KubernetesObject {
  if (plural === Resource.virtualMachineInstances.plural) return projectInstance(object);
  if (plural === Resource.virtualMachines.plural) return projectVirtualMachine(object);
  const { managedFields: _fields, ...metadata } = object.metadata as KubernetesObject['metadata'] & { managedFields?: unknown };
  return { ...object, metadata };
}
