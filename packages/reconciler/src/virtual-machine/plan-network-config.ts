/**
 * Plans the VirtualMachineNetworkConfig of a VirtualMachine, with the same name.
 *
 * Only its spec and metadata: that a change is under way (`InSynced` is False, addresses that are no longer wanted are `Stale`) is
 * reported by the reconciler of that object, which sees when they are released. Two reconcilers that write the same status would undo each other.
 */
import type { NetworkConfig } from '@vmdhcp/ippool-api';
import { API_VERSION, NETWORK_CONFIG_FINALIZER, STATIC_IP_ANNOTATION_PREFIX } from '@vmdhcp/ippool-api/agent';
import { isBeingDeleted, type KubernetesObject, type MergePatch } from '@vmdhcp/kube-runtime';
import { fitEntries, MOST_INTERFACES } from './fit-entries.js';
import { delayedChanges, describeAwaited } from './instance-problems.js';
import { leavingNetworks, untilNextLeave } from './leaving-networks.js';
import {
  describeEntries,
  formerEntry,
  identityOf,
  isOfUnknown,
  memoriesOf,
  readNetworkConfigs,
  toEntries,
  toNetworkConfig,
  unknownEntries,
  type WantedEntry,
} from './network-config-entries.js';
import { annotationsOf, metadataPatch, toOwner, vmNameLabel, type WantedAnnotations } from './network-config-metadata.js';
import { reachableInterfaces } from './reachable-interfaces.js';
import { readRememberedInterfaces } from './remembered-interfaces.js';
import type { VirtualMachineProblem } from './virtual-machine-problem.js';
import { toVmName } from './vm-name.js';
import type { MachineKnowledge } from './wanted-interfaces.js';

export type NetworkConfigAction =
  | { readonly kind: 'create'; readonly object: KubernetesObject }
  /** A patch of metadata and spec. */
  | { readonly kind: 'update'; readonly patch: MergePatch }
  | { readonly kind: 'delete'; readonly uid: string };

/** What has to change about the network config of a virtual machine, and what it waits for. */
export interface NetworkConfigPlan {
  /** At most one; empty if they agree. */
  readonly actions: readonly NetworkConfigAction[];
  /** Problems for the owner of the virtual machine. */
  readonly problems: readonly VirtualMachineProblem[];
  /** What must happen before every interface can get an address, for people; absent for nothing. */
  readonly awaits?: string;
  /** The existing object must be deleted first: check again after that. */
  readonly waits: boolean;
  /** Plan again after this time, because a guest may have moved to another network by then; undefined for never. */
  readonly recheckMs?: number | undefined;
}

/**
 * Plans the change of the VirtualMachineNetworkConfig (undefined if there is none) that the virtual machine needs.
 *
 * @param knowledge - default: nothing runs, and the memory is that of the VirtualMachineNetworkConfig.
 */
export function planNetworkConfig(
  virtualMachine: KubernetesObject,
  observed: KubernetesObject | undefined,
  knowledge: MachineKnowledge = {},
): NetworkConfigPlan {
  if (isBeingDeleted(virtualMachine)) return { actions: [], problems: [], waits: false };
  const known = { ...knowledge, remembered: knowledge.remembered ?? readRememberedInterfaces(observed) };
  const wanted = reachableInterfaces(virtualMachine, { known, observed });
  const present = presentEntries(observed, known);
  const entries = toEntries(wanted.interfaces ?? [], known.remembered, observed);
  const unwanted = unknownEntries(present, entries, () => true);
  const leaving = leavingNetworks({ virtualMachine, observed, known, unwanted });
  const isUnknown = isOfUnknown(wanted, known);
  const unknown = unwanted.filter((entry) => leaving.has(identityOf(entry)) || isUnknown(entry));
  const kept = [...entries.map(toNetworkConfig), ...unknown];
  const problems = [...wanted.problems, ...delayedChanges(virtualMachine, kept, { known, observed })];
  const awaits = describeAwaited(virtualMachine, wanted, known);
  const recheckMs = untilNextLeave(leaving, known);
  const nothing = { actions: [], problems, waits: false, recheckMs, ...(awaits !== undefined && { awaits }) };
  if (wanted.interfaces === undefined) return nothing;
  const room = Math.max(MOST_INTERFACES - unknown.length, 0);
  const interfaces = fitEntries(entries, { present, hasAddress: known.hasAddress, room }, problems);
  if (observed !== undefined && isBeingDeleted(observed)) return { ...nothing, waits: kept.length > 0 };
  const memories = memoriesOf(interfaces, wanted, known.remembered);
  return {
    ...nothing,
    actions: planActions(virtualMachine, observed, { interfaces, unknown, leaving, memories, held: wanted.held }),
  };
}

/** A new object, as after a person has deleted the former one, begins with what the guest may still use. */
function presentEntries(
  observed: KubernetesObject | undefined,
  { recordedElsewhere }: MachineKnowledge,
): readonly NetworkConfig[] {
  return observed === undefined ? (recordedElsewhere?.() ?? []) : readNetworkConfigs(observed);
}

function planActions(
  virtualMachine: KubernetesObject,
  observed: KubernetesObject | undefined,
  wanted: Wanted,
): NetworkConfigAction[] {
  const isEmpty = wanted.interfaces.length === 0 && wanted.unknown.length === 0;
  if (observed === undefined) return isEmpty ? [] : [create(virtualMachine, wanted)];
  if (isEmpty) return removal(virtualMachine, observed);
  return update(virtualMachine, observed, wanted);
}

function create(virtualMachine: KubernetesObject, wanted: Wanted): NetworkConfigAction {
  const { interfaces, unknown } = wanted;
  const { namespace, name } = virtualMachine.metadata;
  return {
    kind: 'create',
    object: {
      apiVersion: API_VERSION,
      kind: 'VirtualMachineNetworkConfig',
      metadata: {
        ...(namespace !== undefined && { namespace }),
        name,
        labels: vmNameLabel(name),
        annotations: annotationsOf(wanted),
        finalizers: [NETWORK_CONFIG_FINALIZER],
        ownerReferences: [toOwner(virtualMachine)],
      },
      spec: { vmName: toVmName(name), networkConfigs: [...unknown, ...interfaces.map(toNetworkConfig)] },
    },
  };
}

/** No interface needs an address. An object of the virtual machine is deleted; that of another owner stays. */
function removal(virtualMachine: KubernetesObject, { metadata }: KubernetesObject): NetworkConfigAction[] {
  const isIts = (metadata.ownerReferences ?? []).some(({ uid }) => uid === virtualMachine.metadata.uid);
  return isIts && metadata.uid !== undefined ? [{ kind: 'delete', uid: metadata.uid }] : [];
}

interface Wanted extends WantedAnnotations {
  readonly interfaces: readonly WantedEntry[];
  /** Further entries, which may belong to interfaces whose MAC address or state is not known at the moment. */
  readonly unknown: readonly NetworkConfig[];
}

function update(virtualMachine: KubernetesObject, observed: KubernetesObject, wanted: Wanted): NetworkConfigAction[] {
  const { interfaces, unknown } = wanted;
  const present = readNetworkConfigs(observed);
  const known = interfaces.map((one) => keepHandmadeAddress(one, observed, present));
  // Keep all unknown entries, because a running instance may use their addresses.
  const entries = [...unknown, ...known];
  const metadata = metadataPatch(virtualMachine, observed, wanted);
  const specDiffers = describeEntries(present) !== describeEntries(entries);
  if (!specDiffers && metadata === undefined) return [];
  const patch: MergePatch = {
    ...(metadata !== undefined && { metadata }),
    ...(specDiffers && { spec: { networkConfigs: entries } }),
  };
  return [{ kind: 'update', patch }];
}

/**
 * An address that a person wrote into the spec stays, as long as no annotation of the virtual machine wants another. An address from an annotation is
 * removed with it; the copied annotations show which those are.
 */
function keepHandmadeAddress(wanted: WantedEntry, observed: KubernetesObject, present: readonly NetworkConfig[]): NetworkConfig {
  const config = toNetworkConfig(wanted);
  const former = formerEntry(wanted, present);
  if (config.ipAddress !== undefined || !former?.ipAddress) return config;
  const copied = Object.entries(observed.metadata.annotations ?? {}).some(
    ([key, value]) => key.startsWith(STATIC_IP_ANNOTATION_PREFIX) && value === former.ipAddress,
  );
  return copied ? config : { ...config, ipAddress: former.ipAddress };
}
