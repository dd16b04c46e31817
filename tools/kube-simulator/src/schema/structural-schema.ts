/**
 * A CRD's `openAPIV3Schema` in the form that every write walks: properties are Maps (an object has `constructor` even if it is not declared), and
 * each node knows what is below it, so that a walk skips irrelevant parts.
 */
import type { Json, JsonObject } from '../api-object.js';
import { isJsonArray, isJsonObject } from '../json-equal.js';
import { listOf, objectOf, textOf } from '../json-parts.js';
import { isKnownFormat } from './formats.js';

export type JsonType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
export type ListType = 'atomic' | 'set' | 'map';
export type MapType = 'granular' | 'atomic';

/** One entry of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export interface StructuralSchema {
  /** The node as it stands in the CRD. */
  readonly source: JsonObject;
  /** Empty if any type is allowed; two for int-or-string. */
  readonly types: readonly JsonType[];
  /** Empty unless this format is checked for the type. */
  readonly format: string;
  readonly nullable: boolean;
  readonly default: Json | undefined;
  /** In the order of their names: the order of everything that is reported. */
  readonly properties: ReadonlyMap<string, StructuralSchema>;
  /** True: any value, whose own fields are unknown. */
  readonly additionalProperties: StructuralSchema | true | undefined;
  readonly items: StructuralSchema | undefined;
  readonly required: readonly string[];
  readonly enum: readonly Json[] | undefined;
  readonly pattern: { readonly text: string; readonly expression: RegExp } | undefined;
  readonly bounds: Bounds;
  readonly allOf: readonly StructuralSchema[];
  readonly anyOf: readonly StructuralSchema[];
  readonly oneOf: readonly StructuralSchema[];
  readonly not: StructuralSchema | undefined;
  readonly preserveUnknownFields: boolean;
  readonly embeddedResource: boolean;
  readonly intOrString: boolean;
  readonly listType: ListType;
  readonly listMapKeys: readonly string[];
  readonly mapType: MapType;
  readonly rules: readonly ValidationRule[];
  /** Here or below. */
  readonly has: { readonly rules: boolean; readonly listTypes: boolean };
}

export interface Bounds {
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly minProperties: number | undefined;
  readonly maxProperties: number | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly exclusiveMinimum: boolean;
  readonly exclusiveMaximum: boolean;
  readonly multipleOf: number | undefined;
}

const compiled = new WeakMap<JsonObject, StructuralSchema>();

/** Returns the compiled form of `openAPIV3Schema`, the same for the same object. */
export function structuralSchema(source: JsonObject): StructuralSchema {
  let schema = compiled.get(source);
  if (schema === undefined) {
    schema = compile(source);
    compiled.set(source, schema);
  }
  return schema;
}

function compile(source: JsonObject): StructuralSchema {
  const children = compileChildren(source);
  const listType = oneOfWords(source['x-kubernetes-list-type'], ['atomic', 'set', 'map'] as const, 'atomic');
  const rules = listOf(source['x-kubernetes-validations']).map((rule) => ruleOf(objectOf(rule)));
  const nodes = childNodes(children);
  return {
    source,
    ...children,
    types: typesOf(source),
    format: formatOf(source),
    nullable: source['nullable'] === true,
    default: source['default'] ?? undefined,
    required: stringsOf(source['required']),
    enum: isJsonArray(source['enum']) && source['enum'].length > 0 ? source['enum'] : undefined,
    pattern: patternOf(source['pattern']),
    bounds: boundsOf(source),
    preserveUnknownFields: source['x-kubernetes-preserve-unknown-fields'] === true,
    embeddedResource: source['x-kubernetes-embedded-resource'] === true,
    intOrString: source['x-kubernetes-int-or-string'] === true,
    listType,
    listMapKeys: stringsOf(source['x-kubernetes-list-map-keys']),
    mapType: oneOfWords(source['x-kubernetes-map-type'], ['granular', 'atomic'] as const, 'granular'),
    rules,
    has: {
      rules: rules.length > 0 || nodes.some((node) => node.has.rules),
      listTypes: listType !== 'atomic' || nodes.some((node) => node.has.listTypes),
    },
  };
}

function ruleOf(source: JsonObject): ValidationRule {
  const { optionalOldSelf } = source;
  const texts = (['message', 'messageExpression', 'reason', 'fieldPath'] as const).flatMap((key) => {
    const text = textOf(source[key]);
    return text === '' ? [] : [[key, text] as const];
  });
  return {
    rule: textOf(source['rule']),
    ...Object.fromEntries(texts),
    ...(typeof optionalOldSelf === 'boolean' ? { optionalOldSelf } : {}),
  };
}

type Children = Pick<StructuralSchema, 'properties' | 'additionalProperties' | 'items' | 'allOf' | 'anyOf' | 'oneOf' | 'not'>;

function compileChildren(source: JsonObject): Children {
  const additional = source['additionalProperties'];
  const properties = isJsonObject(source['properties']) ? source['properties'] : {};
  return {
    properties: new Map(
      Object.entries(properties)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([name, property]) => (isJsonObject(property) ? [[name, structuralSchema(property)] as const] : [])),
    ),
    additionalProperties: isJsonObject(additional) ? structuralSchema(additional) : additional === true ? true : undefined,
    items: isJsonObject(source['items']) ? structuralSchema(source['items']) : undefined,
    allOf: schemasOf(source['allOf']),
    anyOf: schemasOf(source['anyOf']),
    oneOf: schemasOf(source['oneOf']),
    not: isJsonObject(source['not']) ? structuralSchema(source['not']) : undefined,
  };
}

function childNodes(children: Children): readonly StructuralSchema[] {
  const { properties, additionalProperties, items } = children;
  return [
    ...properties.values(),
    ...(additionalProperties === undefined || additionalProperties === true ? [] : [additionalProperties]),
    ...(items === undefined ? [] : [items]),
    ...children.allOf,
  ];
}

function schemasOf(value: Json | undefined): readonly StructuralSchema[] {
  return isJsonArray(value) ? value.filter((entry) => isJsonObject(entry)).map((entry) => structuralSchema(entry)) : [];
}

function stringsOf(value: Json | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}

function oneOfWords<Word extends string>(value: Json | undefined, words: readonly Word[], otherwise: Word): Word {
  return words.find((word) => word === value) ?? otherwise;
}

function typesOf(source: JsonObject): readonly JsonType[] {
  if (source['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  const type = source['type'];
  return typeof type === 'string' && type !== '' ? [type as JsonType] : [];
}

function formatOf({ format, type }: JsonObject): string {
  return typeof format === 'string' && typeof type === 'string' && isKnownFormat(type, format) ? format : '';
}

function boundsOf(source: JsonObject): Bounds {
  const number = (key: keyof Bounds): number | undefined => {
    const value = source[key];
    return typeof value === 'number' ? value : undefined;
  };
  return {
    minLength: number('minLength'),
    maxLength: number('maxLength'),
    minItems: number('minItems'),
    maxItems: number('maxItems'),
    minProperties: number('minProperties'),
    maxProperties: number('maxProperties'),
    minimum: number('minimum'),
    maximum: number('maximum'),
    exclusiveMinimum: source['exclusiveMinimum'] === true,
    exclusiveMaximum: source['exclusiveMaximum'] === true,
    multipleOf: number('multipleOf'),
  };
}

function patternOf(text: Json | undefined): StructuralSchema['pattern'] {
  if (typeof text !== 'string' || text === '') return undefined;
  const expression = toRegExp(text);
  return expression === undefined ? undefined : { text, expression };
}

/** Go's regular expressions as JavaScript's; undefined if they cannot be compiled. */
export function toRegExp(text: string): RegExp | undefined {
  const [, letters = '', rest = text] = /^\(\?([ims]+)\)(.*)$/s.exec(text) ?? [];
  const source = rest.replaceAll('(?P<', '(?<').replaceAll('\\z', '$(?!\\n)').replaceAll('\\A', '^');
  // Unicode mode refuses escapes that Go allows, such as `\_`.
  for (const flags of [`${letters}u`, letters]) {
    try {
      return new RegExp(source, flags);
    } catch {
      // tried again without Unicode mode
    }
  }
  return undefined;
}
