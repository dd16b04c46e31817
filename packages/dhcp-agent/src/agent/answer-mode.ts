import type { RogueServer } from '@vmdhcp/ippool-api/agent';
import type { FollowedPool } from '../pool/followed-pools.js';

/** How an agent answers the clients of one pool. */
export type AnswerMode =
  /** Every client, as the server that has the address. */
  | 'leader'
  /** Clients that retransmit because the leader has not answered them. */
  | 'standby'
  /** No client. */
  | 'silent';

export interface AnswerFacts {
  readonly isStopping: boolean;
  readonly isSuspended: boolean;
  readonly followed: FollowedPool;
  /** Undefined if not probed yet. */
  readonly rogueServers: readonly RogueServer[] | undefined;
  readonly isLeader: boolean;
  /** True if the server address is on the pool's interface. */
  readonly hasAddress: boolean;
}

/** Called for every packet. Another group may serve a suspended pool, so neither leader nor standby answers. */
export function answerMode({ isStopping, isSuspended, followed, rogueServers, isLeader, hasAddress }: AnswerFacts): AnswerMode {
  if (isStopping || isSuspended || followed.kind !== 'active') return 'silent';
  if (followed.stopsForRogueServer && rogueServers !== undefined && rogueServers.length > 0) return 'silent';
  return isLeader && hasAddress ? 'leader' : 'standby';
}
