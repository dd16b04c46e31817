/** The addresses of one pool whose interfaces each ask for themselves, as in a pools file. */
import type { Pool } from '@vmdhcp/dhcp-allocator';
import type { AddressClaim } from './address-request.js';
import type { AssignmentPlan, KnownState } from './assignment-plan.js';
import { planRequests } from './plan-requests.js';

export { explainRival } from '../pool/explain-refusal.js';
export type { Quarantine } from '../pool/quarantines.js';
export type { AddressClaim } from './address-request.js';
export {
  type AssignmentPlan,
  type KnownState,
  NOTHING_RECORDED,
  type RecordedPool,
  type RefusedClaim,
} from './assignment-plan.js';

/**
 * The assignments that a pool shall have. Planning again from its result changes nothing.
 *
 * Reservations are met whether they are claimed or not. A recorded address that its client may not have any more (the subnet is
 * another, or the server has it) is released, and so is one that is not claimed. One that is outside the range now, excluded or the router's
 * stays: settings that change cut off no address in use. A client that wants another address than it has keeps what it
 * has until it can have that.
 *
 * Quarantines that end at `nowMs` or earlier are over.
 */
export function planAssignments(pool: Pool, claims: readonly AddressClaim[], known: KnownState): AssignmentPlan {
  const requests = claims.map(({ owner, createdAt, ...claim }) => ({
    owner,
    ...(createdAt !== undefined && { createdAt }),
    claims: [{ ...claim, poolKey: '' }],
  }));
  const plan = planRequests([{ ...known, key: '', pool }], requests).get('');
  if (plan === undefined) throw new Error('a pool was planned and has no plan');
  return plan;
}
