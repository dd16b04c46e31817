/** `x-kubernetes-validations`: rules run on existing values, the rules of a value before those below it. */
import { type CelInput, celList } from '@bufbuild/cel';
import type { Cause } from '../api-error.js';
import type { Json } from '../api-object.js';
import { isJsonArray, isJsonObject, jsonEqual } from '../json-equal.js';
import { ownValue } from '../own-value.js';
import { duplicate, forbidden, invalid, omitted, required } from './causes.js';
import { celResource, celValue } from './cel/cel-value.js';
import { type Bindings, type CompiledRule, compiledRules, hasTransitionRules } from './cel/compile-rule.js';
import { correlateItems } from './correlate-items.js';
import { entryOf, type FieldPath, fieldOf, formatPath } from './field-path.js';
import type { StructuralSchema } from './structural-schema.js';
import type { Place } from './validate-structure.js';

/**
 * Returns a cause for each rule that does not hold. A rule that does not use the old value is not reported for an unchanged value; a rule that uses
 * it is skipped if there is none.
 */
export function validateRules(schema: StructuralSchema, object: Json, oldObject: Json | undefined): Cause[] {
  const causes: Cause[] = [];
  const unchanged = once(() => oldObject !== undefined && jsonEqual(object, oldObject));
  visit({ schema, value: object, old: oldObject, path: undefined, unchanged }, causes);
  return causes;
}

interface Visited extends Place {
  /** True if the value, or the nearest comparable value around it, is unchanged. */
  readonly unchanged: () => boolean;
}

function visit(place: Visited, causes: Cause[]): void {
  const { schema, value, old } = place;
  if (!schema.has.rules || value === null) return;
  // Shared with the old object: the same rules were true for the same value, except transition rules.
  if (old !== undefined && value === old && !hasTransitionRules(schema)) return;
  if (compiledRules(schema).length > 0) runRules(place, causes);
  for (const part of schema.allOf) visit({ ...place, schema: part }, causes);
  if (isJsonArray(value)) visitItems(place, value, causes);
  else if (isJsonObject(value)) visitFields(place, causes);
}

function visitItems(place: Visited, items: readonly Json[], causes: Cause[]): void {
  const { schema, old, path } = place;
  const itemSchema = schema.items;
  if (itemSchema?.has.rules !== true) return;
  const oldItem = correlateItems(schema, items, old);
  for (const [index, value] of items.entries()) {
    visit(below(place, { schema: itemSchema, value, old: oldItem(index), path: entryOf(path, index) }), causes);
  }
}

function visitFields(place: Visited, causes: Cause[]): void {
  const { schema, value, old, path } = place;
  const fields = isJsonObject(value) ? value : {};
  const oldFields = isJsonObject(old) ? old : {};
  const visitField = (fieldSchema: StructuralSchema, key: string, at: FieldPath): void => {
    const field = ownValue(fields, key);
    if (field !== undefined) {
      visit(below(place, { schema: fieldSchema, value: field, old: ownValue(oldFields, key), path: at }), causes);
    }
  };
  const additional = schema.additionalProperties;
  if (additional !== undefined && additional !== true && additional.has.rules) {
    for (const key of Object.keys(fields)) visitField(additional, key, entryOf(path, key));
  }
  for (const [key, property] of schema.properties) {
    if (property.has.rules) visitField(property, key, fieldOf(path, key));
  }
}

function below(parent: Visited, place: Place): Visited {
  const { value, old } = place;
  return { ...place, unchanged: old === undefined ? parent.unchanged : once(() => jsonEqual(value, old)) };
}

function once(compute: () => boolean): () => boolean {
  let known: boolean | undefined;
  return () => {
    known ??= compute();
    return known;
  };
}

function runRules(place: Visited, causes: Cause[]): void {
  const self = selfOf(place, place.value);
  const oldSelf = place.old === undefined || place.old === null ? undefined : selfOf(place, place.old);
  for (const compiled of compiledRules(place.schema)) {
    const bindings = bindingsFor(compiled, self, oldSelf);
    const cause = bindings === undefined ? undefined : runRule(place, compiled, bindings);
    if (cause !== undefined) causes.push(cause);
  }
}

/** Returns undefined if the rule needs an old value and there is none. */
function bindingsFor(compiled: CompiledRule, self: CelInput, oldSelf: CelInput | undefined): Bindings | undefined {
  if (compiled.rule.optionalOldSelf === true) return { self, oldSelf: celList(oldSelf === undefined ? [] : [oldSelf]) };
  if (oldSelf !== undefined) return { self, oldSelf };
  return compiled.usesOldSelf ? undefined : { self };
}

function selfOf({ schema, path }: Place, value: Json): CelInput {
  const resource = (path === undefined || schema.embeddedResource) && isJsonObject(value);
  return resource ? celResource(schema, value) : celValue(schema, value);
}

function runRule(place: Visited, compiled: CompiledRule, bindings: Bindings): Cause | undefined {
  const outcome = compiled.condition.evaluate(bindings);
  if (!outcome.ok) return failure(place, compiled, outcome.error);
  if (outcome.value === true) return undefined;
  if (!compiled.usesOldSelf && place.unchanged()) return undefined;
  return violation(place, compiled, messageOf(compiled, bindings));
}

function failure({ schema, path }: Place, { rule }: CompiledRule, error: string): Cause {
  const named = (text(rule.message) ?? rule.rule).trim();
  const detail = error.startsWith('no such overload')
    ? `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${named}`
    : `${error} evaluating rule: ${named}`;
  return invalid(formatPath(path), schema.types[0] ?? '', detail);
}

function violation({ value, path }: Place, { rule }: CompiledRule, message: string): Cause {
  const field = formatPath(path) + fieldPathOf(rule.fieldPath ?? '', path === undefined);
  const shown = typeof value === 'object' ? omitted : value;
  if (rule.reason === 'FieldValueForbidden') return forbidden(field, message);
  if (rule.reason === 'FieldValueRequired') return required(field, message);
  return rule.reason === 'FieldValueDuplicate' ? duplicate(field, shown) : invalid(field, shown, message);
}

/** `.a['b-c']` as the field errors write it: `.a.b-c`. */
function fieldPathOf(fieldPath: string, atRoot: boolean): string {
  const path = fieldPath.replaceAll(/\['((?:[^'\\]|\\.)*)'\]/g, (_, name: string) => `.${name.replaceAll(/\\(.)/g, '$1')}`);
  return atRoot ? path.replace(/^\./, '') : path;
}

function messageOf({ rule, message }: CompiledRule, bindings: Bindings): string {
  const outcome = message?.evaluate(bindings);
  if (outcome?.ok === true && typeof outcome.value === 'string') {
    const message = outcome.value.trim();
    if (message !== '' && !message.includes('\n')) return message;
  }
  return text(rule.message)?.trim() ?? `failed rule: ${rule.rule.trim()}`;
}

function text(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value;
}
