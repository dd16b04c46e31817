/** The requests to admission, and its answers. */
import type { Problem } from '@vmdhcp/dhcp-allocator';
import { type KubernetesObject, keyOf, readText } from '@vmdhcp/kube-runtime';
import type { AdmissionReason } from './admission-rules.js';

/** A request of the API server, or an object of a file. Deciding changes nothing, so a dry run is decided like any other request. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** The new object; absent for a deletion. */
  readonly object?: KubernetesObject | undefined;
  /** The old object; absent for a creation. */
  readonly oldObject?: KubernetesObject | undefined;
  readonly namespace: string;
  /** Empty if the API server chooses it (`generateName`). */
  readonly name: string;
}

/** Something that is wrong, or unwise, with one field of the object of a request. */
export interface AdmissionProblem extends Problem<AdmissionReason> {
  /** True if it depends on other objects, which a lagging cache may not show yet. */
  readonly dependsOnOthers?: true;
}

export interface AdmissionReview {
  readonly allowed: boolean;
  /** Why it is refused: every reason. */
  readonly problems: readonly AdmissionProblem[];
  /** Legal but unwise settings, and old problems that remain. */
  readonly warnings: readonly AdmissionProblem[];
}

/** The findings of the rules about an object. */
export interface Findings {
  readonly problems: readonly AdmissionProblem[];
  readonly warnings: readonly AdmissionProblem[];
}

export const NOTHING_FOUND: Findings = { problems: [], warnings: [] };
export const ALLOWED: AdmissionReview = { allowed: true, ...NOTHING_FOUND };

/** Refused if there is a problem; warnings alone do not refuse. */
export function toReview({ problems, warnings }: Findings): AdmissionReview {
  return { allowed: problems.length === 0, problems, warnings };
}

/** The findings about an edit: an old problem does not prevent the edit, and becomes a warning. Old warnings are not repeated. */
export function newFindings(before: Findings, after: Findings): Findings {
  const problems = separate(before.problems, after.problems);
  const warnings = separate(before.warnings, after.warnings);
  return { problems: problems.fresh, warnings: [...problems.known, ...warnings.fresh] };
}

/** Each old finding accounts for one current finding. */
function separate(before: readonly AdmissionProblem[], after: readonly AdmissionProblem[]) {
  const counts = new Map<string, number>();
  for (const text of before.map(describe)) counts.set(text, (counts.get(text) ?? 0) + 1);
  const { fresh = [], known = [] } = Object.groupBy(after, (problem) => {
    const text = describe(problem);
    const count = counts.get(text) ?? 0;
    counts.set(text, count - 1);
    return count > 0 ? 'known' : 'fresh';
  });
  return { fresh, known };
}

/** Without the position in a list, because the removal of an entry moves those after it. */
function describe({ reason, path, message }: AdmissionProblem): string {
  return `${reason} ${path.filter((part) => typeof part === 'string').join('.')} ${message}`;
}

/** Key of the object that a request is about. */
export function keyOfRequest({ namespace, name }: AdmissionRequest): string {
  return keyOf({ metadata: { namespace, name } });
}

/** The object with the namespace of the request, which an object of a file may leave out. */
export function withNamespace(object: KubernetesObject, { namespace, name }: AdmissionRequest): KubernetesObject {
  if (readText(object.metadata, 'namespace') === namespace && readText(object.metadata, 'name') !== undefined) return object;
  return { ...object, metadata: { ...object.metadata, namespace, name: readText(object.metadata, 'name') ?? name } };
}
