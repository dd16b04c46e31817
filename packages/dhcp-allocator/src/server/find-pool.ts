import { cidrContains } from '../address/ipv4-cidr.js';
import type { Lease } from '../lease/lease.js';
import type { ClientMessage } from './client-message.js';
import type { ServedPool, Serving } from './served-pool.js';

/** The pool of a client, and its lease there. */
export interface FoundPool {
  readonly served: ServedPool;
  readonly lease: Lease | undefined;
}

/**
 * The pools of the client's network. A relayed message belongs to the subnet its relay names. Among pools that share a network it is the one whose server the
 * client names, if one of them is named.
 */
export function candidatePools(client: ClientMessage, pools: readonly ServedPool[]): readonly ServedPool[] {
  const { linkAddress } = client;
  const onLink = linkAddress === undefined ? pools : pools.filter(({ pool }) => cidrContains(pool.cidr, linkAddress));
  return onLink.length > 1 ? namedByServer(client, onLink) : onLink;
}

/**
 * The pool of the client's network. Among pools that share a network it is the one whose server the client names; else the one in which the client has the
 * address it claims, else one in which it has any; without a lease the one whose subnet that address lies in. INFORM asks for no lease: there only the
 * client's own address counts.
 */
export function findPool(client: ClientMessage, { pools, leaseOf }: Serving): FoundPool | 'no-pool-here' | 'no-pool-for-relay' {
  const candidates = candidatePools(client, pools);
  const found = client.type === 'inform' ? undefined : findLease(client, candidates, leaseOf);
  if (found !== undefined) return found;
  const served = poolOfClaimedAddress(client, candidates) ?? candidates[0];
  if (served !== undefined) return { served, lease: leaseOf(served.pool.name, client.macAddress) };
  return client.linkAddress === undefined ? 'no-pool-here' : 'no-pool-for-relay';
}

/** The pool whose subnet has the address that the client uses or requests. */
export function poolOfClaimedAddress(
  { type, clientAddress, requestedAddress }: ClientMessage,
  pools: readonly ServedPool[],
): ServedPool | undefined {
  const address = type === 'inform' ? clientAddress : (clientAddress ?? requestedAddress);
  return address === undefined ? undefined : pools.find(({ pool }) => cidrContains(pool.cidr, address));
}

/** The pools whose server the client names; all of them if it names none of ours. */
function namedByServer({ serverIdentifier }: ClientMessage, pools: readonly ServedPool[]): readonly ServedPool[] {
  const named = pools.filter(({ pool }) => pool.serverAddress === serverIdentifier);
  return named.length > 0 ? named : pools;
}

function findLease(client: ClientMessage, candidates: readonly ServedPool[], leaseOf: Serving['leaseOf']): FoundPool | undefined {
  const claimed = client.clientAddress ?? client.requestedAddress;
  let first: FoundPool | undefined;
  for (const served of candidates) {
    const lease = leaseOf(served.pool.name, client.macAddress);
    if (lease === undefined) continue;
    if (lease.address === claimed) return { served, lease };
    first ??= { served, lease };
  }
  return first;
}
