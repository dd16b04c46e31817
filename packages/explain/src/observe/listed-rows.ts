import { compareText, type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import type { ListedKind } from './listed-kind.js';

/** All rows of these objects, in order. @param nowMs - the time at the API server. */
export function rowsOf<Row extends object>(kind: ListedKind<Row>, objects: readonly KubernetesObject[], nowMs: number): Row[] {
  const ordered = objects.toSorted((one, other) => compareText(keyOf(one), keyOf(other)));
  return sortRows(
    kind,
    ordered.flatMap((object) => kind.toRows(object, nowMs)),
  );
}

/** Unsorted, if the kind sorts by its objects. */
export function sortRows<Row extends object>({ sortBy }: ListedKind<Row>, rows: Row[]): Row[] {
  return sortBy === undefined ? rows : rows.toSorted((one, other) => compareText(sortBy(one), sortBy(other)));
}
