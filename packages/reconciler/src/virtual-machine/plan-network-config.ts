/**
 * From a VirtualMachine to its VirtualMachineNetworkConfig of the same name.
 *
 * Only its spec and metadata: that a change is under way (`InSynced` is False, addresses that nobody wants are `Stale`) is
 * said by the work on that object, which sees when they are freed. Two works that write the same status would undo each other.
 */

import { parseMacAddress } from '@vmdhcp/dhcp-allocator';
import {
  API_VERSION,
  NETWORK_CONFIG_FINALIZER,
  type NetworkConfig,
  STATIC_IP_ANNOTATION_PREFIX,
  VM_NAME_LABEL,
} from '@vmdhcp/ippool-api';
import type { MergePatch } from '../machinery/object-client.js';
import { isBeingDeleted, type KubernetesObject, type OwnerReference } from '../object/kubernetes-object.js';
import { readList, readText } from '../object/read-field.js';
import { type VirtualMachineProblem, type WantedInterface, wantedInterfaces } from './wanted-interfaces.js';

export type NetworkConfigAction =
  | { readonly kind: 'create'; readonly object: KubernetesObject }
  /** Of metadata and spec. */
  | { readonly kind: 'update'; readonly patch: MergePatch }
  | { readonly kind: 'delete'; readonly uid: string };

export interface NetworkConfigPlan {
  /** To be done in this order; none: they agree. */
  readonly actions: readonly NetworkConfigAction[];
  /** What the owner of the virtual machine should know. */
  readonly problems: readonly VirtualMachineProblem[];
  /** What is there has to go first: look again when it has. */
  readonly waits: boolean;
}

export function planNetworkConfig(virtualMachine: KubernetesObject, observed: KubernetesObject | undefined): NetworkConfigPlan {
  if (isBeingDeleted(virtualMachine)) return { actions: [], problems: [], waits: false };
  const { interfaces, problems } = wantedInterfaces(virtualMachine);
  const nothing = { actions: [], problems, waits: false };
  if (interfaces === undefined) return nothing;
  if (observed === undefined) {
    return interfaces.length === 0 ? nothing : { ...nothing, actions: [create(virtualMachine, interfaces)] };
  }
  if (isBeingDeleted(observed)) return { ...nothing, waits: interfaces.length > 0 };
  if (interfaces.length === 0) return { ...nothing, actions: removal(virtualMachine, observed) };
  return { ...nothing, actions: update(virtualMachine, observed, interfaces) };
}

function create(virtualMachine: KubernetesObject, interfaces: readonly WantedInterface[]): NetworkConfigAction {
  const { namespace, name } = virtualMachine.metadata;
  return {
    kind: 'create',
    object: {
      apiVersion: API_VERSION,
      kind: 'VirtualMachineNetworkConfig',
      metadata: {
        ...(namespace !== undefined && { namespace }),
        name,
        labels: { [VM_NAME_LABEL]: name },
        annotations: staticAddressAnnotations(interfaces),
        finalizers: [NETWORK_CONFIG_FINALIZER],
        ownerReferences: [toOwner(virtualMachine)],
      },
      spec: { vmName: name, networkConfigs: interfaces.map(toNetworkConfig) },
    },
  };
}

/** Nothing is left to have an address. What belongs to the virtual machine goes; what somebody else made stays. */
function removal(virtualMachine: KubernetesObject, { metadata }: KubernetesObject): NetworkConfigAction[] {
  const isIts = (metadata.ownerReferences ?? []).some(({ uid }) => uid === virtualMachine.metadata.uid);
  return isIts && metadata.uid !== undefined ? [{ kind: 'delete', uid: metadata.uid }] : [];
}

function update(
  virtualMachine: KubernetesObject,
  observed: KubernetesObject,
  interfaces: readonly WantedInterface[],
): NetworkConfigAction[] {
  const present = readNetworkConfigs(observed);
  const wanted = interfaces.map((one) => keepHandmadeAddress(one, observed, present));
  const metadata = metadataPatch(virtualMachine, observed, interfaces);
  const specDiffers = describe(present) !== describe(wanted);
  if (!specDiffers && metadata === undefined) return [];
  const patch: MergePatch = {
    ...(metadata !== undefined && { metadata }),
    ...(specDiffers && { spec: { networkConfigs: wanted } }),
  };
  return [{ kind: 'update', patch }];
}

/** The network configs of an object, as they are written; entries that are none are left out. */
function readNetworkConfigs({ spec }: KubernetesObject): NetworkConfig[] {
  return readList(spec, 'networkConfigs').flatMap((entry) => {
    const networkName = readText(entry, 'networkName');
    const macAddress = readText(entry, 'macAddress');
    const ipAddress = readText(entry, 'ipAddress');
    if (networkName === undefined || macAddress === undefined) return [];
    return [{ networkName, macAddress, ...(ipAddress && { ipAddress }) }];
  });
}

function toNetworkConfig({ networkName, macAddress, ipAddress }: WantedInterface): NetworkConfig {
  return { networkName, macAddress, ...(ipAddress !== undefined && { ipAddress }) };
}

/**
 * An address that somebody wrote into the spec by hand stays, as long as no annotation of the virtual machine wants
 * another. One that came from an annotation goes with it: the annotations that were copied tell which those are.
 */
function keepHandmadeAddress(
  wanted: WantedInterface,
  observed: KubernetesObject,
  present: readonly NetworkConfig[],
): NetworkConfig {
  const config = toNetworkConfig(wanted);
  const former = present.find((one) => identity(one) === identity(config));
  if (config.ipAddress !== undefined || !former?.ipAddress) return config;
  const copied = Object.entries(observed.metadata.annotations ?? {}).some(
    ([key, value]) => key.startsWith(STATIC_IP_ANNOTATION_PREFIX) && value === former.ipAddress,
  );
  return copied ? config : { ...config, ipAddress: former.ipAddress };
}

function identity({ networkName, macAddress }: NetworkConfig): string {
  return `${networkName} ${parseMacAddress(macAddress) ?? macAddress}`;
}

/** Neither another spelling of a MAC address nor another order is a change. */
function describe(configs: readonly NetworkConfig[]): string {
  return configs
    .map((config) => `${identity(config)} ${config.ipAddress ?? ''}`)
    .toSorted()
    .join('\n');
}

/** What of the metadata is not as it should be. Labels, annotations and owners of others stay. */
function metadataPatch(
  virtualMachine: KubernetesObject,
  { metadata }: KubernetesObject,
  interfaces: readonly WantedInterface[],
): MergePatch | undefined {
  const { name } = virtualMachine.metadata;
  const ownerReferences = ownersPatch(virtualMachine, metadata.ownerReferences ?? []);
  const annotations = annotationsPatch(metadata.annotations ?? {}, staticAddressAnnotations(interfaces));
  const patch: MergePatch = {
    ...(metadata.labels?.[VM_NAME_LABEL] !== name && { labels: { [VM_NAME_LABEL]: name } }),
    ...(annotations && { annotations }),
    ...(ownerReferences && { ownerReferences }),
  };
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** A virtual machine that was made anew under the same name takes the place of the former one. */
function ownersPatch(virtualMachine: KubernetesObject, owners: readonly OwnerReference[]): OwnerReference[] | undefined {
  const { name, uid } = virtualMachine.metadata;
  const others = owners.filter((owner) => owner.kind !== 'VirtualMachine' || owner.name !== name);
  const isOwned = owners.length === others.length + 1 && owners.some((owner) => owner.uid === uid);
  return isOwned ? undefined : [...others, toOwner(virtualMachine)];
}

function staticAddressAnnotations(interfaces: readonly WantedInterface[]): Record<string, string> {
  return Object.fromEntries(
    interfaces.flatMap(({ name, ipAddress }) =>
      ipAddress === undefined ? [] : [[`${STATIC_IP_ANNOTATION_PREFIX}${name}`, ipAddress]],
    ),
  );
}

function annotationsPatch(
  present: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): Record<string, string | null> | undefined {
  const patch: Record<string, string | null> = {};
  for (const [key, value] of Object.entries(wanted)) {
    if (present[key] !== value) patch[key] = value;
  }
  for (const key of Object.keys(present)) {
    if (key.startsWith(STATIC_IP_ANNOTATION_PREFIX) && !Object.hasOwn(wanted, key)) patch[key] = null;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function toOwner({ apiVersion = 'kubevirt.io/v1', kind = 'VirtualMachine', metadata }: KubernetesObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' };
}
