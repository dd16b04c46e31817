/** What a command lists: which objects are read, and the rows that are made of each. */
import type { ApiResource, KubernetesObject } from '@vmdhcp/kube-runtime';

export interface Column<Row> {
  readonly header: string;
  readonly value: (row: Row) => string;
  /** True: with `-o wide` only. */
  readonly isWide?: true;
}

export interface ListedKind<Row extends object> {
  /** Without a namespace. */
  readonly resource: ApiResource;
  /** Rows of one object, in their order; `nowMs`: by the clock of the API server. */
  readonly toRows: (object: KubernetesObject, nowMs: number) => readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** As `kubectl get -o name` writes it. */
  readonly nameOf: (row: Row) => string;
  /** What the rows are sorted by; default: the namespace and the name of their objects. */
  readonly sortBy?: (row: Row) => string;
}
