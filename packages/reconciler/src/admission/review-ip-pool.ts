/** Reviews the creation, change or deletion of an IPPool. */
import type { Pool } from '@vmdhcp/dhcp-allocator';
import { isBeingDeleted, type KubernetesObject } from '@vmdhcp/kube-runtime';
import { checkPool } from '../pool/check-pool.js';
import type { AdmissionFacts } from './admission-facts.js';
import {
  type AdmissionRequest,
  type AdmissionReview,
  ALLOWED,
  type Findings,
  newFindings,
  toReview,
  withNamespace,
} from './admission-review.js';
import { reviewDeletion } from './ip-pool-deletion.js';
import { reviewEdit } from './ip-pool-edit.js';
import { findNeighbours } from './ip-pool-neighbours.js';
import { findUnwise } from './ip-pool-unwise.js';

/**
 * A change is refused for new problems, not for old ones, so that a pool from before these rules can be corrected step by step, and its finalizers
 * removed.
 */
export function reviewIpPool(request: AdmissionRequest, facts: AdmissionFacts): AdmissionReview {
  const { operation, oldObject } = request;
  if (operation === 'DELETE') return reviewDeletion(request, facts);
  if (request.object === undefined || isBeingDeleted(request.object)) return ALLOWED;
  const object = withNamespace(request.object, request);
  if (operation === 'CREATE' || oldObject === undefined) return toReview(findInPool(object, facts).findings);
  const old = withNamespace(oldObject, request);
  if (isSame(old, object)) return ALLOWED;
  const before = findInPool(old, facts);
  const after = findInPool(object, facts, { object: old, pool: before.pool });
  const found = newFindings(before.findings, after.findings);
  const edit = reviewEdit({ old, oldPool: before.pool, object, pool: after.pool }, facts);
  return toReview({ problems: [...found.problems, ...edit.problems], warnings: [...found.warnings, ...edit.warnings] });
}

/** The rules ignore labels, finalizers and annotations other than those of the log. */
function isSame(one: KubernetesObject, other: KubernetesObject): boolean {
  const parts = ({ spec, metadata }: KubernetesObject) => JSON.stringify([spec, metadata.annotations]);
  return parts(one) === parts(other);
}

interface FoundInPool {
  readonly findings: Findings;
  /** Undefined if it has problems of its own. */
  readonly pool: Pool | undefined;
}

function findInPool(
  object: KubernetesObject,
  facts: AdmissionFacts,
  before?: { readonly object: KubernetesObject; readonly pool: Pool | undefined },
): FoundInPool {
  const checked = checkPool(object);
  const pool = checked.ok ? checked.pool : undefined;
  const neighbours = findNeighbours({ object, pool }, before, facts);
  const findings = {
    problems: [...(checked.ok ? [] : checked.problems), ...neighbours.problems],
    warnings: [...checked.unknownFields, ...findUnwise(object, pool), ...neighbours.warnings],
  };
  return { findings, pool };
}
