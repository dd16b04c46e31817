/** What the running virtual machine reports about its address. */
import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { readList, readText } from '@vmdhcp/kube-runtime';
import { readLeavingNetworks } from '@vmdhcp/reconciler/readers';
import { finding } from './address-chain.js';
import { findingsOfEvents } from './chain-conditions.js';
import { eventsAbout } from './chain-events.js';
import { type ChainObservation, objectOf } from './chain-observation.js';
import { type LinkReading, NOTHING_READ } from './config-links.js';
import type { ChainInterface } from './machine-interfaces.js';
import type { MachineReading } from './machine-links.js';

/** @param address - the address that the pool records. */
export function readInstance(
  observation: ChainObservation,
  { one, machine }: { readonly one: ChainInterface; readonly machine: MachineReading },
  address: string | undefined,
): LinkReading {
  const instance = objectOf(observation.instance);
  if (!machine.isRunning || instance === undefined || address === undefined) return NOTHING_READ;
  const link = { link: 'instance', object: `VirtualMachineInstance ${observation.namespace}/${observation.name}` } as const;
  const reported = readList(instance.status, 'interfaces').find((each) => readText(each, 'name') === one.name);
  const addresses = addressesOf(reported);
  const isFromAgent = (readText(reported, 'infoSource') ?? '').includes('guest-agent');
  if (addresses.includes(address)) return { facts: [{ ...link, facts: `reports ${address}` }], findings: [] };
  const left = networksLeftBy(observation, one.macAddress);
  if (left.length > 0) {
    const message = `it may still be on ${left.join(', ')}, and keeps its address there, until KubeVirt has migrated it to ${one.network}`;
    return { facts: [{ ...link, facts: 'waits for its migration' }], findings: [finding('AwaitingMigration', message)] };
  }
  if (addresses.length > 0) {
    const message = `it reports ${addresses.join(', ')}, and ${address} is assigned to it`;
    const changed = findingsOfEvents(poolEvents(observation, one), 'IPPool', ['AddressChanged']);
    const findings = [finding('InstanceHasAnotherAddress', message), ...changed];
    return { facts: [{ ...link, facts: `reports ${addresses.join(', ')}` }], findings };
  }
  if (!isFromAgent) return { facts: [{ ...link, facts: 'no guest agent reports addresses', isUnknown: true }], findings: [] };
  return { facts: [{ ...link, facts: 'reports no IPv4 address' }], findings: [finding('InstanceHasNoAddress')] };
}

/** The former networks on which the interface may still be. */
function networksLeftBy({ networkConfig }: ChainObservation, macAddress: string | undefined): string[] {
  const pairs = [...readLeavingNetworks(objectOf(networkConfig)).keys()].map((identity) => identity.split(' '));
  return pairs.flatMap(([network = '', address]) => (address === macAddress ? [network] : []));
}

/** IPv4 only. */
function addressesOf(reported: unknown): string[] {
  const texts = [readText(reported, 'ipAddress') ?? '', ...readList(reported, 'ipAddresses').map(String)];
  return [...new Set(texts.flatMap((text) => text.split('/', 1)).filter((text) => parseIpv4Address(text) !== undefined))];
}

function poolEvents({ events, pools }: ChainObservation, { network }: ChainInterface) {
  const pool = objectOf(pools.get(network)?.pool);
  if (pool === undefined) return [];
  const { namespace = '', name } = pool.metadata;
  return eventsAbout(events, 'IPPool', { namespace, name });
}
