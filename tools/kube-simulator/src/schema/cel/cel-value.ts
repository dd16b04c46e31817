/**
 * Values of an object as CEL sees them, typed by the schema: an `integer` is an int, a `number` a double, a `date-time` a timestamp. Objects are
 * converted field by field, when a rule reads the field, so that a rule on a large object costs only what it reads.
 */
import { type CelInput, type CelValue, celEnv, celList, celMap, isCelError, parse, plan } from '@bufbuild/cel';
import type { Json, JsonObject } from '../../api-object.js';
import { isJsonArray, isJsonObject } from '../../json-equal.js';
import { ownValue } from '../../own-value.js';
import { type StructuralSchema, structuralSchema } from '../structural-schema.js';
import { unescapeField } from './field-names.js';

/** Returns `value` as CEL sees it. Without a schema (unknown fields are preserved) by its JSON type. */
export function celValue(schema: StructuralSchema | undefined, value: Json): CelInput {
  if (isJsonArray(value)) return celList(value.map((item) => celValue(schema?.items, item)));
  if (isJsonObject(value)) return celObject(schema, value);
  if (typeof value === 'number') return schema?.types[0] === 'number' || !Number.isInteger(value) ? value : BigInt(value);
  return typeof value === 'string' ? celString(schema?.format, value) : value;
}

/** Returns a custom resource as an object: its rules may read the type and the name too. */
export function celResource(schema: StructuralSchema, object: JsonObject): CelInput {
  return celObject(schema, object, (name) => schema.properties.get(name) ?? resourceFields.properties.get(name));
}

const resourceFields = structuralSchema({
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } },
  },
});

/** True if the fields of a node are declared, so that their names are escaped in rules. */
function hasDeclaredFields(schema: StructuralSchema | undefined): boolean {
  return schema !== undefined && schema.properties.size > 0;
}

function celObject(
  schema: StructuralSchema | undefined,
  object: JsonObject,
  schemaOf = (name: string): StructuralSchema | undefined => fieldSchema(schema, name),
): CelInput {
  const fields = new LazyFields(object, { schemaOf, escaped: hasDeclaredFields(schema) });
  // A field that is null exists, but the library would report that it does not.
  return Object.assign(celMap(fields), { has: (name: unknown) => typeof name === 'string' && fields.has(name) });
}

function fieldSchema(schema: StructuralSchema | undefined, name: string): StructuralSchema | undefined {
  const additional = schema?.additionalProperties;
  return schema?.properties.get(name) ?? (additional === true ? undefined : additional);
}

class LazyFields implements ReadonlyMap<string, CelInput> {
  readonly #object: JsonObject;
  readonly #names: { schemaOf(name: string): StructuralSchema | undefined; readonly escaped: boolean };
  readonly #converted = new Map<string, CelInput>();

  constructor(object: JsonObject, names: { schemaOf(name: string): StructuralSchema | undefined; readonly escaped: boolean }) {
    this.#object = object;
    this.#names = names;
  }

  get size(): number {
    return Object.keys(this.#object).length;
  }

  has(name: string): boolean {
    return ownValue(this.#object, this.#nameOf(name)) !== undefined;
  }

  get(name: string): CelInput | undefined {
    const key = this.#nameOf(name);
    const known = this.#converted.get(key);
    if (known !== undefined) return known;
    const value = ownValue(this.#object, key);
    if (value === undefined) return undefined;
    const converted = celValue(this.#names.schemaOf(key), value);
    this.#converted.set(key, converted);
    return converted;
  }

  keys(): MapIterator<string> {
    return Object.keys(this.#object).values();
  }

  *values(): MapIterator<CelInput> {
    for (const [, value] of this) yield value;
  }

  *entries(): MapIterator<[string, CelInput]> {
    for (const key of Object.keys(this.#object)) yield [key, this.get(key) as CelInput];
  }

  [Symbol.iterator](): MapIterator<[string, CelInput]> {
    return this.entries();
  }

  forEach(callback: (value: CelInput, key: string, map: ReadonlyMap<string, CelInput>) => void): void {
    for (const [key, value] of this) callback(value, key, this);
  }

  #nameOf(name: string): string {
    return this.#names.escaped ? unescapeField(name) : name;
  }
}

const conversions: ReadonlyMap<string, (bindings: { text: string }) => CelValue | Error> = new Map(
  [
    ['date-time', 'timestamp(text)'],
    ['datetime', 'timestamp(text)'],
    ['date', "timestamp(text + 'T00:00:00Z')"],
    ['duration', 'duration(text)'],
  ].map(([format = '', expression = '']) => [
    format,
    plan(celEnv(), parse(expression)) as (bindings: { text: string }) => CelValue,
  ]),
);

function celString(format: string | undefined, text: string): CelInput {
  const converted = format === undefined ? undefined : conversions.get(format)?.({ text });
  return converted === undefined || isCelError(converted) ? text : (converted as CelInput);
}
