/**
 * Sets of fields in the form they are written in, `FieldsV1`: `f:name` is a field, `k:{...}` an item of a list by its keys, `v:...` an item by its
 * value; `.` means that the place itself is in the set, not only what is below. Sets are immutable; an operation that changes nothing returns its
 * argument, so that small changes of a large set are cheap.
 */
import type { JsonObject } from '../api-object.js';
import { objectOf } from '../json-parts.js';
import { ownValue } from '../own-value.js';

export type FieldSet = JsonObject;

export const noFields: FieldSet = {};

/** True when the place itself is in the set: it has `.`, or nothing else. */
function isMember(place: FieldSet): boolean {
  return '.' in place || isEmpty(place);
}

function elementsOf(place: FieldSet): string[] {
  return Object.keys(place).filter((element) => element !== '.');
}

function isLeaf(place: FieldSet): boolean {
  for (const element in place) {
    if (element !== '.') return false;
  }
  return true;
}

/** Returns `place` with itself in the set, or not; undefined if nothing is below it either. */
function asMember(place: FieldSet, member: boolean): FieldSet | undefined {
  const hasDot = '.' in place;
  if (isLeaf(place)) return member ? noFields : undefined;
  if (member === hasDot) return place;
  if (member) return { '.': {}, ...place };
  const { '.': _, ...below } = place;
  return below;
}

/** Returns `below` with the place above it in the set too. */
export function withItself(below: FieldSet): FieldSet {
  return asMember(below, true) ?? noFields;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  let changed: Record<string, FieldSet> | undefined;
  let added = false;
  for (const element of elementsOf(b)) {
    const [mine, theirs] = [placeIn(a, element), objectOf(b[element])];
    const united = mine === undefined ? theirs : unitePlaces(mine, theirs);
    if (united === mine) continue;
    added ||= mine === undefined;
    changed ??= { ...(a as Record<string, FieldSet>) };
    changed[element] = united;
  }
  if (changed === undefined) return a;
  return added ? Object.fromEntries(Object.entries(changed).toSorted(([x], [y]) => (x < y ? -1 : 1))) : changed;
}

function unitePlaces(a: FieldSet, b: FieldSet): FieldSet {
  const member = isMember(a) || isMember(b);
  const united = union(a, b);
  return united === a && member === isMember(a) ? a : (asMember(united, member) ?? noFields);
}

export function difference(a: FieldSet, b: FieldSet): FieldSet {
  let changed: Record<string, FieldSet> | undefined;
  for (const element of smaller(a, b)) {
    const [mine, theirs] = [placeIn(a, element), placeIn(b, element)];
    if (mine === undefined || theirs === undefined) continue;
    const left = subtractPlaces(mine, theirs);
    if (left === mine) continue;
    changed ??= { ...(a as Record<string, FieldSet>) };
    if (left === undefined) delete changed[element];
    else changed[element] = left;
  }
  return changed ?? a;
}

function subtractPlaces(a: FieldSet, b: FieldSet): FieldSet | undefined {
  const member = isMember(a) && !isMember(b);
  const left = difference(a, b);
  return left === a && member === isMember(a) ? a : asMember(left, member);
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const common: Record<string, FieldSet> = {};
  for (const element of smaller(a, b)) {
    const [mine, theirs] = [placeIn(a, element), placeIn(b, element)];
    if (mine === undefined || theirs === undefined) continue;
    const both = asMember(intersection(mine, theirs), isMember(mine) && isMember(theirs));
    if (both !== undefined) common[element] = both;
  }
  return common;
}

/** Returns a place with everything below it; undefined if it is not in the set. */
export function placeIn(set: FieldSet, element: string): FieldSet | undefined {
  const found = ownValue(set, element);
  return found === undefined ? undefined : objectOf(found);
}

/** The elements of the set that has fewer. */
function smaller(a: FieldSet, b: FieldSet): string[] {
  const [x, y] = [elementsOf(a), elementsOf(b)];
  return x.length <= y.length ? x : y;
}

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** True when a place is in the set itself. */
export function hasMember(set: FieldSet, element: string): boolean {
  const found = placeIn(set, element);
  return found !== undefined && isMember(found);
}

/** Returns all places of the set as `.spec.containers[name="a"].image`. */
export function formatFields(set: FieldSet, path = ''): string[] {
  return elementsOf(set).flatMap((element) => {
    const at = path + formatElement(element);
    const found = objectOf(set[element]);
    return [...(isMember(found) ? [at] : []), ...formatFields(found, at)];
  });
}

function formatElement(element: string): string {
  const text = element.slice(2);
  if (element.startsWith('f:')) return `.${text}`;
  if (element.startsWith('v:')) return `[=${text}]`;
  const keys = Object.entries(JSON.parse(text) as JsonObject).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `[${keys.join(',')}]`;
}
