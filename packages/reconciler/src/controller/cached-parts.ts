import type { ApiResource, KubernetesObject } from '@vmdhcp/kube-runtime';
import { projectHostStatus, projectSecret } from '../bare-metal/controller/cached-hosts.js';
import { Resource } from '../resources.js';
import { projectVirtualMachine } from '../virtual-machine/cached-virtual-machine.js';
import { projectInstance } from '../virtual-machine/running-instance.js';

export interface CachedPartsSettings {
  /**
   * True if labels of VirtualMachines are cached, by which configs of Wake-on-LAN select. For ten thousand virtual machines they need megabytes.
   * Default: false.
   */
  readonly machineLabels?: boolean;
}

/** Keeps the parts of an object that the DHCP controller reads, and on request those of Wake-on-LAN; the rest is not cached. */
export function cachedPartsWith({ machineLabels = false }: CachedPartsSettings) {
  return (resource: ApiResource, object: KubernetesObject): KubernetesObject => {
    const { labels } = object.metadata;
    const parts = cachedParts(resource, object);
    if (!machineLabels || labels === undefined || resource.plural !== Resource.virtualMachines.plural) return parts;
    return { ...parts, metadata: { ...parts.metadata, labels } };
  };
}

/** Keeps the parts of an object that the DHCP controller reads; the rest is not cached. */
export function cachedParts({ plural }: ApiResource, object: KubernetesObject): KubernetesObject {
  if (plural === Resource.virtualMachineInstances.plural) return projectInstance(object);
  if (plural === Resource.virtualMachines.plural) return projectVirtualMachine(object);
  if (plural === Resource.hostStatuses.plural) return projectHostStatus(object);
  if (plural === Resource.secrets.plural) return projectSecret(object);
  const { managedFields: _fields, ...metadata } = object.metadata as KubernetesObject['metadata'] & { managedFields?: unknown };
  return { ...object, metadata };
}
