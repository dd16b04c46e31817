/** Plans what an administrator writes so that an interface gets one particular address. */
import { formatIpv4Address, type Ipv4Address } from '@vmdhcp/dhcp-allocator';
import { REASONS, STATIC_IP_ANNOTATION_PREFIX } from '@vmdhcp/ippool-api/agent';
import type { KubernetesObject, MergePatch } from '@vmdhcp/kube-runtime';
import type { AddressChain } from './address-chain.js';
import { type ClientRecord, findClientRecords } from './client-records.js';
import type { ChainReason } from './reasons.js';

/** The interface to pin, the address that it is to have, and the pool of that address. */
export interface PinRequest {
  /** The namespace and name of the virtual machine. */
  readonly chain: Pick<AddressChain, 'interfaces'>;
  readonly interfaceName: string;
  readonly address: Ipv4Address;
  /** The pool of the interface's network; undefined if none is known. */
  readonly pool: KubernetesObject | undefined;
}

/** The patch that pins an interface to an address, or why there is none. */
export type PinPlan =
  | { readonly kind: 'refused'; readonly message: string }
  /** The patch of the VirtualMachine. */
  | { readonly kind: 'patch'; readonly patch: MergePatch; readonly annotation: string };

/** Refuses if the interface does not exist or could not have the address: an address of another client is never pinned. */
export function planPin({ chain, interfaceName, address, pool }: PinRequest): PinPlan {
  const one = chain.interfaces.find((each) => each.interface === interfaceName);
  const names = chain.interfaces.map((each) => each.interface).join(', ');
  if (one === undefined || one.network === '') {
    const there = names === '' ? 'it has none on a Multus network' : `it has ${names}`;
    return { kind: 'refused', message: `the virtual machine has no interface ${interfaceName} that gets an address: ${there}` };
  }
  if (pool === undefined)
    return { kind: 'refused', message: `no IPPool of network ${one.network} is known, so that nothing can be compared` };
  const text = formatIpv4Address(address);
  const [record] = findClientRecords([pool], { kind: 'address', address });
  const reason = whyNot(record, one.macAddress);
  if (reason !== undefined) {
    const owner = record?.macAddress === undefined ? '' : ` (${record.macAddress})`;
    return { kind: 'refused', message: `${reason}: ${text}${owner}: ${REASONS[reason].meaning} ${REASONS[reason].remedy}` };
  }
  const annotation = `${STATIC_IP_ANNOTATION_PREFIX}${interfaceName}`;
  return { kind: 'patch', annotation, patch: { metadata: { annotations: { [annotation]: text } } } };
}

/** Why no other client can have an address in this state. */
const REFUSALS: Readonly<Record<ClientRecord['state'], ChainReason | undefined>> = {
  free: undefined,
  assigned: 'AddressTaken',
  reserved: 'AddressReserved',
  excluded: 'AddressUnavailable',
  unavailable: 'AddressUnavailable',
  quarantined: 'AddressQuarantined',
  unreadable: 'EntriesSkipped',
  'outside-range': 'AddressOutsidePool',
};

/** Returns undefined if the interface can have the address. */
function whyNot(record: ClientRecord | undefined, macAddress: string | undefined): ChainReason | undefined {
  if (record === undefined) return 'AddressOutsidePool';
  const isOwn = record.macAddress !== undefined && record.macAddress === macAddress;
  return isOwn ? undefined : REFUSALS[record.state];
}
