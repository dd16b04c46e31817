import { describeProblem, formatPath, type Pool } from '@vmdhcp/dhcp-allocator';
import { describeIssue, type IPPool, ipPool } from '@vmdhcp/ippool-api';
import { isRecord, type KubernetesObject } from '@vmdhcp/kube-runtime';

import { type ResolvedNames, toPool } from './to-pool.js';

export type PoolReading =
  | {
      readonly ok: true;
      readonly pool: Pool;
      readonly object: IPPool;
      /** Settings that make no sense and are left out. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false /** For people, every one. */; readonly problems: readonly string[] };

/** What clients receive besides their address: left out if it makes no sense. */
const OPTIONAL_SETTINGS: ReadonlySet<string> = new Set([
  'dns',
  'domainName',
  'domainSearch',
  'ntp',
  'leaseTime',
  'mtu',
  'relays',
  'authoritative',
  'staticRoutes',
  'nextServer',
  'bootfile',
  'bootByArchitecture',
]);

const MOST_LEFT_OUT = 64;

/**
 * The pool that an IPPool describes as the API has it, where a CRD of another version may have let pass anything. What
 * touches who gets which address must be right; other settings that make no sense are left out and reported. Never throws.
 */
export function readPool(object: KubernetesObject, resolved?: ResolvedNames): PoolReading {
  const warnings: string[] = [];
  let candidate: unknown = { ...object, status: undefined };
  // Each round drops something, so this ends; how many there are is bounded so that nonsense does not cost much.
  for (let round = 0; round <= MOST_LEFT_OUT; round++) {
    const tried = tryToRead(candidate, resolved);
    if (tried.ok) return { ok: true, pool: tried.pool, object: tried.object, warnings };
    const [first] = tried.problems;
    if (first === undefined || !tried.problems.every(({ path }) => isOptionalSetting(path))) {
      return { ok: false, problems: tried.problems.map(({ message }) => message) };
    }
    warnings.push(first.message);
    candidate = without(candidate, first.path);
  }
  return { ok: false, problems: [`more than ${MOST_LEFT_OUT} settings make no sense; correct them`] };
}

type Tried =
  | { readonly ok: true; readonly pool: Pool; readonly object: IPPool }
  | { readonly ok: false; readonly problems: readonly { readonly path: readonly string[]; readonly message: string }[] };

function tryToRead(candidate: unknown, resolved: ResolvedNames | undefined): Tried {
  const parsed = ipPool.safeParse(candidate);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => ({
      path: issue.path.map(String),
      message: `${formatPath(issue.path.map(toPathPart))}: ${describeIssue(issue, candidate)}`,
    }));
    return { ok: false, problems };
  }
  const checked = toPool(parsed.data, resolved);
  if (checked.ok) return { ok: true, pool: checked.value, object: parsed.data };
  return {
    ok: false,
    problems: checked.problems.map((problem) => ({ path: problem.path.map(String), message: describeProblem(problem) })),
  };
}

function toPathPart(part: PropertyKey): string | number {
  return typeof part === 'number' ? part : String(part);
}

function isOptionalSetting([, config, setting = '']: readonly string[]): boolean {
  return config === 'ipv4Config' && OPTIONAL_SETTINGS.has(setting);
}

/** The value without the field at a path, or without the entry of a list that the path leads into: the entry goes whole. */
function without(value: unknown, [part = '', ...rest]: readonly string[]): unknown {
  if (Array.isArray(value)) return value.filter((_, index) => String(index) !== part);
  if (!isRecord(value)) return value;
  if (rest.length > 0) return { ...value, [part]: without(value[part], rest) };
  const { [part]: _, ...others } = value;
  return others;
}
