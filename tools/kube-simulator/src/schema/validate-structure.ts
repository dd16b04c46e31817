/**
 * Types, formats, bounds, enums, required fields: everything of a schema but its rules. Causes come in a fixed order (the real
 * server's changes from request to request): those of a value before those below it, fields by name, missing fields last.
 */
import type { Cause } from '../api-error.js';
import type { Json, JsonObject } from '../api-object.js';
import { isJsonArray, isJsonObject, jsonEqual } from '../json-equal.js';
import { ownValue } from '../own-value.js';
import { invalid, notSupported, required, tooLong, tooMany, typeInvalid } from './causes.js';
import { correlateItems } from './correlate-items.js';
import { entryOf, type FieldPath, fieldOf, formatPath } from './field-path.js';
import { matchesFormat } from './formats.js';
import type { Bounds, StructuralSchema } from './structural-schema.js';

/** A value and its old value; undefined if there is no counterpart. */
export interface Place {
  readonly schema: StructuralSchema;
  readonly value: Json;
  readonly old: Json | undefined;
  readonly path: FieldPath | undefined;
}

/**
 * Returns the errors in the value, except old errors: an unchanged value is tolerated.
 *
 * @param prefix stands before the fields, not in the texts: that is how the status subresource reports.
 */
export function validateStructure(place: Place, prefix = ''): Cause[] {
  const report: Report = { prefix, causes: [] };
  checkPlace(report, place);
  return report.causes;
}

interface Report {
  readonly prefix: string;
  readonly causes: Cause[];
}

function checkPlace(report: Report, place: Place): void {
  const { value, old } = place;
  if (old !== undefined && value === old) return;
  const before = report.causes.length;
  checkType(report, place);
  if (value !== null) checkContent(report, place);
  if (report.causes.length > before && old !== undefined && jsonEqual(value, old)) report.causes.length = before;
}

function checkContent(report: Report, place: Place): void {
  if (hasAlternatives(place.schema)) checkAlternatives(report, place);
  checkValue(report, place);
  checkEnum(report, place);
  if (isJsonObject(place.value)) checkObject(report, place, place.value);
}

function checkValue(report: Report, place: Place): void {
  const { value } = place;
  if (typeof value === 'string') checkString(report, place, value);
  else if (typeof value === 'number') checkNumber(report, place, value);
  else if (isJsonArray(value)) checkArray(report, place, value);
}

function fieldAt(report: Report, path: FieldPath | undefined): string {
  const name = formatPath(path);
  return [report.prefix, name].filter((part) => part !== '').join(name.startsWith('[') ? '' : '.');
}

/** Adds `Invalid value: <value>: <name> in body <fault>`. */
function addInvalid(report: Report, path: FieldPath | undefined, [value, fault]: readonly [value: Json, fault: string]): void {
  report.causes.push(invalid(fieldAt(report, path), value, `${formatPath(path)} in body ${fault}`));
}

/** Adds a cause that names no field (but the subresource), for errors of the schema as a whole. */
function addGeneral(report: Report, detail: string): void {
  report.causes.push(invalid(report.prefix, '', detail));
}

function checkType(report: Report, { schema, value, path }: Place): void {
  const { types, format } = schema;
  if (types.length === 0) return;
  const actual = typeName(value);
  if (value === null ? schema.nullable : types.some((type) => isOfType(type, value))) return;
  // The format reports errors of a value with a format, unless it is a string or a list.
  const byFormat = format !== '' && value !== null && typeof value !== 'string' && !isJsonArray(value);
  addTypeInvalid(report, path, byFormat ? [format, goFormat(value)] : [types.join(','), actual]);
}

function addTypeInvalid(report: Report, path: FieldPath | undefined, [expected, shown]: readonly [string, string]): void {
  const detail = `${formatPath(path)} in body must be of type ${expected}: ${JSON.stringify(shown)}`;
  report.causes.push(typeInvalid(fieldAt(report, path), shown, detail));
}

/** The name of the JSON type as the schema has it. */
export function typeName(value: Json): string {
  if (value === null) return 'null';
  if (isJsonArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function goFormat(value: Json): string {
  if (typeof value !== 'number') return '';
  return Number.isInteger(value) ? 'int64' : 'float64';
}

function isOfType(type: string, value: Json): boolean {
  const actual = typeName(value);
  return type === actual || (type === 'number' && actual === 'integer');
}

/** The real server stops at the first error of length and pattern; it checks the format separately. */
function checkString(report: Report, { schema, path }: Place, text: string): void {
  const { maxLength } = schema.bounds;
  if (maxLength !== undefined && text.length > maxLength && characters(text) > maxLength) {
    report.causes.push(tooLong(fieldAt(report, path), maxLength));
  } else {
    const fault = stringComplaint(schema, text);
    if (fault !== undefined) addInvalid(report, path, [text, fault]);
  }
  if (schema.format !== '' && !matchesFormat(schema.format, text)) addTypeInvalid(report, path, [schema.format, text]);
}

function stringComplaint({ bounds, pattern }: StructuralSchema, text: string): string | undefined {
  if (bounds.minLength !== undefined && characters(text) < bounds.minLength) {
    return `should be at least ${bounds.minLength} chars long`;
  }
  return pattern === undefined || pattern.expression.test(text) ? undefined : `should match '${pattern.text}'`;
}

/** Characters as the real server counts them: code points. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function checkNumber(report: Report, { schema, path }: Place, value: number): void {
  if (schema.types[0] === 'integer' && !fitsInteger(schema.format, value)) {
    const format = schema.format === '' ? '(default format)' : `with format ${schema.format}`;
    addGeneral(report, `Checked value must be of type integer ${format} in ${formatPath(path)}`);
  }
  for (const complaint of [multipleComplaint, maximumComplaint, minimumComplaint]) {
    const fault = complaint(schema.bounds, value);
    if (fault !== undefined) addInvalid(report, path, [value, fault]);
  }
}

function multipleComplaint({ multipleOf }: Bounds, value: number): string | undefined {
  if (multipleOf === undefined || Number.isInteger(value / multipleOf)) return undefined;
  return `should be a multiple of ${goFloat(multipleOf)}`;
}

function maximumComplaint({ maximum, exclusiveMaximum }: Bounds, value: number): string | undefined {
  if (maximum === undefined || (exclusiveMaximum ? value < maximum : value <= maximum)) return undefined;
  return `should be less than ${exclusiveMaximum ? '' : 'or equal to '}${goFloat(maximum)}`;
}

function minimumComplaint({ minimum, exclusiveMinimum }: Bounds, value: number): string | undefined {
  if (minimum === undefined || (exclusiveMinimum ? value > minimum : value >= minimum)) return undefined;
  return `should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${goFloat(minimum)}`;
}

function fitsInteger(format: string, value: number): boolean {
  const bits = format === 'int32' ? 31 : 63;
  return Number.isInteger(value) && value >= -(2 ** bits) && value < 2 ** bits;
}

/** A number as Go prints a float64: with an exponent from a million on. */
function goFloat(value: number): string {
  if (value === 0 || (Math.abs(value) < 1e6 && Math.abs(value) >= 1e-4)) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

function checkArray(report: Report, place: Place, items: readonly Json[]): void {
  const { schema, old, path } = place;
  const { minItems, maxItems } = schema.bounds;
  const itemSchema = schema.items;
  if (itemSchema !== undefined) {
    const oldItem = correlateItems(schema, items, old);
    for (const [index, value] of items.entries()) {
      checkPlace(report, { schema: itemSchema, value, old: oldItem(index), path: entryOf(path, index) });
    }
  }
  if (minItems !== undefined && items.length < minItems) {
    addInvalid(report, path, [items.length, `should have at least ${minItems} items`]);
  }
  if (maxItems !== undefined && items.length > maxItems) {
    report.causes.push(tooMany(fieldAt(report, path), items.length, maxItems));
  }
}

function checkEnum(report: Report, { schema, value, path }: Place): void {
  if (schema.enum === undefined || schema.enum.some((allowed) => jsonEqual(allowed, value))) return;
  report.causes.push(notSupported(fieldAt(report, path), value, schema.enum));
}

function checkObject(report: Report, place: Place, object: JsonObject): void {
  const { schema, path } = place;
  const { minProperties, maxProperties } = schema.bounds;
  if (minProperties !== undefined || maxProperties !== undefined) {
    const count = Object.keys(object).length;
    if (count < (minProperties ?? 0)) {
      addInvalid(report, path, [count, `should have at least ${minProperties} properties`]);
      return;
    }
    if (count > (maxProperties ?? Number.POSITIVE_INFINITY)) {
      report.causes.push(tooMany(fieldAt(report, path), count, maxProperties ?? 0));
      return;
    }
  }
  checkFields(report, place, object);
  for (const key of requiredFields(schema)) {
    if (ownValue(object, key) === undefined) report.causes.push(required(fieldAt(report, fieldOf(path, key))));
  }
}

function requiredFields(schema: StructuralSchema): readonly string[] {
  return schema.embeddedResource ? [...new Set(['apiVersion', 'kind', ...schema.required])] : schema.required;
}

function checkFields(report: Report, { schema, old, path }: Place, object: JsonObject): void {
  const oldFields = isJsonObject(old) ? old : {};
  const checkField = (fieldSchema: StructuralSchema, key: string): void => {
    const value = ownValue(object, key);
    if (value === undefined) return;
    checkPlace(report, { schema: fieldSchema, value, old: ownValue(oldFields, key), path: fieldOf(path, key) });
  };
  const { properties, additionalProperties } = schema;
  if (additionalProperties !== undefined && additionalProperties !== true) {
    for (const key of Object.keys(object)) {
      if (!properties.has(key)) checkField(additionalProperties, key);
    }
  }
  for (const [key, property] of properties) checkField(property, key);
}

function hasAlternatives({ anyOf, oneOf, allOf, not }: StructuralSchema): boolean {
  return anyOf.length > 0 || oneOf.length > 0 || allOf.length > 0 || not !== undefined;
}

function checkAlternatives(report: Report, place: Place): void {
  const { schema, path } = place;
  const attempts = (schemas: readonly StructuralSchema[]): Cause[][] =>
    schemas.map((alternative) => validateStructure({ ...place, schema: alternative, old: undefined }, report.prefix));
  const complain = (text: string): void => addGeneral(report, `${JSON.stringify(formatPath(path))} ${text}`);
  if (schema.anyOf.length > 0) checkAnyOf(report, attempts(schema.anyOf), complain);
  if (schema.oneOf.length > 0) checkOneOf(report, attempts(schema.oneOf), complain);
  if (schema.allOf.length > 0) checkAllOf(report, attempts(schema.allOf), complain);
  if (schema.not !== undefined && attempts([schema.not])[0]?.length === 0) complain('must not validate the schema (not)');
}

type Complain = (text: string) => void;

function checkAnyOf(report: Report, attempts: readonly Cause[][], complain: Complain): void {
  if (attempts.some((causes) => causes.length === 0)) return;
  complain('must validate at least one schema (anyOf)');
  report.causes.push(...(attempts[0] ?? []));
}

function checkOneOf(report: Report, attempts: readonly Cause[][], complain: Complain): void {
  const valid = attempts.filter((causes) => causes.length === 0).length;
  if (valid === 1) return;
  complain(`must validate one and only one schema (oneOf). Found ${valid === 0 ? 'none valid' : `${valid} valid alternatives`}`);
  if (valid === 0) report.causes.push(...(attempts[0] ?? []));
}

function checkAllOf(report: Report, attempts: readonly Cause[][], complain: Complain): void {
  const valid = attempts.filter((causes) => causes.length === 0).length;
  if (valid === attempts.length) return;
  complain(`must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
  report.causes.push(...attempts.flat());
}
