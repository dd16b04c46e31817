import { isBeingDeleted, isRecord, type KubernetesObject, readField, readText } from '@vmdhcp/kube-runtime';
import { isLeftOut, planPoolDefaults } from '../pool/plan-pool-defaults.js';
import type { AdmissionFacts } from './admission-facts.js';
import { type AdmissionProblem, type AdmissionRequest, newFindings } from './admission-review.js';

/** One operation of a JSON patch. Source: RFC 6902 §4. */
export type JsonPatchOperation =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** The patch that fills in what a pool leaves out, with problems and warnings. */
export interface DefaultedPool {
  /** Empty if no field is missing, or not all can be filled in. */
  readonly patch: readonly JsonPatchOperation[];
  /** Why not all fields can be filled in; refuse the request then. */
  readonly problems: readonly AdmissionProblem[];
  readonly warnings: readonly AdmissionProblem[];
}

const CONFIG = '/spec/ipv4Config';

/**
 * The fields that a request for an IPPool leaves out, as a patch: all of them, or none and the problems. A change that leaves out an address
 * (`kubectl replace`) keeps the one that the pool has.
 */
export function defaultIpPool(request: AdmissionRequest, facts: Pick<AdmissionFacts, 'clusterNetworks'>): DefaultedPool {
  const { object, oldObject } = request;
  const given = readField(object?.spec, 'ipv4Config');
  if (object === undefined || isBeingDeleted(object) || !isRecord(given)) return NOTHING;
  const kept = addressesOf(oldObject?.spec);
  const keptPool = withoutEmpty({ start: kept.start, end: kept.end }, readField(given, 'pool'));
  const keptServer = withoutEmpty({ serverIP: kept.serverIP }, given);
  const pool = readField(given, 'pool');
  const merged = { ...given, ...keptServer, pool: { ...(isRecord(pool) && pool), ...keptPool } };
  const defaults = planPoolDefaults(merged, facts.clusterNetworks.apiServers);
  if (!defaults.ok) return { ...NOTHING, problems: newProblems(defaults.problems, oldObject, facts) };
  const settings = { ...keptServer, ...defaults.settings };
  const range = { ...keptPool, ...defaults.pool };
  return {
    patch: [
      ...(defaults.hasEmptyRouter ? [{ op: 'remove', path: `${CONFIG}/router` } as const] : []),
      ...Object.entries(settings).map(([field, value]) => ({ op: 'add', path: `${CONFIG}/${field}`, value }) as const),
      ...rangeOperations(pool, range),
    ],
    problems: [],
    warnings: [...chosenServer(defaults.settings.serverIP, merged), ...overruledEnds(pool, kept, defaults.pool)],
  };
}

const NOTHING: DefaultedPool = { patch: [], problems: [], warnings: [] };

/** If a field could not be filled in before, the IPPool can still be changed: its validation warns of it. */
function newProblems(
  problems: readonly AdmissionProblem[],
  oldObject: KubernetesObject | undefined,
  { clusterNetworks }: Pick<AdmissionFacts, 'clusterNetworks'>,
): readonly AdmissionProblem[] {
  const before = planPoolDefaults(readField(oldObject?.spec, 'ipv4Config'), clusterNetworks.apiServers);
  if (before.ok) return problems;
  return newFindings({ problems: before.problems, warnings: [] }, { problems, warnings: [] }).problems;
}

interface Addresses {
  readonly serverIP: string | undefined;
  readonly start: string | undefined;
  readonly end: string | undefined;
}

function addressesOf(spec: unknown): Addresses {
  const config = readField(spec, 'ipv4Config');
  return {
    serverIP: readText(config, 'serverIP'),
    start: readText(config, 'pool', 'start'),
    end: readText(config, 'pool', 'end'),
  };
}

/** The fields with a value here, but none there. */
function withoutEmpty(fields: Readonly<Record<string, string | undefined>>, there: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value && isLeftOut(readField(there, name)) ? [[name, value] as const] : [],
    ),
  );
}

/** If `pool` is not an object, it becomes one; otherwise only missing fields are added. */
function rangeOperations(pool: unknown, range: Readonly<Record<string, string>>): JsonPatchOperation[] {
  const fields = Object.entries(range);
  if (fields.length === 0) return [];
  if (!isRecord(pool)) return [{ op: 'add', path: `${CONFIG}/pool`, value: range }];
  return fields.map(([field, value]) => ({ op: 'add', path: `${CONFIG}/pool/${field}`, value }));
}

/** `start` and `end` of this request, where `ranges` replaces them. */
function overruledEnds(
  written: unknown,
  kept: Addresses,
  chosen: { readonly start?: string; readonly end?: string },
): AdmissionProblem[] {
  return (['start', 'end'] as const).flatMap((name) => {
    const value = readText(written, name);
    const instead = chosen[name];
    if (!value || value === kept[name] || instead === undefined) return [];
    const message = `ranges is set, so ${name} ${value} has no effect, and becomes ${instead}`;
    return [
      { reason: 'overruled-by-ranges', path: ['spec', 'ipv4Config', 'pool', name], value, message, remedy: 'change ranges' },
    ];
  });
}

/** Many networks have their router at the first address, which the server gets unless `router` is set. */
function chosenServer(serverIP: string | undefined, config: Readonly<Record<string, unknown>>): AdmissionProblem[] {
  if (serverIP === undefined || readText(config, 'router')) return [];
  return [
    {
      reason: 'server-address-chosen',
      path: ['spec', 'ipv4Config', 'serverIP'],
      value: serverIP,
      message: `serverIP and router are not set, so the DHCP server has ${serverIP}`,
      remedy: `if another host on the network has ${serverIP}, as the router often has, delete the IPPool and create it again with router or serverIP`,
    },
  ];
}
