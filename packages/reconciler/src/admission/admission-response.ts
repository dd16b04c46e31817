import { describeProblem, formatPath } from '@vmdhcp/dhcp-allocator';
import { cutText } from '@vmdhcp/kube-runtime';
import type { AdmissionProblem, AdmissionReview } from './admission-review.js';

/** The part of `AdmissionReview.response` that a review decides. Source: admission.k8s.io/v1. */
export interface AdmissionResponse {
  readonly allowed: boolean;
  readonly warnings?: readonly string[];
  /** `Invalid`: kubectl shows the kind, the name and the causes. `Forbidden`, for a problem of the whole object: kubectl shows the message. */
  readonly status?:
    | {
        readonly code: 422;
        readonly reason: 'Invalid';
        readonly message: string;
        readonly details: StatusSubject & { readonly causes: readonly StatusCause[] };
      }
    | { readonly code: 403; readonly reason: 'Forbidden'; readonly message: string };
}

/** The object of a request. */
export interface StatusSubject {
  readonly kind: string;
  readonly name: string;
}

interface StatusCause {
  readonly reason: 'FieldValueInvalid';
  readonly field: string;
  readonly message: string;
}

/** kubectl prints each warning on a line; an API server cuts longer warnings, and drops surplus ones. */
const MOST_WARNINGS = 16;
const MOST_CAUSES = 64;
const LONGEST_OCTETS = 512;

/** The text for kubectl, with each problem on its own line: where, what is wrong, what to do. */
export function toAdmissionResponse(
  { allowed, problems, warnings }: AdmissionReview,
  { kind, name }: StatusSubject,
): AdmissionResponse {
  const texts = warnings.slice(0, MOST_WARNINGS).map(sentence);
  const warned = texts.length === 0 ? {} : { warnings: texts };
  if (allowed) return { allowed, ...warned };
  const shown = problems.slice(0, MOST_CAUSES);
  const more = problems.length - shown.length;
  const message = [...shown.map(sentence), ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
  if (shown.every(({ path }) => path.length === 0))
    return { allowed, ...warned, status: { code: 403, reason: 'Forbidden', message } };
  const causes = shown.map((problem) => ({
    reason: 'FieldValueInvalid' as const,
    field: formatPath(problem.path),
    message: cutText(`${problem.message}; ${problem.remedy}`, LONGEST_OCTETS),
  }));
  return {
    allowed,
    ...warned,
    status: { code: 422, reason: 'Invalid', message, details: { kind, name, causes } },
  };
}

/** A problem of the whole object has no path. */
function sentence(problem: AdmissionProblem): string {
  const text = problem.path.length === 0 ? `${problem.message}; ${problem.remedy}` : describeProblem(problem);
  return cutText(text, LONGEST_OCTETS);
}
