/** Entries of a VirtualMachineNetworkConfig: those that it has, and those that the interfaces of its virtual machine shall have. */
import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import type { NetworkConfig } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';
import { isUncertain } from './machine-interfaces.js';
import { type RememberedInterface, type RememberedInterfaces, rememberInterface } from './remembered-interfaces.js';
import type { MachineKnowledge, WantedInterface, WantedInterfaces } from './wanted-interfaces.js';

/** An interface that shall have an address, and what it is remembered by. */
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

/** Tells entries that may be those of interfaces whose MAC address, or whose state, is not known at the moment. */
export function isOfUnknown(
  { awaited }: WantedInterfaces,
  { instance, remembered = new Map() }: MachineKnowledge,
): (entry: NetworkConfig) => boolean {
  const networks = new Set(awaited.values());
  const ofOthers = new Set(
    [...remembered].flatMap(([name, { networkName, macAddress, replaces }]) =>
      awaited.has(name) ? [] : [macAddress, ...replaces].map((one) => identityOf({ networkName, macAddress: one })),
    ),
  );
  return (entry) => !ofOthers.has(identityOf(entry)) && (isUncertain(instance) || networks.has(entry.networkName));
}

/** Those entries that are not of an interface that shall have an address. */
export function unknownEntries(
  present: readonly NetworkConfig[],
  wanted: readonly WantedEntry[],
  isUnknown: (entry: NetworkConfig) => boolean,
): NetworkConfig[] {
  const identities = new Set(wanted.map(identityOf));
  return present.filter((entry) => isUnknown(entry) && !identities.has(identityOf(entry)));
}

/** The entry that an interface has, under this MAC address or under one that it had before. */
export function formerEntry({ networkName, memory }: WantedEntry, present: readonly NetworkConfig[]): NetworkConfig | undefined {
  for (const macAddress of [memory.macAddress, ...memory.replaces.toReversed()]) {
    const former = present.find((one) => identityOf(one) === identityOf({ networkName, macAddress }));
    if (former !== undefined) return former;
  }
  return undefined;
}

/** The network configs of an object, as they are written; entries that are none are left out. */
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

/** Neither another spelling of a MAC address nor another order is a change. */
export function describeEntries(configs: readonly NetworkConfig[]): string {
  return configs
    .map((config) => `${identityOf(config)} ${config.ipAddress ?? ''}`)
    .toSorted()
    .join('\n');
}
