/** The causes that validation returns, with the texts of the real server's field errors. */
import type { Cause } from '../api-error.js';
import type { Json } from '../api-object.js';

/** The name of the root of an object as a field. */
export const noField = '<nil>';

/** Leaves the value out of the text, as for an object or a list in a rule. */
export const omitted: unique symbol = Symbol('omitted');

const words = {
  FieldValueRequired: 'Required value',
  FieldValueInvalid: 'Invalid value',
  FieldValueTypeInvalid: 'Invalid value',
  FieldValueForbidden: 'Forbidden',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
} as const;
export type CauseReason = keyof typeof words;

/** The cause of `reason` for `field` (`<nil>` if empty): `Invalid value: "x": detail`. */
export function causeOf(reason: CauseReason, field: string, { value = omitted, detail = '' }: CauseText = {}): Cause {
  const shown = value === omitted ? '' : `: ${JSON.stringify(value)}`;
  return {
    reason,
    message: `${words[reason]}${shown}${detail === '' ? '' : `: ${detail}`}`,
    field: field === '' ? noField : field,
  };
}

interface CauseText {
  readonly value?: Json | typeof omitted;
  readonly detail?: string;
}

export function required(field: string, detail = ''): Cause {
  return causeOf('FieldValueRequired', field, { detail });
}

export function invalid(field: string, value: Json | typeof omitted, detail: string): Cause {
  return causeOf('FieldValueInvalid', field, { value, detail });
}

export function forbidden(field: string, detail: string): Cause {
  return causeOf('FieldValueForbidden', field, { detail });
}

export function duplicate(field: string, value: Json | typeof omitted): Cause {
  return causeOf('FieldValueDuplicate', field, { value });
}

/** `supported` are shown in the order they are in. */
export function notSupported(field: string, value: Json, supported: readonly Json[]): Cause {
  const texts = supported.map((word) => JSON.stringify(typeof word === 'string' ? word : JSON.stringify(word)));
  return causeOf('FieldValueNotSupported', field, { value, detail: `supported values: ${texts.join(', ')}` });
}

export function typeInvalid(field: string, value: Json, detail: string): Cause {
  return causeOf('FieldValueTypeInvalid', field, { value, detail });
}

export function tooLong(field: string, maximum: number): Cause {
  return causeOf('FieldValueTooLong', field, { detail: `may not be more than ${maximum} bytes` });
}

export function tooMany(field: string, count: number, maximum: number): Cause {
  return causeOf('FieldValueTooMany', field, { value: count, detail: `must have at most ${maximum} items` });
}
