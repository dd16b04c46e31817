import { isLeftOut } from '../pool/plan-pool-defaults.js';
import type { AdmissionFacts } from './admission-facts.js';
import { type AdmissionProblem, type AdmissionRequest, type AdmissionReview, toReview } from './admission-review.js';
import { reviewIpPool } from './review-ip-pool.js';

/** Fields of an IPPool that may be left out. That they are not filled in is no news: what keeps them from it is reported. */
const WITH_DEFAULTS: ReadonlySet<string> = new Set(['serverIP', 'pool', 'pool.start', 'pool.end']);

/**
 * The review of an IPPool that cannot be completed: `unfilled`, which is why, and everything else that is wrong with it. The API server does not ask for
 * validation any more when defaulting is refused, and the author is to see every problem at once.
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
