/**
 * From a VirtualMachine to its VirtualMachineNetworkConfig of the same name.
 *
 * Only its spec and metadata: that a change is under way (`InSynced` is False, addresses that nobody wants are `Stale`) is
 * said by the work on that object, which sees when they are freed. Two works that write the same status would undo each other.
 */
import { parseMacAddress } from '@vmdhcp/dhcp-allocator';
import {
  API_VERSION,
  DHCP_OPT_OUT_ANNOTATION,
  NETWORK_CONFIG_FINALIZER,
  type NetworkConfig,
  STATIC_IP_ANNOTATION_PREFIX,
  VM_NAME_LABEL,
} from '@vmdhcp/ippool-api';
import type { MergePatch } from '../machinery/object-client.js';
import { describeNames } from '../object/describe-problems.js';
import { isBeingDeleted, type KubernetesObject, type OwnerReference } from '../object/kubernetes-object.js';
import { readList, readText } from '../object/read-field.js';
import { type VirtualMachineProblem, type WantedInterface, wantedInterfaces } from './wanted-interfaces.js';

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
  /** What is there has to go first: look again when it has. */
  readonly waits: boolean;
}

/** What has to be done so that the VirtualMachineNetworkConfig (undefined: there is none) says what the virtual machine wants. */
export function planNetworkConfig(virtualMachine: KubernetesObject, observed: KubernetesObject | undefined): NetworkConfigPlan {
  if (isBeingDeleted(virtualMachine)) return { actions: [], problems: [], waits: false };
  const wanted = wantedInterfaces(virtualMachine);
  const { networksOfUnknown } = wanted;
  const problems = [...wanted.problems];
  const nothing = { actions: [], problems, waits: false };
  if (wanted.interfaces === undefined) return nothing;
  const present = observed === undefined ? [] : readNetworkConfigs(observed);
  const interfaces = asManyAsFit(wanted.interfaces, present, problems);
  if (observed === undefined) {
    return interfaces.length === 0 ? nothing : { ...nothing, actions: [create(virtualMachine, interfaces)] };
  }
  if (isBeingDeleted(observed)) return { ...nothing, waits: interfaces.length > 0 };
  const unknown = present.filter(({ networkName }) => networksOfUnknown.has(networkName));
  if (interfaces.length === 0 && unknown.length === 0) return { ...nothing, actions: removal(virtualMachine, observed) };
  return { ...nothing, actions: update(virtualMachine, observed, { interfaces, unknown }) };
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
        labels: vmNameLabel(name),
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

interface Wanted {
  readonly interfaces: readonly WantedInterface[];
  /** Entries that may be those of interfaces whose MAC address is not known at the moment. */
  readonly unknown: readonly NetworkConfig[];
}

function update(
  virtualMachine: KubernetesObject,
  observed: KubernetesObject,
  { interfaces, unknown }: Wanted,
): NetworkConfigAction[] {
  const present = readNetworkConfigs(observed);
  const known = interfaces.map((one) => keepHandmadeAddress(one, observed, present));
  const identities = new Set(known.map(identity));
  const wanted = [...known, ...unknown.filter((one) => !identities.has(identity(one)))].slice(0, MOST_INTERFACES);
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

/** Those that are there already come first: a new one does not take the place of one that has an address. */
function asManyAsFit(
  wanted: readonly WantedInterface[],
  present: readonly NetworkConfig[],
  problems: VirtualMachineProblem[],
): readonly WantedInterface[] {
  if (wanted.length <= MOST_INTERFACES) return wanted;
  const identities = new Set(present.map(identity));
  const isPresent = (one: WantedInterface) => identities.has(identity(one));
  const chosen = new Set([...wanted.filter(isPresent), ...wanted.filter((one) => !isPresent(one))].slice(0, MOST_INTERFACES));
  const left = wanted.filter((one) => !chosen.has(one)).map(({ name }) => name);
  problems.push({
    reason: 'too-many-interfaces',
    message: `only ${MOST_INTERFACES} interfaces of a virtual machine get addresses, ${describeNames(left)} not; opt interfaces out with annotation ${DHCP_OPT_OUT_ANNOTATION}`,
  });
  return wanted.filter((one) => chosen.has(one));
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
  interfaces: readonly WantedInterface[],
): MergePatch | undefined {
  const { name } = virtualMachine.metadata;
  const ownerReferences = ownersPatch(virtualMachine, metadata.ownerReferences ?? []);
  const annotations = annotationsPatch(metadata.annotations ?? {}, staticAddressAnnotations(interfaces));
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
