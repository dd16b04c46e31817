/** The NetworkAttachmentDefinition of an interface, and its entry in the VirtualMachineNetworkConfig. */

import { parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { EXTERNAL_DHCP_ANNOTATION, networkKey, reasonOf } from '@vmdhcp/ippool-api/agent';
import { type Condition, type KubernetesObject, readField, readList, readText, readTexts } from '@vmdhcp/kube-runtime';
import { describePlacement, readInterfaceEntry, readNetworkPlacement, sentenceOf } from '@vmdhcp/reconciler/readers';
import { type Finding, finding, type LinkFacts } from './address-chain.js';
import { conditionOf, findingOf } from './chain-conditions.js';
import { type ChainObservation, objectOf } from './chain-observation.js';
import type { ChainInterface } from './machine-interfaces.js';

/** The result of one part of the way. */
export interface LinkReading {
  readonly facts: readonly LinkFacts[];
  readonly findings: readonly Finding[];
}

export const NOTHING_READ: LinkReading = { facts: [], findings: [] };

export function readNetwork(observation: ChainObservation, { network }: ChainInterface): LinkReading {
  const observed = observation.networks.get(network);
  if (network === '' || observed === undefined) return NOTHING_READ;
  const link = { link: 'network', object: `NetworkAttachmentDefinition ${network}` } as const;
  if (observed.kind === 'missing')
    return { facts: [{ ...link, facts: 'does not exist' }], findings: [finding('NetworkUnknown')] };
  const object = objectOf(observed);
  if (object === undefined) return { facts: [{ ...link, facts: 'cannot be read', isUnknown: true }], findings: [] };
  const nodeSelector = readTexts(objectOf(observation.pools.get(network)?.pool)?.spec, 'agentNodeSelector');
  const placement = readNetworkPlacement(object, nodeSelector);
  const facts = describePlacement(placement) ?? 'exists; agents run on any node';
  return { facts: [{ ...link, facts }], findings: isExternal(observation, network) ? [finding('ExternalDHCP')] : [] };
}

/** True if no pool serves the network, and none should. */
export function isExternal({ networks, pools }: ChainObservation, network: string): boolean {
  const { annotations = {} } = objectOf(networks.get(network))?.metadata ?? {};
  return annotations[EXTERNAL_DHCP_ANNOTATION] === 'true' && objectOf(pools.get(network)?.pool) === undefined;
}

/** The entry of the VirtualMachineNetworkConfig for the interface. */
export interface EntryReading extends LinkReading {
  /** The entry in the spec. */
  readonly isThere: boolean;
  /** The entry in the status; undefined if none. */
  readonly state: string | undefined;
  /** The address in the status, if the state is `Allocated`. */
  readonly address: string | undefined;
  /** The IPv6 address beside it, if there is one. */
  readonly ipv6Address?: string | undefined;
}

export function readEntry(observation: ChainObservation, one: ChainInterface): EntryReading {
  const { namespace, name, networkConfig } = observation;
  const link = { link: 'network-config', object: `VirtualMachineNetworkConfig ${namespace}/${name}` } as const;
  const config = objectOf(networkConfig);
  if (config === undefined) return { ...withoutConfig(networkConfig.kind === 'missing', { link, one }), ...NO_ENTRY };
  const entry = readList(config.spec, 'networkConfigs').find((each) => isOf(each, one, namespace));
  const status = readList(config.status, 'networkConfigs').find((each) => isOf(each, one, namespace));
  const state = readText(status, 'state');
  const [address, ipv6Address] = ['allocatedIPAddress', 'allocatedIPv6Address'].map((field) =>
    state === 'Allocated' ? readText(status, field) : undefined,
  );
  if (readField(config.spec, 'paused') === true)
    return {
      isThere: true,
      state,
      address: undefined,
      facts: [{ ...link, facts: 'paused' }],
      findings: [finding('NetworkConfigPaused')],
    };
  const facts = [{ ...link, facts: describeEntry(entry, state), isAbsent: entry === undefined }];
  if (entry !== undefined)
    return {
      isThere: true,
      state,
      address,
      ipv6Address,
      facts,
      findings: [...entryFindings(observation, one, { entry, state }), ...stale(config)],
    };
  return { isThere: false, state, address, facts, findings: [...awaitedEntry(one), ...stale(config)] };
}

const NO_ENTRY = { isThere: false, state: undefined, address: undefined };

function withoutConfig(
  isMissing: boolean,
  { link, one }: { readonly link: Omit<LinkFacts, 'facts'>; readonly one: ChainInterface },
): LinkReading {
  if (!isMissing) return { facts: [{ ...link, facts: 'cannot be read', isUnknown: true }], findings: [] };
  return { facts: [{ ...link, facts: 'does not exist', isAbsent: true }], findings: awaitedEntry(one) };
}

/** Without a valid MAC address, there cannot be an entry. */
function awaitedEntry({ findings }: ChainInterface): Finding[] {
  return findings.every(({ state }) => state === 'note') ? [finding('NetworkConfigMissing')] : [];
}

function describeEntry(entry: unknown, state = ''): string {
  if (entry === undefined) return 'has no entry for the interface';
  return `asks for ${readText(entry, 'ipAddress') || 'any address'}${state === '' ? '' : `, ${state}`}`;
}

function stale(config: KubernetesObject): Finding[] {
  const inSynced = conditionOf(config, 'InSynced');
  return inSynced?.status === 'False' ? findingOf(inSynced, false) : [];
}

function isOf(entry: unknown, { network, macAddress }: ChainInterface, namespace: string): boolean {
  const networkName = readText(entry, 'networkName') ?? '';
  const text = readText(entry, 'macAddress') ?? '';
  const key = networkName === '' ? '' : networkKey(networkName, namespace);
  return key === network && (parseMacAddress(text) ?? text) === macAddress;
}

/** Reasons that concern only their own entry. */
const OF_ONE_ENTRY: ReadonlySet<string> = new Set(['MacAddressUnreadable', 'AddressUnreadable', 'NetworkNameMissing']);

function entryFindings(
  { namespace, networkConfig }: ChainObservation,
  one: ChainInterface,
  { entry, state }: { readonly entry: unknown; readonly state: string | undefined },
): Finding[] {
  const read = readInterfaceEntry(entry, namespace);
  if ('reason' in read) return [finding(reasonOf(read.reason), sentenceOf(read))];
  const config = objectOf(networkConfig);
  const allocated = conditionOf(config, 'Allocated');
  if (allocated?.status !== 'False' || OF_ONE_ENTRY.has(allocated.reason ?? '')) return [];
  return refusalFor(allocated, one, { others: otherMacAddresses(config?.spec, one), state });
}

function otherMacAddresses(spec: unknown, { macAddress }: ChainInterface): string[] {
  return readList(spec, 'networkConfigs').flatMap((entry) => {
    const other = parseMacAddress(readText(entry, 'macAddress') ?? '');
    return other === undefined || other === macAddress ? [] : [other];
  });
}

/** The condition has one reason for all interfaces; its message names the MAC address of the affected one. */
function refusalFor(
  condition: Condition,
  { macAddress = '' }: ChainInterface,
  { others, state }: { readonly others: readonly string[]; readonly state: string | undefined },
): Finding[] {
  const { message = '' } = condition;
  const isOwn = macAddress !== '' && message.includes(macAddress);
  if (state === 'Allocated') return isOwn ? findingOf(condition, false) : [];
  if (isOwn || !others.some((other) => message.includes(other))) return findingOf(condition, true);
  return [finding('OtherInterfaceRefused', message)];
}
