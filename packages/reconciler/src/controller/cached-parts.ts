import { Resource } from '@vmdhcp/ippool-api/resources';
import type { ApiResource, KubernetesObject } from '@vmdhcp/kube-runtime';
import { projectVirtualMachine } from '../virtual-machine/cached-virtual-machine.js';
import { projectInstance } from '../virtual-machine/running-instance.js';

/** Which parts of objects the caches keep. */
export interface CachedPartsSettings {
  /**
   * True if labels of VirtualMachines are cached, by which configs of Wake-on-LAN select. For ten thousand virtual machines they need megabytes.
   * Default: false.
   */
  readonly machineLabels?: boolean;
  /** What others cache of their own kinds, by plural, asked for each object. Default: everything. */
  readonly others?: (plural: string) => ((object: KubernetesObject) => KubernetesObject) | undefined;
}

/** What of an object the DHCP controller reads, and what of it others read who share its caches: the rest need not be cached. */
export function cachedPartsWith({ machineLabels = false, others }: CachedPartsSettings) {
  return (resource: ApiResource, object: KubernetesObject): KubernetesObject => {
    const { labels } = object.metadata;
    const parts = others?.(resource.plural)?.(object) ?? cachedParts(resource, object);
    if (!machineLabels || labels === undefined || resource.plural !== Resource.virtualMachines.plural) return parts;
    return { ...parts, metadata: { ...parts.metadata, labels } };
  };
}

/** Keeps the parts of an object that the DHCP controller reads; the rest is not cached. */
export function cachedParts({ plural }: ApiResource, object: KubernetesObject): KubernetesObject {
  if (plural === Resource.virtualMachineInstances.plural) return projectInstance(object);
  if (plural === Resource.virtualMachines.plural) return projectVirtualMachine(object);
  const { managedFields: _fields, ...metadata } = object.metadata as KubernetesObject['metadata'] & { managedFields?: unknown };
  return { ...object, metadata };
}
