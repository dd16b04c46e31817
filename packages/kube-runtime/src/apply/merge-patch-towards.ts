import type { MergePatch } from '../api/object-client.js';
import { isRecord } from '../object/read-field.js';

/**
 * The smallest merge patch after which `observed` says everything that `wanted` says; undefined if it does already. What
 * `wanted` does not speak of is somebody else's; what it has as undefined is to be absent. Lists are compared item by item, and
 * replaced as a whole.
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

/** What the patch says of one field; undefined: nothing. */
function partTowards(wanted: unknown, observed: unknown): unknown {
  if (wanted === undefined) return observed === undefined || observed === null ? undefined : null;
  if (isRecord(wanted) && isRecord(observed)) return mergePatchTowards(wanted, observed);
  if (isRecord(wanted)) return mergePatchTowards(wanted, {}) ?? {};
  return says(observed, wanted) ? undefined : wanted;
}

/** True if `observed` says everything that `wanted` says. */
function says(observed: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(observed) && observed.length === wanted.length && wanted.every((item, index) => says(observed[index], item))
    );
  }
  if (isRecord(wanted)) return isRecord(observed) && mergePatchTowards(wanted, observed) === undefined;
  return observed === wanted;
}
