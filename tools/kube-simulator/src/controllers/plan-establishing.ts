/** Which names of a CustomResourceDefinition are accepted, and whether its kind may be served. */
import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../api-object.js';
import { type Condition, type KubeObject, toTime } from './workload-kinds.js';

export interface KindNames extends JsonObject {
  readonly plural: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly kind: string;
  readonly listKind?: string;
  readonly categories?: readonly string[];
}

export interface DefinitionStatus extends JsonObject {
  readonly conditions?: readonly Condition[] | null;
  readonly acceptedNames?: KindNames;
}

export interface Definition extends KubeObject {
  readonly spec: JsonObject & { readonly group: string; readonly scope: string; readonly names: KindNames };
  readonly status?: DefinitionStatus;
}

/** The next status on the way to being served (first the names, then the kind); undefined if nothing is left to do. */
export const planEstablishing = (
  definition: Definition,
  others: readonly Definition[],
  now: Date,
): DefinitionStatus | undefined => {
  const taken = namesOf(others.filter(({ spec }) => spec.group === definition.spec.group));
  const { accepted, conflict } = acceptNames(definition, taken);
  const before = definition.status?.conditions ?? [];
  const namesAccepted = condition(
    before,
    now,
    conflict === undefined ? noConflicts : { ...noConflicts, status: 'False', ...conflict },
  );
  const conditions = [namesAccepted, nextEstablished(before, now, conflict === undefined)].reduce(putCondition, before);
  const status = { ...definition.status, conditions, acceptedNames: accepted };
  return isDeepStrictEqual(status, definition.status) ? undefined : status;
};

interface Statement {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

const noConflicts: Statement = { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' };
const notAccepted: Statement = {
  type: 'Established',
  status: 'False',
  reason: 'NotAccepted',
  message: 'not all names are accepted',
};
const installing: Statement = {
  type: 'Established',
  status: 'False',
  reason: 'Installing',
  message: 'the initial names have been accepted',
};
const established: Statement = { ...installing, status: 'True', reason: 'InitialNamesAccepted' };

/** A kind that was served once stays served, whatever happens to its names. */
const nextEstablished = (before: readonly Condition[], now: Date, accepted: boolean): Condition => {
  const current = before.find(({ type }) => type === 'Established');
  if (current?.status === 'True') return current;
  if (!accepted) return condition(before, now, notAccepted);
  return condition(before, now, current?.reason === 'Installing' ? established : installing);
};

const condition = (before: readonly Condition[], now: Date, { type, status, reason, message }: Statement): Condition => {
  const current = before.find((each) => each.type === type && each.status === status);
  return { type, status, lastTransitionTime: current?.lastTransitionTime ?? toTime(now), reason, message };
};

/** Conditions of a definition keep their places. */
export const putCondition = (conditions: readonly Condition[], next: Condition): readonly Condition[] =>
  conditions.some(({ type }) => type === next.type)
    ? conditions.map((each) => (each.type === next.type ? next : each))
    : [...conditions, next];

interface Taken {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

const namesOf = (definitions: readonly Definition[]): Taken => {
  const names = definitions.map(({ status }) => status?.acceptedNames).filter((each) => each !== undefined);
  const resources = names.flatMap(({ plural, singular = '', shortNames = [] }) => [plural, singular, ...shortNames]);
  const kinds = names.flatMap(({ kind, listKind = '' }) => [kind, listKind]);
  return { resources: new Set(resources.filter(Boolean)), kinds: new Set(kinds.filter(Boolean)) };
};

interface Conflict {
  readonly reason: string;
  readonly message: string;
}

const nameFields: readonly (readonly [field: string, used: keyof Taken | undefined, reason: string])[] = [
  ['plural', 'resources', 'PluralConflict'],
  ['singular', 'resources', 'SingularConflict'],
  ['shortNames', 'resources', 'ShortNamesConflict'],
  ['kind', 'kinds', 'KindConflict'],
  ['listKind', 'kinds', 'ListKindConflict'],
  ['categories', undefined, ''],
];

/** These two are there even when they are not accepted. */
const noNames: JsonObject = { plural: '', kind: '' };

/** Every name that is free is accepted; the conflict of the last one that is not is reported. */
const acceptNames = ({ spec, status }: Definition, taken: Taken): { accepted: KindNames; conflict: Conflict | undefined } => {
  const accepted: Record<string, Json> = {};
  let conflict: Conflict | undefined;
  for (const [field, used, reason] of nameFields) {
    const wanted = spec.names[field] as string | readonly string[] | undefined;
    const inUse = [wanted ?? []].flat().find((name) => used !== undefined && taken[used].has(name));
    if (inUse !== undefined) conflict = { reason, message: `"${inUse}" is already in use` };
    const name = inUse === undefined ? wanted : (status?.acceptedNames?.[field] ?? noNames[field]);
    if (name !== undefined) accepted[field] = name;
  }
  return { accepted: accepted as unknown as KindNames, conflict };
};
