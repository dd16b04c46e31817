/** The labels, annotations and owners of a virtual machine's VirtualMachineNetworkConfig. */
import { INTERFACES_ANNOTATION, LEAVING_ANNOTATION, STATIC_IP_ANNOTATION_PREFIX, VM_NAME_LABEL } from '@vmdhcp/ippool-api/agent';
import type { KubernetesObject, MergePatch, OwnerReference } from '@vmdhcp/kube-runtime';
import { formatLeavingNetworks, type LeavingNetworks } from './leaving-networks.js';
import type { WantedEntry } from './network-config-entries.js';
import { formatRememberedInterfaces, type RememberedInterfaces } from './remembered-interfaces.js';
import type { WantedInterface } from './wanted-interfaces.js';

/** A label's value has at most 63 characters. */
export function vmNameLabel(name: string): Record<string, string> {
  return name.length > 63 ? {} : { [VM_NAME_LABEL]: name };
}

/** The corrections of the metadata. Labels, annotations and owners of others stay. */
export function metadataPatch(
  virtualMachine: KubernetesObject,
  { metadata }: KubernetesObject,
  wanted: WantedAnnotations,
): MergePatch | undefined {
  const { name } = virtualMachine.metadata;
  const ownerReferences = ownersPatch(virtualMachine, metadata.ownerReferences ?? []);
  const annotations = annotationsPatch(metadata.annotations ?? {}, wanted);
  const patch: MergePatch = {
    ...(Object.entries(vmNameLabel(name)).some(([key, value]) => metadata.labels?.[key] !== value) && {
      labels: vmNameLabel(name),
    }),
    ...(annotations && { annotations }),
    ...(ownerReferences && { ownerReferences }),
  };
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** A new virtual machine with the same name replaces the former one as owner. */
function ownersPatch(virtualMachine: KubernetesObject, owners: readonly OwnerReference[]): OwnerReference[] | undefined {
  const { name, uid } = virtualMachine.metadata;
  const others = owners.filter((owner) => owner.kind !== 'VirtualMachine' || owner.name !== name);
  const isOwned = owners.length === others.length + 1 && owners.some((owner) => owner.uid === uid);
  return isOwned ? undefined : [...others, toOwner(virtualMachine)];
}

export interface WantedAnnotations {
  /** The interfaces with an entry. */
  readonly interfaces: readonly WantedEntry[];
  /** Interfaces that keep what they have: the annotation of their address stays too. */
  readonly held: readonly Pick<WantedInterface, 'name'>[];
  readonly memories: RememberedInterfaces;
  readonly leaving: LeavingNetworks;
}

export function annotationsOf({ interfaces, memories, leaving }: WantedAnnotations): Record<string, string> {
  const staticAddresses = interfaces.flatMap(({ name, ipAddress }) =>
    ipAddress === undefined ? [] : [[`${STATIC_IP_ANNOTATION_PREFIX}${name}`, ipAddress] as const],
  );
  const left = formatLeavingNetworks(leaving);
  return {
    ...Object.fromEntries(staticAddresses),
    ...(memories.size > 0 && { [INTERFACES_ANNOTATION]: formatRememberedInterfaces(memories) }),
    ...(left !== undefined && { [LEAVING_ANNOTATION]: left }),
  };
}

function annotationsPatch(
  present: Readonly<Record<string, string>>,
  annotations: WantedAnnotations,
): Record<string, string | null> | undefined {
  const wanted = annotationsOf(annotations);
  const held = new Set(annotations.held.map(({ name }) => `${STATIC_IP_ANNOTATION_PREFIX}${name}`));
  const patch: Record<string, string | null> = {};
  for (const [key, value] of Object.entries(wanted)) {
    if (present[key] !== value) patch[key] = value;
  }
  for (const key of Object.keys(present)) {
    const isOurs = key === LEAVING_ANNOTATION || (key.startsWith(STATIC_IP_ANNOTATION_PREFIX) && !held.has(key));
    if (isOurs && !Object.hasOwn(wanted, key)) patch[key] = null;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

export function toOwner({ apiVersion = 'kubevirt.io/v1', kind = 'VirtualMachine', metadata }: KubernetesObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' };
}
