/**
 * Remembers which entry of a VirtualMachineNetworkConfig belongs to which interface of its virtual machine. The entries contain only MAC addresses,
 * and KubeVirt may choose a new one at each start; an annotation has the names.
 */
import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { INTERFACES_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import { compareText, isRecord, type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { RunningInstance } from './running-instance.js';

export interface RememberedInterface {
  /** `namespace/name` of its NetworkAttachmentDefinition. */
  readonly networkName: string;
  readonly macAddress: MacAddress;
  /** MAC addresses that it had since its address was last recorded: it takes over the address of any of them. At most eight. */
  readonly replaces: readonly MacAddress[];
  /** The network that the guest may still use: KubeVirt changes the instance first, and moves the guest with its next migration. */
  readonly leaving?: LeavingNetwork | undefined;
}

/** A network that the running guest had, and what ran when the instance was changed to another one. */
export interface LeavingNetwork {
  readonly networkName: string;
  /** UID of the VirtualMachineInstance. */
  readonly instanceUid: string;
  /** UID of its last migration until then; empty for none. */
  readonly migrationUid: string;
}

/** By interface name. */
export type RememberedInterfaces = ReadonlyMap<string, RememberedInterface>;

export const NOTHING_REMEMBERED: RememberedInterfaces = new Map();
/** For a machine that starts again and again while its pool cannot be written. */
const MOST_REPLACED = 8;

/** The content of the annotation of a VirtualMachineNetworkConfig. Invalid parts are left out. Never throws. */
export function readRememberedInterfaces(object: KubernetesObject | undefined): RememberedInterfaces {
  const text = object?.metadata.annotations?.[INTERFACES_ANNOTATION];
  if (typeof text !== 'string') return NOTHING_REMEMBERED;
  return new Map(Object.entries(parseRecord(text)).flatMap(([name, entry]) => readEntry(name, entry)));
}

function parseRecord(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function readEntry(name: string, entry: unknown): [string, RememberedInterface][] {
  const networkName = readText(entry, 'networkName');
  const macAddress = parseMacAddress(readText(entry, 'macAddress') ?? '');
  if (!networkName || macAddress === undefined) return [];
  const replaces = readList(entry, 'replaces').flatMap((text) => (typeof text === 'string' ? (parseMacAddress(text) ?? []) : []));
  const leaving = readLeaving(readField(entry, 'leaving'));
  return [[name, { networkName, macAddress, replaces: replaces.slice(-MOST_REPLACED), ...(leaving && { leaving }) }]];
}

function readLeaving(entry: unknown): LeavingNetwork | undefined {
  const networkName = readText(entry, 'networkName');
  if (!networkName) return undefined;
  return { networkName, instanceUid: readText(entry, 'instanceUid') ?? '', migrationUid: readText(entry, 'migrationUid') ?? '' };
}

/** The annotation's value; the same interfaces give the same text. */
export function formatRememberedInterfaces(interfaces: RememberedInterfaces): string {
  const entries = [...interfaces].toSorted(([one], [other]) => compareText(one, other));
  return JSON.stringify(
    Object.fromEntries(
      entries.map(([name, { networkName, macAddress, replaces, leaving }]) => [
        name,
        { networkName, macAddress, ...(replaces.length > 0 && { replaces }), ...(leaving && { leaving }) },
      ]),
    ),
  );
}

interface Knowledge {
  readonly instance: InterfaceInstance;
  /** True if the status has an address for this MAC address. */
  readonly isRecorded: (networkName: string, macAddress: MacAddress) => boolean;
}

type InterfaceInstance = RunningInstance | 'unreadable' | 'unseen' | undefined;

/** The new memory of the interface. */
export function rememberInterface(
  { networkName, macAddress }: Pick<RememberedInterface, 'networkName' | 'macAddress'>,
  former: RememberedInterface | undefined,
  { instance, isRecorded }: Knowledge,
): RememberedInterface {
  const leaving = former && leavingNetwork(networkName, former, instance);
  if (former === undefined || former.networkName !== networkName)
    return { networkName, macAddress, replaces: [], ...(leaving && { leaving }) };
  const before = isRecorded(networkName, former.macAddress) ? [] : former.replaces;
  const replaced = [...new Set([...before, former.macAddress])].filter((one) => one !== macAddress);
  return { networkName, macAddress, replaces: replaced.slice(-MOST_REPLACED), ...(leaving && { leaving }) };
}

/** The network that the guest may still use beside this one. */
function leavingNetwork(
  networkName: string,
  former: RememberedInterface,
  instance: InterfaceInstance,
): LeavingNetwork | undefined {
  if (instance === undefined) return undefined;
  if (typeof instance === 'string') return former.leaving;
  const { leaving } = former;
  const used = leaving !== undefined && !hasMovedSince(leaving, instance) ? leaving : networkNow(former.networkName, instance);
  return used.networkName === networkName ? undefined : used;
}

function networkNow(networkName: string, { uid: instanceUid, migration }: RunningInstance): LeavingNetwork {
  return { networkName, instanceUid, migrationUid: migration?.uid ?? '' };
}

/** True once the guest runs in a pod that was made after the change. */
function hasMovedSince({ instanceUid, migrationUid }: LeavingNetwork, { uid, migration }: RunningInstance): boolean {
  return uid !== instanceUid || (migration?.hasSucceeded === true && migration.uid !== migrationUid);
}
