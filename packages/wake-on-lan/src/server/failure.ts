import { Metadata, status } from '@grpc/grpc-js';
import type { WolHandler } from '../report/wol-handler.js';
import { LEADER_METADATA } from '../wire/leader-metadata.js';

/** How a call ends without an answer. */
export interface Failure {
  readonly code: status;
  readonly details: string;
  readonly metadata?: Metadata;
}

export function notLeading(leader: string | undefined): Failure {
  const metadata = new Metadata();
  if (leader !== undefined) metadata.set(LEADER_METADATA, leader);
  const details =
    leader === undefined ? 'this manager is not leader, and no other leader is known' : `the manager at ${leader} is leader`;
  return { code: status.FAILED_PRECONDITION, details, metadata };
}

export function unavailable(message: string): Failure {
  return { code: status.UNAVAILABLE, details: message };
}

/** The leading manager will accept this report later; other reports are not affected. */
export function later(message: string): Failure {
  return { code: status.RESOURCE_EXHAUSTED, details: message };
}

export function notServing(handler: WolHandler): Failure {
  const leader = handler.leader();
  return leader === undefined ? unavailable('no manager is leader, or it has not synced yet') : notLeading(leader);
}
