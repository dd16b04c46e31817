import { keyOf, readText } from '@vmdhcp/kube-runtime';
import type { InterfaceChain, PacketSubject } from './address-chain.js';
import { isStaleLease } from './agent-links.js';
import { CHAIN_LINKS } from './chain-links.js';
import { type ChainObservation, objectOf } from './chain-observation.js';

const FIRST_OF_PACKETS = CHAIN_LINKS.indexOf('packets');

/** Interfaces without a broken link before the agents: the outcome of their packets may say more. */
export function furtherPackets(observation: ChainObservation, interfaces: readonly InterfaceChain[]): PacketSubject[] {
  return interfaces.flatMap(({ interface: name, network, macAddress, links }) => {
    const pools = observation.pools.get(network);
    const pool = objectOf(pools?.pool);
    const before = links.filter(({ link }) => CHAIN_LINKS.indexOf(link) < FIRST_OF_PACKETS);
    const isWhole = before.every(({ state }) => state !== 'broken' && state !== 'waiting');
    const leader = isWhole ? leaderOf(observation, pools?.lease) : undefined;
    if (pool === undefined || macAddress === undefined || leader === undefined) return [];
    const isConfirmed = links.some(({ link, state }) => link === 'instance' && state === 'ok');
    return [{ interface: name, macAddress, pool: keyOf(pool), ...leader, isConfirmed }];
  });
}

function leaderOf(
  { leases, nowMs }: ChainObservation,
  key = '',
): { readonly namespace: string; readonly pod: string } | undefined {
  const lease = objectOf(leases.get(key));
  if (lease === undefined || isStaleLease(lease, nowMs)) return undefined;
  const pod = (readText(lease.spec, 'holderIdentity') ?? '').split('_', 1)[0];
  return pod ? { namespace: lease.metadata.namespace ?? '', pod } : undefined;
}
