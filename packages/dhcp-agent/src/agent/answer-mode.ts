import type { RogueServer } from '@vmdhcp/ippool-api/agent';
import type { FollowedPool } from '../pool/followed-pools.js';

/** How an agent answers the clients of one pool. */
export type AnswerMode =
  /** Every client, as the server that has the address. */
  | 'leader'
  /** Clients that retransmit, as the leader has not answered them. */
  | 'standby'
  /** No client. */
  | 'silent';

export interface AnswerFacts {
  readonly isStopping: boolean;
  readonly isSuspended: boolean;
  readonly followed: FollowedPool;
  /** Undefined: not probed yet. */
  readonly rogueServers: readonly RogueServer[] | undefined;
  readonly isLeader: boolean;
  /** True: the server address is on the pool's interface. */
  readonly hasAddress: boolean;
}

/** Asked for every packet. A suspended pool may be served by another group, so that neither leader nor standby answers. */
export function answerMode({ isStopping, isSuspended, followed, rogueServers, isLeader, hasAddress }: AnswerFacts): AnswerMode {
  if (isStopping || isSuspended || followed.kind !== 'active') return 'silent';
  if (followed.stopsForRogueServer && rogueServers !== undefined && rogueServers.length > 0) return 'silent';
  return isLeader && hasAddress ? 'leader' : 'standby';
}
