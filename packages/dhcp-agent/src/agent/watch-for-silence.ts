/** What an agent knows of its pools, as the question whether a network is silent needs it. */
import type { Lease } from '@vmdhcp/dhcp-allocator';
import type { AgentNetworkConfig } from '@vmdhcp/ippool-api/agent';
import type { Clock } from '@vmdhcp/kube-runtime';
import type { FollowedPool } from '../pool/followed-pools.js';
import type { AgentObserver } from '../ports.js';
import type { FindAddressUsers } from '../probe/address-users.js';
import { SilentNetworks } from '../silence/silent-networks.js';

export interface WatchedNetworks {
  readonly clock: Clock;
  readonly observer: AgentObserver;
  readonly isDryRun: boolean;
  /** By key of the pool. */
  readonly configOf: ReadonlyMap<string, AgentNetworkConfig>;
  readonly findUsers: FindAddressUsers;
  readonly followed: (key: string) => FollowedPool;
  readonly leasesOf: (key: string) => Iterable<Lease>;
  readonly isLeader: () => boolean;
  /** Writes the report anew. */
  readonly publish: () => void;
}

/** Looks for networks on which no machine is reached, and reports each that becomes silent or is reached again. */
export function watchForSilence(watched: WatchedNetworks): SilentNetworks {
  const { clock, observer, isDryRun, configOf, findUsers, followed, leasesOf, isLeader, publish } = watched;
  const interfaceOf = (key: string) => configOf.get(key)?.interfaceName ?? '';
  const activeOf = (key: string) => {
    const pool = followed(key);
    return pool.kind === 'active' && !isDryRun ? pool : undefined;
  };
  return new SilentNetworks({
    clock,
    poolKeys: [...configOf.keys()],
    isLeader,
    isActive: (key) => activeOf(key) !== undefined,
    isConfirmed: (key) => activeOf(key)?.isSilent === true,
    // If no machine may be probed, or machines may do without IPv4, no machine can be missing.
    leasesOf: (key) => {
      const active = activeOf(key);
      return active?.probesConflicts === true && active.pool.options.ipv6OnlyWaitSeconds === undefined ? leasesOf(key) : [];
    },
    ask: async (key, lease) => {
      const { byClient, others } = await findUsers(interfaceOf(key), lease);
      return byClient || others.length > 0;
    },
    onChange: (key, isSilent) => {
      observer.observe({ kind: isSilent ? 'network-silent' : 'network-reached', interfaceName: interfaceOf(key) });
      publish();
    },
  });
}
