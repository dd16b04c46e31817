/** The report of an agent on one of its pools. */
import {
  type DeclinedIpv6,
  DRAINING,
  type PoolReport,
  type ReasonAt,
  type ReportedRouter,
  type RogueServer,
  SUSPENDED,
} from '@vmdhcp/ippool-api/agent';
import { type AddressConflict, type ObservedUse, toReportedConflict, toReportedUse } from '@vmdhcp/reconciler/pool';
import type { PoolSocketState } from '../interface/pool-sockets.js';
import type { ServerAddresses } from '../leadership/server-addresses.js';
import type { FollowedPool } from '../pool/followed-pools.js';

/** The size of an annotation is limited; the remaining conflicts are reported when the first ones are settled. */
const MOST_CONFLICTS = 64;

const DRY_RUN = 'DryRun';
const DRY_RUN_MESSAGE =
  'the agents run with --dry-run, so no client gets an answer; start the controller without --no-dhcp, or remove --dry-run from their Deployment';

const SUSPENDED_POOL = not(SUSPENDED, 'another group of agents may still serve the pool; this group is ready to serve it');

export interface ReportedPoolState {
  readonly interfaceName: string;
  readonly followed: FollowedPool;
  readonly version: string | undefined;
  readonly socket: PoolSocketState;
  /** Why IPv6 is not served although it should be. */
  readonly ipv6Problem?: string | undefined;
  readonly isSuspended: boolean;
  /** True if the agent serves nothing in any case. */
  readonly isDryRun: boolean;
  /** Undefined if this agent is not leader. */
  readonly addresses: Pick<ServerAddresses, 'has' | 'mayHave' | 'problemOf'> | undefined;
  readonly conflicts: readonly AddressConflict[];
  readonly rogueServers: readonly RogueServer[] | undefined;
  /** The IPv6 routers of the network; undefined if they are not known. */
  readonly routers?: readonly ReportedRouter[] | undefined;
  readonly declinedIpv6?: readonly DeclinedIpv6[];
  readonly observedUses: readonly ObservedUse[];
  /** For how long no machine of the network was reached; 0 if the network is not silent. */
  readonly silentForMs: number;
}

/** The controller checks again whether machines run there when this changes. */
const SILENCE_STEP_MINUTES = 2;

export function reportOn(state: ReportedPoolState): PoolReport {
  const { version, conflicts, rogueServers, routers, declinedIpv6 = [], observedUses, silentForMs } = state;
  const silentMinutes = Math.floor(silentForMs / 60_000 / SILENCE_STEP_MINUTES) * SILENCE_STEP_MINUTES;
  return {
    ...toService(state),
    ...(version !== undefined && { version }),
    ...(conflicts.length > 0 && { conflicts: conflicts.slice(0, MOST_CONFLICTS).map(toReportedConflict) }),
    ...(rogueServers !== undefined && { rogueServers }),
    ...(routers !== undefined && { routers }),
    ...(observedUses.length > 0 && { observedUses: observedUses.map(toReportedUse) }),
    ...(declinedIpv6.length > 0 && { declinedIpv6 }),
    ...(silentMinutes > 0 && { silentMinutes }),
  };
}

/** Pools that nobody serves here on purpose, whichever replica is leader. */
const NOT_TO_BE_SERVED: ReadonlySet<string | undefined> = new Set<ReasonAt<'agent report'>>([
  DRAINING,
  SUSPENDED,
  DRY_RUN,
  'Paused',
]);

/** Whether each pool that is to be served here is served, by its name. */
export function servedPools(report: ReadonlyMap<string, PoolReport>): ReadonlyMap<string, boolean> {
  const wanted = [...report].filter(([, { reason }]) => !NOT_TO_BE_SERVED.has(reason));
  return new Map(wanted.map(([pool, { serving }]) => [pool, serving]));
}

type Service = Pick<PoolReport, 'serving' | 'reason' | 'message'>;

function toService(state: ReportedPoolState): Service {
  const { interfaceName, followed, socket, isSuspended, isDryRun, addresses } = state;
  // Comes first: as long as the address may be there, no other group can have it.
  if (isSuspended && addresses?.mayHave(interfaceName))
    return not(
      DRAINING,
      'the pool is leaving this group: the server address is being removed, so that another group can serve the pool',
    );
  if (followed.kind === 'paused') return not('Paused', 'the pool is paused; set spec.paused to false');
  if (followed.kind === 'unserved') return not(followed.reason, followed.message);
  if (isDryRun) return inDryRun(isSuspended);
  if (socket.kind !== 'serving') return toSocketTrouble(interfaceName, socket);
  if (isSuspended) return SUSPENDED_POOL;
  if (addresses === undefined) return not('NotLeading', 'this replica is not the leader');
  return toLeaderService({ ...state, addresses, followed });
}

/** Pools move between groups in a dry run too. */
function inDryRun(isSuspended: boolean): Service {
  return isSuspended ? SUSPENDED_POOL : not(DRY_RUN, DRY_RUN_MESSAGE);
}

function toLeaderService({
  interfaceName,
  followed,
  addresses,
  ipv6Problem,
  rogueServers = [],
}: Pick<ReportedPoolState, 'interfaceName' | 'ipv6Problem' | 'rogueServers'> & {
  readonly followed: Extract<FollowedPool, { readonly kind: 'active' }>;
  readonly addresses: NonNullable<ReportedPoolState['addresses']>;
}): Service {
  const problem = addresses.problemOf(interfaceName);
  if (problem !== undefined) return not('AddressFailed', problem);
  if (!addresses.has(interfaceName)) return not('Opening', `the server address is being added to interface ${interfaceName}`);
  if (followed.stopsForRogueServer && rogueServers.length > 0) {
    return not('RogueServer', 'spec.onRogueServer is Stop, and another DHCP server answers on the network; switch it off');
  }
  return ipv6Problem === undefined ? { serving: true } : not('SocketFailed', ipv6Problem);
}

function toSocketTrouble(interfaceName: string, socket: Exclude<PoolSocketState, { readonly kind: 'serving' }>): Service {
  switch (socket.kind) {
    case 'opening':
      return not('Opening', `interface ${interfaceName} is being opened`);
    case 'missing':
      return not('InterfaceMissing', `the pod has no interface ${interfaceName}; look at its Multus networks`);
    case 'not-isolated':
      return not('InterfaceNotIsolated', socket.message);
    case 'failed':
      return not('SocketFailed', socket.message);
  }
}

function not(reason: ReasonAt<'agent report'>, message: string): Service {
  return { serving: false, reason, message };
}
