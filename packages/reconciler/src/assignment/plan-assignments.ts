/** Plans the addresses of one pool whose interfaces have independent requests, as in a pools file. */
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
 * The desired assignments of a pool. Planning again from its result changes nothing.
 *
 * Reservations are met whether they are claimed or not. A recorded address that its client may no longer have (the subnet has changed, or the server
 * has it) is released, and so is an address without a claim. An address that is now outside the range, excluded or the router's stays: a change of
 * settings does not cut off addresses in use. A client that wants another address keeps its own until it can move.
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
