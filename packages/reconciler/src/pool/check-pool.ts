import type { Pool, Problem } from '@vmdhcp/dhcp-allocator';
import { type IPPool, parseObject, type UnknownField } from '@vmdhcp/ippool-api';
import { isRecord } from '@vmdhcp/kube-runtime';
import type { PoolReason } from './pool-reason.js';
import { type ResolvedNames, toPool } from './to-pool.js';

export type CheckedPool =
  | { readonly ok: true; readonly pool: Pool; readonly object: IPPool; readonly unknownFields: readonly UnknownField[] }
  | {
      readonly ok: false;
      /** All problems, with their paths in the IPPool. */
      readonly problems: readonly Problem<PoolReason>[];
      readonly unknownFields: readonly UnknownField[];
    };

/**
 * The pool that an IPPool describes, or all problems of the object by itself, from its schema and from the rules between its settings. The status is
 * ignored. Never throws.
 */
export function checkPool(value: unknown, resolved?: ResolvedNames): CheckedPool {
  const parsed = parseObject(isRecord(value) ? { ...value, kind: 'IPPool', status: undefined } : value);
  const { unknownFields } = parsed;
  const found: readonly Problem<PoolReason>[] = parsed.ok ? [] : parsed.problems;
  const object = (parsed.ok ? parsed.object : parsed.rest) as IPPool | undefined;
  if (object === undefined) return { ok: false, problems: found, unknownFields };
  const checked = toPool(object, resolved);
  if (checked.ok && found.length === 0) return { ok: true, pool: checked.value, object, unknownFields };
  const isReported = reportedBy(found);
  const ofSettings = checked.ok ? [] : checked.problems.filter(({ path }) => !isReported(path));
  return { ok: false, problems: [...found, ...ofSettings], unknownFields };
}

type Path = readonly (string | number)[];

/** True if the field, a parent or a child of it, already has a problem. */
function reportedBy(problems: readonly Problem[]): (path: Path) => boolean {
  const fields = new Set(problems.map(({ path }) => path.join('.')));
  const around = new Set(problems.flatMap(({ path }) => groupsAround(path)));
  return (path) => around.has(path.join('.')) || [...groupsAround(path), path.join('.')].some((group) => fields.has(group));
}

/** `''`, `spec` and `spec.ipv4Config` of `spec.ipv4Config.cidr`. */
function groupsAround(path: Path): string[] {
  return path.map((_, length) => path.slice(0, length).join('.'));
}
