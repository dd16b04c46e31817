/**
 * Sets of fields in the form they are written in, `FieldsV1`: `f:name` is a field, `k:{...}` an item of a list by its keys, `v:...` an
 * item by its value; `.` says that the place itself is in the set, not only what is below. Sets are never changed; an operation
 * that changes nothing returns what it was given, so that a large set that is hardly touched costs little.
 */
import type { JsonObject } from '../api-object.js';
import { objectOf } from '../json-parts.js';
import { ownValue } from '../own-value.js';

export type FieldSet = JsonObject;

export const noFields: FieldSet = {};

/** True when the place itself is in the set. */
function isMember(place: FieldSet): boolean {
  return '.' in place || Object.keys(place).length === 0;
}

/** A place with what is below it; nothing if neither it nor anything below is in the set. */
function placeOf(member: boolean, children: FieldSet): FieldSet | undefined {
  if (Object.keys(children).length === 0) return member ? noFields : undefined;
  return member ? { '.': {}, ...children } : children;
}

function childrenOf(place: FieldSet): FieldSet {
  if (!('.' in place)) return place;
  const { '.': _, ...children } = place;
  return children;
}

/** Returns `below` with the place above it in the set too. */
export function withItself(below: FieldSet): FieldSet {
  return placeOf(true, childrenOf(below)) ?? noFields;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  let changed: Record<string, FieldSet> | undefined;
  let added = false;
  for (const element of Object.keys(b)) {
    const [mine, theirs] = [ownValue(a, element), objectOf(b[element])];
    const united = mine === undefined ? theirs : unitePlaces(objectOf(mine), theirs);
    if (united === mine) continue;
    added ||= mine === undefined;
    changed ??= { ...(a as Record<string, FieldSet>) };
    changed[element] = united;
  }
  if (changed === undefined) return a;
  return added ? Object.fromEntries(Object.entries(changed).toSorted(([x], [y]) => (x < y ? -1 : 1))) : changed;
}

function unitePlaces(a: FieldSet, b: FieldSet): FieldSet {
  const children = union(childrenOf(a), childrenOf(b));
  const member = isMember(a) || isMember(b);
  return member === isMember(a) && children === childrenOf(a) ? a : (placeOf(member, children) ?? noFields);
}

export function difference(a: FieldSet, b: FieldSet): FieldSet {
  let changed: Record<string, FieldSet> | undefined;
  for (const element of smaller(a, b)) {
    const [mine, theirs] = [ownValue(a, element), ownValue(b, element)];
    if (mine === undefined || theirs === undefined) continue;
    const left = subtractPlaces(objectOf(mine), objectOf(theirs));
    if (left === mine) continue;
    changed ??= { ...(a as Record<string, FieldSet>) };
    if (left === undefined) delete changed[element];
    else changed[element] = left;
  }
  return changed ?? a;
}

function subtractPlaces(a: FieldSet, b: FieldSet): FieldSet | undefined {
  const children = difference(childrenOf(a), childrenOf(b));
  const member = isMember(a) && !isMember(b);
  return member === isMember(a) && children === childrenOf(a) ? a : placeOf(member, children);
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const common: Record<string, FieldSet> = {};
  for (const element of smaller(a, b)) {
    const [mine, theirs] = [ownValue(a, element), ownValue(b, element)];
    if (mine === undefined || theirs === undefined) continue;
    const [x, y] = [objectOf(mine), objectOf(theirs)];
    const both = placeOf(isMember(x) && isMember(y), intersection(childrenOf(x), childrenOf(y)));
    if (both !== undefined) common[element] = both;
  }
  return common;
}

/** The elements of the set that has fewer. */
function smaller(a: FieldSet, b: FieldSet): string[] {
  const [x, y] = [Object.keys(a), Object.keys(b)];
  return x.length <= y.length ? x : y;
}

export function isEmpty(set: FieldSet): boolean {
  return Object.keys(set).length === 0;
}

/** Returns what is below a place; nothing if the set knows nothing of it. */
export function below(set: FieldSet, element: string): FieldSet | undefined {
  const found = ownValue(set, element);
  return found === undefined ? undefined : childrenOf(objectOf(found));
}

/** Returns all places of the set as `.spec.containers[name="a"].image`. */
export function formatFields(set: FieldSet, path = ''): string[] {
  return Object.keys(set).flatMap((element) => {
    const at = path + formatElement(element);
    const found = objectOf(set[element]);
    return [...(isMember(found) ? [at] : []), ...formatFields(childrenOf(found), at)];
  });
}

function formatElement(element: string): string {
  const text = element.slice(2);
  if (element.startsWith('f:')) return `.${text}`;
  if (element.startsWith('v:')) return `[=${text}]`;
  const keys = Object.entries(JSON.parse(text) as JsonObject).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `[${keys.join(',')}]`;
}
