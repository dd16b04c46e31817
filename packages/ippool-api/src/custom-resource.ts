import type { z } from 'zod';

/** What a CustomResourceDefinition specifies for a kind. */
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
  /** True: an object without `spec` is accepted; default: it is refused. */
  readonly isSpecOptional?: boolean;
  /** True: the kind has no status, and no subresource for it. */
  readonly isStatusAbsent?: boolean;
  readonly columns: readonly PrinterColumn[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  /** Above 0: only shown by `kubectl get -o wide`. */
  readonly priority?: number;
}

/** A column that shows the status of a condition. */
export function conditionColumn(name: string, conditionType: string): PrinterColumn {
  return { name, type: 'string', jsonPath: `.status.conditions[?(@.type=='${conditionType}')].status` };
}
