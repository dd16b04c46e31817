import { compareText, type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import type { ListedKind } from './listed-kind.js';

/** All rows of these objects, in their order. @param nowMs - by the clock of the API server. */
export function rowsOf<Row extends object>(
  { toRows, sortBy }: ListedKind<Row>,
  objects: readonly KubernetesObject[],
  nowMs: number,
): Row[] {
  const ordered = objects.toSorted((one, other) => compareText(keyOf(one), keyOf(other)));
  const rows = ordered.flatMap((object) => toRows(object, nowMs));
  return sortBy === undefined ? rows : rows.toSorted((one, other) => compareText(sortBy(one), sortBy(other)));
}
