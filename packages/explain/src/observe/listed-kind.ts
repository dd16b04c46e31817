/** What a command lists: which objects are read, and the rows that are made of each. */
import type { ApiResource, KubernetesObject } from '@vmdhcp/kube-runtime';

export interface Column<Row> {
  readonly header: string;
  readonly value: (row: Row) => string;
  /** True: with `-o wide` only. */
  readonly isWide?: true;
  /** True: it is another one every second, which is no news. */
  readonly isAge?: true;
}

export interface ListedKind<Row extends object> {
  /** Without a namespace. */
  readonly resource: ApiResource;
  /** Rows of one object, in their order; `nowMs`: by the clock of the API server. */
  readonly toRows: (object: KubernetesObject, nowMs: number) => readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** As `kubectl get -o name` writes it. */
  readonly nameOf: (row: Row) => string;
  /** What tells the rows of one object apart, as long as they are watched; default: an object has one row. */
  readonly identify?: (row: Row) => string;
  /** What the rows are sorted by; default: the namespace and the name of their objects. */
  readonly sortBy?: (row: Row) => string;
  /** True: rows change with time alone. */
  readonly isTimed?: true;
  /** True: that an object is gone is no news. */
  readonly isShortLived?: true;
  readonly beside?: ListedBeside;
  /** Listed too, and not watched. */
  readonly further?: FurtherRows<Row>;
}

/** Rows of objects of another kind. */
export interface FurtherRows<Row extends object> {
  /** Without a namespace. */
  readonly resource: ApiResource;
  /** @param listed - the objects of the kind itself. */
  readonly toRows: (objects: readonly KubernetesObject[], listed: readonly KubernetesObject[]) => readonly Row[];
  /** What is left out without the right to list these objects. */
  readonly what: string;
}

/** Other objects that rows depend on: they are read first. */
export interface ListedBeside {
  /** In all namespaces. */
  readonly resource: ApiResource;
  /** Called before the first rows are made. */
  readonly take: (objects: readonly KubernetesObject[] | 'refused') => void;
  /** True: without the right to read them, rows are made all the same. */
  readonly isOptional: boolean;
  /** What to ask for beside that right. */
  readonly otherWay: string;
  /** For people: which of the listed objects have no rows, and why. */
  readonly describeLeftOut: (objects: readonly KubernetesObject[]) => string | undefined;
}
