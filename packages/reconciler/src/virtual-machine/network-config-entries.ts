/** The existing and the wanted entries of a VirtualMachineNetworkConfig. */
import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import type { NetworkConfig } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';
import { isUncertain } from './machine-interfaces.js';
import { type RememberedInterface, type RememberedInterfaces, rememberInterface } from './remembered-interfaces.js';
import type { MachineKnowledge, WantedInterface, WantedInterfaces } from './wanted-interfaces.js';

/** An interface that should get an address, and its memory. */
export interface WantedEntry extends WantedInterface {
  readonly memory: RememberedInterface;
}

export function toEntries(
  interfaces: readonly WantedInterface[],
  remembered: RememberedInterfaces,
  observed: KubernetesObject | undefined,
): WantedEntry[] {
  const recorded = new Set(
    readList(observed?.status, 'networkConfigs')
      .filter((entry) => readText(entry, 'state') === 'Allocated')
      .map((entry) =>
        identityOf({ networkName: readText(entry, 'networkName') ?? '', macAddress: readText(entry, 'macAddress') ?? '' }),
      ),
  );
  const isRecorded = (networkName: string, macAddress: MacAddress) => recorded.has(identityOf({ networkName, macAddress }));
  return interfaces.map((one) => ({ ...one, memory: rememberInterface(one, remembered.get(one.name), isRecorded) }));
}

/** The memory of the interfaces with an entry, and of those that keep what they have. */
export function memoriesOf(
  entries: readonly WantedEntry[],
  { held, awaited }: Pick<WantedInterfaces, 'held' | 'awaited'>,
  remembered: RememberedInterfaces,
): RememberedInterfaces {
  const waiting = [...held.map(({ name }) => name), ...awaited.keys()].flatMap((name): [string, RememberedInterface][] => {
    const before = remembered.get(name);
    return before === undefined ? [] : [[name, before]];
  });
  return new Map([...waiting, ...entries.map(({ name, memory }): [string, RememberedInterface] => [name, memory])]);
}

/** Finds entries that may belong to interfaces whose MAC address, wanted address or state is not known at the moment. */
export function isOfUnknown(
  { awaited, held }: WantedInterfaces,
  { instance, remembered = new Map() }: MachineKnowledge,
): (entry: NetworkConfig) => boolean {
  const names = new Set([...awaited.keys(), ...held.map(({ name }) => name)]);
  const networks = new Set([...awaited.values(), ...held.map(({ networkName }) => networkName)]);
  const ofOthers = new Set(
    [...remembered].flatMap(([name, { networkName, macAddress, replaces }]) =>
      names.has(name) ? [] : [macAddress, ...replaces].map((one) => identityOf({ networkName, macAddress: one })),
    ),
  );
  return (entry) => !ofOthers.has(identityOf(entry)) && (isUncertain(instance) || networks.has(entry.networkName));
}

/** The entries that do not belong to a wanted interface. */
export function unknownEntries(
  present: readonly NetworkConfig[],
  wanted: readonly WantedEntry[],
  isUnknown: (entry: NetworkConfig) => boolean,
): NetworkConfig[] {
  const identities = new Set(wanted.map(identityOf));
  return present.filter((entry) => isUnknown(entry) && !identities.has(identityOf(entry)));
}

/** The entry of an interface, under this MAC address or a former one. */
export function formerEntry({ networkName, memory }: WantedEntry, present: readonly NetworkConfig[]): NetworkConfig | undefined {
  for (const macAddress of [memory.macAddress, ...memory.replaces.toReversed()]) {
    const former = present.find((one) => identityOf(one) === identityOf({ networkName, macAddress }));
    if (former !== undefined) return former;
  }
  return undefined;
}

/** The network configs of an object, unchanged; invalid entries are left out. */
export function readNetworkConfigs({ spec }: KubernetesObject): NetworkConfig[] {
  return readList(spec, 'networkConfigs').flatMap((entry) => {
    const networkName = readText(entry, 'networkName');
    const macAddress = readText(entry, 'macAddress');
    const ipAddress = readText(entry, 'ipAddress');
    if (networkName === undefined || macAddress === undefined) return [];
    return [{ networkName, macAddress, ...(ipAddress && { ipAddress }) }];
  });
}

export function toNetworkConfig({ networkName, macAddress, ipAddress }: WantedInterface): NetworkConfig {
  return { networkName, macAddress, ...(ipAddress !== undefined && { ipAddress }) };
}

export function identityOf({ networkName, macAddress }: Pick<NetworkConfig, 'networkName' | 'macAddress'>): string {
  return `${networkName} ${parseMacAddress(macAddress) ?? macAddress}`;
}

/** Another spelling of a MAC address, or another order, is not a change. */
export function describeEntries(configs: readonly NetworkConfig[]): string {
  return configs
    .map((config) => `${identityOf(config)} ${config.ipAddress ?? ''}`)
    .toSorted()
    .join('\n');
}
