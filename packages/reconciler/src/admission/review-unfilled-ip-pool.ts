import { isLeftOut } from '../pool/plan-pool-defaults.js';
import type { AdmissionFacts } from './admission-facts.js';
import { type AdmissionProblem, type AdmissionRequest, type AdmissionReview, toReview } from './admission-review.js';
import { reviewIpPool } from './review-ip-pool.js';

/** Fields of an IPPool that may be left out. That they are missing is not reported, but the reason why they could not be filled in. */
const WITH_DEFAULTS: ReadonlySet<string> = new Set(['serverIP', 'pool', 'pool.start', 'pool.end']);

/**
 * Reviews an IPPool that cannot be completed: the reasons in `unfilled`, and all other problems. The API server does not call validation after
 * defaulting was refused, and the author should see every problem at once.
 */
export function reviewUnfilledIpPool(
  request: AdmissionRequest,
  facts: AdmissionFacts,
  unfilled: readonly AdmissionProblem[],
): AdmissionReview {
  const { problems, warnings } = reviewIpPool(request, facts);
  const written = problems.filter((one) => !isOfLeftOut(one));
  const known = new Set(written.map(pathOf));
  return toReview({ problems: [...written, ...unfilled.filter((one) => !known.has(pathOf(one)))], warnings });
}

function isOfLeftOut({ path, value }: AdmissionProblem): boolean {
  return isLeftOut(value) && WITH_DEFAULTS.has(path.slice(2).join('.'));
}

function pathOf({ path }: AdmissionProblem): string {
  return path.join('.');
}
