import type { MergePatch } from '../api/object-client.js';
import { isRecord } from '../object/read-field.js';

/**
 * The smallest merge patch that gives `observed` everything that `wanted` has; undefined if it already has it. Fields that `wanted` does not contain
 * belong to others. A field that is undefined or null in `wanted` must be absent, and an empty list equals an absent one, because servers leave it
 * out. Lists are compared item by item, and replaced as a whole.
 */
export function mergePatchTowards(
  wanted: Readonly<Record<string, unknown>>,
  observed: Readonly<Record<string, unknown>>,
): MergePatch | undefined {
  const differing = Object.entries(wanted).flatMap(([name, value]) => {
    const part = partTowards(value, observed[name]);
    return part === undefined ? [] : [[name, part] as const];
  });
  return differing.length === 0 ? undefined : Object.fromEntries(differing);
}

/** The part of the patch for one field; undefined if there is none. */
function partTowards(wanted: unknown, observed: unknown): unknown {
  if (wanted === undefined || wanted === null) return isAbsent(observed) ? undefined : null;
  if (isRecord(wanted) && isRecord(observed)) return mergePatchTowards(wanted, observed);
  if (isRecord(wanted)) return mergePatchTowards(wanted, {}) ?? {};
  return contains(observed, wanted) ? undefined : wanted;
}

function isAbsent(observed: unknown): boolean {
  return observed === undefined || observed === null;
}

/** True if `observed` has everything that `wanted` has. */
function contains(observed: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (wanted.length === 0 && isAbsent(observed)) return true;
    return (
      Array.isArray(observed) &&
      observed.length === wanted.length &&
      wanted.every((item, index) => contains(observed[index], item))
    );
  }
  if (isRecord(wanted)) return isRecord(observed) && mergePatchTowards(wanted, observed) === undefined;
  return observed === wanted;
}
