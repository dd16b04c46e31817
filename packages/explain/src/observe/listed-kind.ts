/** What a command lists: which objects it reads, and the rows that it makes of each. */
import type { ApiResource, KubernetesObject } from '@vmdhcp/kube-runtime';

/** A column of a table about objects: its title, and its text in each row. */
export interface Column<Row> {
  readonly header: string;
  readonly value: (row: Row) => string;
  /** True if it is shown with `-o wide` only. */
  readonly isWide?: true;
  /** True if it changes every second, so that a watch ignores the change. */
  readonly isAge?: true;
}

export interface ListedKind<Row extends object> {
  /** The name without the namespace. */
  readonly resource: ApiResource;
  /** The rows of one object, in order; `nowMs` is the time at the API server. */
  readonly toRows: (object: KubernetesObject, nowMs: number) => readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** As `kubectl get -o name` writes it. */
  readonly nameOf: (row: Row) => string;
  /** What distinguishes the rows of one object while they are watched; default: an object has one row. */
  readonly identify?: (row: Row) => string;
  /** The sort key of rows; default: the namespace and the name of their objects. */
  readonly sortBy?: (row: Row) => string;
  /** True if rows change with time alone. */
  readonly isTimed?: true;
  /** True if a watch does not report that an object is gone. */
  readonly isShortLived?: true;
  readonly beside?: ListedBeside;
  /** Another kind, which is listed too but not watched. */
  readonly further?: FurtherRows<Row>;
}

/** Rows of objects of another kind. */
export interface FurtherRows<Row extends object> {
  /** The name without the namespace. */
  readonly resource: ApiResource;
  /** @param listed - the objects of the kind itself. */
  readonly toRows: (objects: readonly KubernetesObject[], listed: readonly KubernetesObject[]) => readonly Row[];
  /** What is omitted without the right to list these objects. */
  readonly what: string;
}

/** Other objects that rows depend on; they are read first. */
export interface ListedBeside {
  /** Reads them in all namespaces. */
  readonly resource: ApiResource;
  /** Called before the first rows are made. */
  readonly take: (objects: readonly KubernetesObject[] | 'refused') => void;
  /** True if rows are made even without the right to read them. */
  readonly isOptional: boolean;
  /** Other rights that the user can ask for instead. */
  readonly otherWay: string;
  /** Says, for people, which of the listed objects have no rows, and why. */
  readonly describeLeftOut: (objects: readonly KubernetesObject[]) => string | undefined;
}
