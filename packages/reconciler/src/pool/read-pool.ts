import { describeProblem, type Pool } from '@vmdhcp/dhcp-allocator';
import type { IPPool } from '@vmdhcp/ippool-api';
import { isRecord, type KubernetesObject } from '@vmdhcp/kube-runtime';

import { checkPool } from './check-pool.js';
import type { ResolvedNames } from './to-pool.js';

/** A pool that can be served, or everything that is wrong with the object. */
export type PoolReading =
  | {
      readonly ok: true;
      readonly pool: Pool;
      readonly object: IPPool;
      /** Invalid settings that are left out. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false /** For people, every one. */; readonly problems: readonly string[] };

/** Settings that clients receive besides their address: left out if invalid. */
const OPTIONAL_SETTINGS: ReadonlySet<string> = new Set([
  'dns',
  'domainName',
  'domainSearch',
  'ntp',
  'leaseTime',
  'routers',
  'nat64Prefix',
  'routerAdvertisements',
  'ipv6OnlyWait',
  'mtu',
  'relays',
  'authoritative',
  'staticRoutes',
  'nextServer',
  'bootfile',
  'bootByArchitecture',
  'options',
]);

const MOST_LEFT_OUT = 64;

/**
 * Reads the pool from a stored IPPool, in which a CRD of another version may have accepted anything. Settings that affect addresses must be valid;
 * other invalid settings are left out and reported. Never throws.
 */
export function readPool(object: KubernetesObject, resolved?: ResolvedNames): PoolReading {
  const warnings: string[] = [];
  let candidate: unknown = object;
  // Each round drops a setting, so this ends; the number of rounds is limited, so that garbage does not cost much.
  for (let round = 0; round <= MOST_LEFT_OUT; round++) {
    const checked = checkPool(candidate, resolved);
    if (checked.ok) return { ok: true, pool: checked.pool, object: checked.object, warnings };
    const [first] = checked.problems;
    if (first === undefined || !checked.problems.every(({ path }) => isOptionalSetting(path.map(String)))) {
      return { ok: false, problems: checked.problems.map(describeProblem) };
    }
    warnings.push(describeProblem(first));
    candidate = without(candidate, leftOutBecauseOf(first.path.map(String)));
  }
  return { ok: false, problems: [`more than ${MOST_LEFT_OUT} settings make no sense; correct them`] };
}

function isOptionalSetting([, config, setting = '']: readonly string[]): boolean {
  return config === 'ipv6Config' || config === 'rapidCommit' || (config === 'ipv4Config' && OPTIONAL_SETTINGS.has(setting));
}

/** The path of what is left out: a whole list in the IPv6 part, and all of that part without its prefix. */
function leftOutBecauseOf(path: readonly string[]): readonly string[] {
  const [spec = '', config = '', setting = ''] = path;
  if (config !== 'ipv6Config') return path;
  return OPTIONAL_SETTINGS.has(setting) ? [spec, config, setting] : [spec, config];
}

/** The value without the field at a path, or without the entry of a list that the path leads into: the whole entry is removed. */
function without(value: unknown, [part = '', ...rest]: readonly string[]): unknown {
  if (Array.isArray(value)) return value.filter((_, index) => String(index) !== part);
  if (!isRecord(value)) return value;
  if (rest.length > 0) return { ...value, [part]: without(value[part], rest) };
  const { [part]: _, ...others } = value;
  return others;
}
