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
    leader === undefined ? 'this manager does not lead, and no other one is known to' : `the manager at ${leader} leads`;
  return { code: status.FAILED_PRECONDITION, details, metadata };
}

export function unavailable(message: string): Failure {
  return { code: status.UNAVAILABLE, details: message };
}

/** A manager that leads takes this report later; other reports are not concerned. */
export function later(message: string): Failure {
  return { code: status.RESOURCE_EXHAUSTED, details: message };
}

export function notServing(handler: WolHandler): Failure {
  const leader = handler.leader();
  return leader === undefined ? unavailable('no manager leads, or it has not synced yet') : notLeading(leader);
}
