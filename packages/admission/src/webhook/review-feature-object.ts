/**
 * Decides whether a WolConfig, or an object of bare-metal hosts, may be created or changed: by the rules of `check`, applied to
 * this object alone.
 */
import { formatPath } from '@vmdhcp/dhcp-allocator';
import { isBeingDeleted, type KubernetesObject } from '@vmdhcp/kube-runtime';
import { type AdmissionRequest, type AdmissionReview, newFindings, toReview } from '@vmdhcp/reconciler';
import { type BareMetalReview, bareMetalFacts, reviewBareMetal } from '../check/review-bare-metal.js';
import { reviewWolConfig } from '../check/review-wol-config.js';

const WITHOUT_FINDINGS = { problems: [], warnings: [] };
const KINDS: ReadonlySet<string | undefined> = new Set(['WolConfig', 'ClusterAgent', 'HostEndpoint', 'HostOperation']);

/** Objects of other kinds are allowed. Existing problems do not prevent a change of the object, and are warnings. */
export function reviewFeatureObject({ operation, object, oldObject }: AdmissionRequest): AdmissionReview {
  if (operation === 'DELETE' || object === undefined || isBeingDeleted(object) || !KINDS.has(object.kind))
    return toReview(WITHOUT_FINDINGS);
  const found = findIn(object);
  return toReview(oldObject === undefined ? found : newFindings(findIn(oldObject), found));
}

function findIn(object: KubernetesObject): BareMetalReview {
  // The conditions and Events of the controller report conflicts with other objects.
  const { problems, warnings } =
    object.kind === 'WolConfig' ? reviewWolConfig(object, []) : reviewBareMetal(object, bareMetalFacts([object], ''));
  // Both the schema and the rules find some problems: the first one about a field counts.
  const byField = new Map(problems.toReversed().map((one) => [formatPath(one.path), one]));
  return { problems: [...byField.values()].toReversed(), warnings };
}
