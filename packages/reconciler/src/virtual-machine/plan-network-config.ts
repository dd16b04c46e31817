/**
 * From a VirtualMachine to its VirtualMachineNetworkConfig of the same name.
 *
 * Only its spec and metadata: that a change is under way (`InSynced` is False, addresses that are not wanted any more are `Stale`) is
 * reported by the reconciler of that object, which sees when they are freed. Two reconcilers that write the same status would undo each other.
 */
import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import {
  API_VERSION,
  DHCP_OPT_OUT_ANNOTATION,
  INTERFACES_ANNOTATION,
  NETWORK_CONFIG_FINALIZER,
  type NetworkConfig,
  STATIC_IP_ANNOTATION_PREFIX,
  VM_NAME_LABEL,
} from '@vmdhcp/ippool-api';
import {
  describeNames,
  isBeingDeleted,
  type KubernetesObject,
  type MergePatch,
  type OwnerReference,
  readList,
  readText,
} from '@vmdhcp/kube-runtime';

import {
  formatRememberedInterfaces,
  type RememberedInterface,
  type RememberedInterfaces,
  readRememberedInterfaces,
  rememberInterface,
} from './remembered-interfaces.js';
import {
  isUncertain,
  type MachineKnowledge,
  type VirtualMachineProblem,
  type WantedInterface,
  type WantedInterfaces,
  wantedInterfaces,
} from './wanted-interfaces.js';

export type NetworkConfigAction =
  | { readonly kind: 'create'; readonly object: KubernetesObject }
  /** Of metadata and spec. */
  | { readonly kind: 'update'; readonly patch: MergePatch }
  | { readonly kind: 'delete'; readonly uid: string };

export interface NetworkConfigPlan {
  /** At most one; none: they agree. */
  readonly actions: readonly NetworkConfigAction[];
  /** What the owner of the virtual machine should know. */
  readonly problems: readonly VirtualMachineProblem[];
  /** What is awaited before every interface can have an address, for people; absent: nothing. */
  readonly awaits?: string;
  /** What is there has to go first: look again when it has. */
  readonly waits: boolean;
}

/**
 * What has to be done so that the VirtualMachineNetworkConfig (undefined: there is none) specifies what the virtual machine wants.
 *
 * @param knowledge - default: nothing runs, and what the VirtualMachineNetworkConfig itself remembers.
 */
export function planNetworkConfig(
  virtualMachine: KubernetesObject,
  observed: KubernetesObject | undefined,
  knowledge: MachineKnowledge = {},
): NetworkConfigPlan {
  if (isBeingDeleted(virtualMachine)) return { actions: [], problems: [], waits: false };
  const known = { ...knowledge, remembered: knowledge.remembered ?? readRememberedInterfaces(observed) };
  const wanted = wantedInterfaces(virtualMachine, known);
  const present = observed === undefined ? [] : readNetworkConfigs(observed);
  const entries = toEntries(wanted.interfaces ?? [], known.remembered, observed);
  const unknown = unknownEntries(present, entries, isOfUnknown(wanted, known));
  const problems = [...wanted.problems, ...delayedChanges(virtualMachine, [...entries.map(toNetworkConfig), ...unknown], known)];
  const awaits = describeAwaited(virtualMachine, wanted, known);
  const nothing = { actions: [], problems, waits: false, ...(awaits !== undefined && { awaits }) };
  if (wanted.interfaces === undefined) return nothing;
  const room = Math.max(MOST_INTERFACES - unknown.length, 0);
  const interfaces = asManyAsFit(entries, { present, hasAddress: known.hasAddress, room }, problems);
  if (observed !== undefined && isBeingDeleted(observed)) return { ...nothing, waits: interfaces.length > 0 };
  return { ...nothing, actions: planActions(virtualMachine, observed, { interfaces, unknown }) };
}

function planActions(
  virtualMachine: KubernetesObject,
  observed: KubernetesObject | undefined,
  wanted: Wanted,
): NetworkConfigAction[] {
  if (observed === undefined) return wanted.interfaces.length === 0 ? [] : [create(virtualMachine, wanted.interfaces)];
  if (wanted.interfaces.length === 0 && wanted.unknown.length === 0) return removal(virtualMachine, observed);
  return update(virtualMachine, observed, wanted);
}

/** An interface that shall have an address, and what it is remembered by. */
interface WantedEntry extends WantedInterface {
  readonly memory: RememberedInterface;
}

function toEntries(
  interfaces: readonly WantedInterface[],
  remembered: RememberedInterfaces,
  observed: KubernetesObject | undefined,
): WantedEntry[] {
  const recorded = new Set(
    readList(observed?.status, 'networkConfigs')
      .filter((entry) => readText(entry, 'state') === 'Allocated')
      .map((entry) =>
        identity({ networkName: readText(entry, 'networkName') ?? '', macAddress: readText(entry, 'macAddress') ?? '' }),
      ),
  );
  const isRecorded = (networkName: string, macAddress: MacAddress) => recorded.has(identity({ networkName, macAddress }));
  return interfaces.map((one) => ({ ...one, memory: rememberInterface(one, remembered.get(one.name), isRecorded) }));
}

/** Tells entries that may be those of interfaces whose MAC address, or whose state, is not known at the moment. */
function isOfUnknown(
  { awaited }: WantedInterfaces,
  { instance, remembered = new Map() }: MachineKnowledge,
): (entry: NetworkConfig) => boolean {
  const networks = new Set(awaited.values());
  const ofOthers = new Set(
    [...remembered].flatMap(([name, { networkName, macAddress, replaces }]) =>
      awaited.has(name) ? [] : [macAddress, ...replaces].map((one) => identity({ networkName, macAddress: one })),
    ),
  );
  return (entry) => !ofOthers.has(identity(entry)) && (isUncertain(instance) || networks.has(entry.networkName));
}

/** Those entries that are not of an interface that shall have an address. */
function unknownEntries(
  present: readonly NetworkConfig[],
  wanted: readonly WantedEntry[],
  isUnknown: (entry: NetworkConfig) => boolean,
): NetworkConfig[] {
  const identities = new Set(wanted.map(identity));
  return present.filter((entry) => isUnknown(entry) && !identities.has(identity(entry)));
}

/** What delays a change of the template, if that is not an instance that is known to run. */
function delayedChanges(
  virtualMachine: KubernetesObject,
  wanted: readonly NetworkConfig[],
  known: MachineKnowledge,
): VirtualMachineProblem[] {
  if (!isUncertain(known.instance)) return [];
  const { interfaces } = wantedInterfaces(virtualMachine, { remembered: known.remembered });
  if (interfaces === undefined || describe(interfaces.map(toNetworkConfig)) === describe(wanted)) return [];
  const begin =
    'the interfaces of the virtual machine have changed, and a VirtualMachineInstance may run with the former ones: nothing is freed';
  if (known.instance === 'unreadable') {
    const message = `${begin} before the controller may read VirtualMachineInstances; ${INSTANCES_REMEDY}`;
    return [{ reason: 'virtual-machine-instances-unreadable', message }];
  }
  const message = `${begin} before the controller sees that instance; status.created of the virtual machine is true, and the controller has seen no VirtualMachineInstance ${nameOf(virtualMachine)} that has not ended; check that virt-controller of KubeVirt runs, and that the API server lists VirtualMachineInstances`;
  return [{ reason: 'virtual-machine-instance-unseen', message }];
}

function nameOf({ metadata: { namespace, name } }: KubernetesObject): string {
  return `${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

/** What lets the controller read VirtualMachineInstances, for people. */
export const INSTANCES_REMEDY =
  'allow its ServiceAccount get, list and watch on virtualmachineinstances of the API group kubevirt.io (examples/cluster/rbac.yaml has the rule)';

function describeAwaited(
  virtualMachine: KubernetesObject,
  { awaited }: WantedInterfaces,
  { instance }: MachineKnowledge,
): string | undefined {
  if (awaited.size === 0) return undefined;
  const names = describeNames([...awaited.keys()].toSorted());
  const source = `status.interfaces of VirtualMachineInstance ${nameOf(virtualMachine)}`;
  const begin = `no IP address yet for ${names}, as the MAC address is not known`;
  if (instance === 'unreadable') return `${begin}: the controller may not read ${source}; ${INSTANCES_REMEDY}`;
  if (instance !== undefined) return `${begin}: KubeVirt writes it to ${source} when the virtual machine has started`;
  return `${begin}: start the virtual machine, then KubeVirt writes it to ${source}; or set macAddress in spec.template.spec.domain.devices.interfaces`;
}

function create(virtualMachine: KubernetesObject, interfaces: readonly WantedEntry[]): NetworkConfigAction {
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
        annotations: annotationsOf(interfaces),
        finalizers: [NETWORK_CONFIG_FINALIZER],
        ownerReferences: [toOwner(virtualMachine)],
      },
      spec: { vmName: name, networkConfigs: interfaces.map(toNetworkConfig) },
    },
  };
}

/** Nothing is left to have an address. What belongs to the virtual machine goes; what another client made stays. */
function removal(virtualMachine: KubernetesObject, { metadata }: KubernetesObject): NetworkConfigAction[] {
  const isIts = (metadata.ownerReferences ?? []).some(({ uid }) => uid === virtualMachine.metadata.uid);
  return isIts && metadata.uid !== undefined ? [{ kind: 'delete', uid: metadata.uid }] : [];
}

interface Wanted {
  readonly interfaces: readonly WantedEntry[];
  /** Further entries, which may be those of interfaces whose MAC address, or whose state, is not known at the moment. */
  readonly unknown: readonly NetworkConfig[];
}

function update(
  virtualMachine: KubernetesObject,
  observed: KubernetesObject,
  { interfaces, unknown }: Wanted,
): NetworkConfigAction[] {
  const present = readNetworkConfigs(observed);
  const known = interfaces.map((one) => keepHandmadeAddress(one, observed, present));
  // None of those that nothing is known of is left out: an instance may use its address.
  const wanted = [...unknown, ...known].slice(0, MOST_INTERFACES);
  const metadata = metadataPatch(virtualMachine, observed, interfaces);
  const specDiffers = describe(present) !== describe(wanted);
  if (!specDiffers && metadata === undefined) return [];
  const patch: MergePatch = {
    ...(metadata !== undefined && { metadata }),
    ...(specDiffers && { spec: { networkConfigs: wanted } }),
  };
  return [{ kind: 'update', patch }];
}

/** As many as the CRD lets a VirtualMachineNetworkConfig have. */
const MOST_INTERFACES = 4;

interface Places extends Pick<MachineKnowledge, 'hasAddress'> {
  readonly present: readonly NetworkConfig[];
  /** How many interfaces have place. */
  readonly room: number;
}

/**
 * Those that are there already come first, then those that have an address (their entries may have been deleted by hand): a new
 * one does not take the place of one that has an address.
 */
function asManyAsFit(
  wanted: readonly WantedEntry[],
  { present, hasAddress = () => false, room }: Places,
  problems: VirtualMachineProblem[],
): readonly WantedEntry[] {
  if (wanted.length <= room) return wanted;
  const isRecorded = ({ networkName, memory }: WantedEntry) =>
    [memory.macAddress, ...memory.replaces].some((macAddress) => hasAddress(networkName, macAddress));
  const rank = (one: WantedEntry) => (formerEntry(one, present) !== undefined ? 0 : isRecorded(one) ? 1 : 2);
  const chosen = new Set(wanted.toSorted((one, other) => rank(one) - rank(other)).slice(0, room));
  const left = wanted.filter((one) => !chosen.has(one)).map(({ name }) => name);
  if (wanted.length > MOST_INTERFACES) {
    problems.push({
      reason: 'too-many-interfaces',
      message: `only ${MOST_INTERFACES} interfaces of a virtual machine get addresses, ${describeNames(left)} not; opt interfaces out with annotation ${DHCP_OPT_OUT_ANNOTATION}`,
    });
  }
  return wanted.filter((one) => chosen.has(one));
}

/** The entry that an interface has, under this MAC address or under one that it had before. */
function formerEntry({ networkName, memory }: WantedEntry, present: readonly NetworkConfig[]): NetworkConfig | undefined {
  for (const macAddress of [memory.macAddress, ...memory.replaces.toReversed()]) {
    const former = present.find((one) => identity(one) === identity({ networkName, macAddress }));
    if (former !== undefined) return former;
  }
  return undefined;
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
 * An address that a user wrote into the spec by hand stays, as long as no annotation of the virtual machine wants
 * another. One that came from an annotation goes with it: the annotations that were copied tell which those are.
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

function identity({ networkName, macAddress }: Pick<NetworkConfig, 'networkName' | 'macAddress'>): string {
  return `${networkName} ${parseMacAddress(macAddress) ?? macAddress}`;
}

/** Neither another spelling of a MAC address nor another order is a change. */
function describe(configs: readonly NetworkConfig[]): string {
  return configs
    .map((config) => `${identity(config)} ${config.ipAddress ?? ''}`)
    .toSorted()
    .join('\n');
}

/** A label's value has at most 63 characters. */
function vmNameLabel(name: string): Record<string, string> {
  return name.length > 63 ? {} : { [VM_NAME_LABEL]: name };
}

/** What of the metadata is not as it should be. Labels, annotations and owners of others stay. */
function metadataPatch(
  virtualMachine: KubernetesObject,
  { metadata }: KubernetesObject,
  interfaces: readonly WantedEntry[],
): MergePatch | undefined {
  const { name } = virtualMachine.metadata;
  const ownerReferences = ownersPatch(virtualMachine, metadata.ownerReferences ?? []);
  const annotations = annotationsPatch(metadata.annotations ?? {}, annotationsOf(interfaces));
  const patch: MergePatch = {
    ...(Object.entries(vmNameLabel(name)).some(([key, value]) => metadata.labels?.[key] !== value) && {
      labels: vmNameLabel(name),
    }),
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

function annotationsOf(interfaces: readonly WantedEntry[]): Record<string, string> {
  const staticAddresses = interfaces.flatMap(({ name, ipAddress }) =>
    ipAddress === undefined ? [] : [[`${STATIC_IP_ANNOTATION_PREFIX}${name}`, ipAddress] as const],
  );
  const remembered = new Map(interfaces.map(({ name, memory }) => [name, memory]));
  return {
    ...Object.fromEntries(staticAddresses),
    ...(remembered.size > 0 && { [INTERFACES_ANNOTATION]: formatRememberedInterfaces(remembered) }),
  };
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
