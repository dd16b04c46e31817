import type { Cause } from '../api-error.js';
import type { JsonObject } from '../api-object.js';
import { textOf } from '../json-parts.js';

/** The total size of all annotations of an object. Source: k8s.io/apimachinery/pkg/api/validation TotalAnnotationSizeLimitB. */
const maxAnnotationBytes = 262_144;

/** The error of the annotations at this path: their size. */
export function annotationCauses(annotations: JsonObject, field: string): readonly Cause[] {
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) size += Buffer.byteLength(key) + Buffer.byteLength(textOf(value));
  if (size <= maxAnnotationBytes) return [];
  return [{ reason: 'FieldValueTooLong', message: `Too long: may not be more than ${maxAnnotationBytes} bytes`, field }];
}
