import type { Cause } from '../api-error.js';
import type { JsonObject } from '../api-object.js';
import { textOf } from '../json-parts.js';
import { prefixedNameMessage } from './name-rules.js';

const valuePattern = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const valueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** Errors in labels. */
export function labelCauses(labels: JsonObject): readonly Cause[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...cause(key, prefixedNameMessage(key)),
    ...cause(textOf(value), labelValueMessage(textOf(value))),
  ]);
}

export function labelValueMessage(value: string): string | undefined {
  if (value.length > 63) return 'must be no more than 63 bytes';
  return valuePattern.test(value) ? undefined : valueText;
}

function cause(value: string, why: string | undefined): readonly Cause[] {
  if (why === undefined) return [];
  return [{ reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${why}`, field: 'metadata.labels' }];
}
