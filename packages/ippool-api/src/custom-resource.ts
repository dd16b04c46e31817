import type { z } from 'zod';

/** The properties of a kind in its CustomResourceDefinition. */
export interface CustomResource {
  /** Default: that of IPPool. */
  readonly group?: string;
  /** Default: that of IPPool. */
  readonly version?: string;
  /** Default: `Namespaced`. */
  readonly scope?: 'Cluster' | 'Namespaced';
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  /** The object's `spec` and `status`. */
  readonly schema: z.ZodType;
  /** True if an object without `spec` is accepted; by default it is refused. */
  readonly isSpecOptional?: boolean;
  /** True if the kind has neither a status nor its subresource. */
  readonly isStatusAbsent?: boolean;
  readonly columns: readonly PrinterColumn[];
}

/** A column that `kubectl get` shows. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  /** If above 0, only `kubectl get -o wide` shows the column. */
  readonly priority?: number;
}

/** A column that shows the status of a condition. */
export function conditionColumn(name: string, conditionType: string): PrinterColumn {
  return { name, type: 'string', jsonPath: `.status.conditions[?(@.type=='${conditionType}')].status` };
}
