/**
 * Remembers which entry of a VirtualMachineNetworkConfig belongs to which interface of its virtual machine. The entries contain only MAC addresses,
 * and KubeVirt may choose a new one at each start; an annotation has the names.
 */
import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { INTERFACES_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import { compareText, isRecord, type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';

/** What an annotation of a VirtualMachineNetworkConfig keeps about an interface of its virtual machine. */
export interface RememberedInterface {
  /** `namespace/name` of its NetworkAttachmentDefinition. */
  readonly networkName: string;
  readonly macAddress: MacAddress;
  /** MAC addresses that it had since its address was last recorded: it takes over the address of any of them. At most eight. */
  readonly replaces: readonly MacAddress[];
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
  return new Map(Object.entries(parseAnnotationRecord(text)).flatMap(([name, entry]) => readEntry(name, entry)));
}

/** The JSON object of an annotation; empty if it is not one. Never throws. */
export function parseAnnotationRecord(text: string): Readonly<Record<string, unknown>> {
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
  return [[name, { networkName, macAddress, replaces: replaces.slice(-MOST_REPLACED) }]];
}

/** The annotation's value; the same interfaces give the same text. */
export function formatRememberedInterfaces(interfaces: RememberedInterfaces): string {
  const entries = [...interfaces].toSorted(([one], [other]) => compareText(one, other));
  return JSON.stringify(
    Object.fromEntries(
      entries.map(([name, { networkName, macAddress, replaces }]) => [
        name,
        { networkName, macAddress, ...(replaces.length > 0 && { replaces }) },
      ]),
    ),
  );
}

/** The new memory of the interface. `isRecorded`: the status has an address for this MAC address. */
export function rememberInterface(
  { networkName, macAddress }: Pick<RememberedInterface, 'networkName' | 'macAddress'>,
  former: RememberedInterface | undefined,
  isRecorded: (networkName: string, macAddress: MacAddress) => boolean,
): RememberedInterface {
  if (former === undefined || former.networkName !== networkName) return { networkName, macAddress, replaces: [] };
  const before = isRecorded(networkName, former.macAddress) ? [] : former.replaces;
  const replaced = [...new Set([...before, former.macAddress])].filter((one) => one !== macAddress);
  return { networkName, macAddress, replaces: replaced.slice(-MOST_REPLACED) };
}
