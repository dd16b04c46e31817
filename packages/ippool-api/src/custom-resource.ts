import type { z } from 'zod';

/** What a CustomResourceDefinition specifies for a kind, besides group and version. */
export interface CustomResource {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  /** The object's `spec` and `status`. */
  readonly schema: z.ZodType;
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
