/**
 * The shapes of built-in kinds, written down as the Go structs they are in the real server. Decoding with a shape does what Go's
 * decoder does: it refuses wrong types in Go's words, drops and names unknown fields, drops empty values that Go leaves out, and
 * puts the fields in Go's order.
 */
import type { ApiError } from '../api-error.js';
import type { Json, JsonObject } from '../api-object.js';
import { badRequest } from '../failures.js';
import { parseMicroTime, parseTime } from './go-time.js';

type ScalarKind =
  | 'string'
  | 'int32'
  | 'int64'
  | 'float64'
  | 'bool'
  | 'time'
  | 'microTime'
  | 'intOrString'
  | 'quantity'
  | 'bytes'
  | 'any';
/** When a field is written: `non-empty` is `omitempty`, `present` a pointer, `always` neither. */
type Presence = 'non-empty' | 'present' | 'always';

export type GoType =
  | { readonly kind: 'scalar'; readonly scalar: ScalarKind; readonly presence: Presence }
  | { readonly kind: 'list'; readonly items: GoType; readonly presence: Presence }
  | { readonly kind: 'map'; readonly values: GoType; readonly presence: Presence }
  | GoStruct;
export interface GoStruct {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: Readonly<Record<string, GoType>>;
  readonly presence: Presence;
}

const scalar = (kind: ScalarKind, presence: Presence = 'non-empty'): GoType => ({ kind: 'scalar', scalar: kind, presence });
export const text = scalar('string');
export const int32 = scalar('int32');
export const int64 = scalar('int64');
export const flag = scalar('bool');
export const time = scalar('time', 'present');
export const microTime = scalar('microTime', 'present');
export const quantity = scalar('quantity', 'present');
export const intOrString = scalar('intOrString', 'present');
export const bytes = scalar('bytes', 'present');
/** Taken as it is. */
export const anything = scalar('any', 'present');

export const list = (items: GoType): GoType => ({ kind: 'list', items, presence: 'non-empty' });
export const map = (values: GoType): GoType => ({ kind: 'map', values, presence: 'non-empty' });
/** A pointer to a struct: written when present. */
export const struct = (name: string, fields: Readonly<Record<string, GoType>>): GoStruct => ({
  kind: 'struct',
  name,
  fields,
  presence: 'present',
});

/** Written when present, empty or not. */
export const pointer = <T extends GoType>(type: T): T => ({ ...type, presence: 'present' });
/** Always written; `""`, `0`, `{}` or null when absent. */
export const always = <T extends GoType>(type: T): T => ({ ...type, presence: 'always' });

interface Place {
  /** `spec.template.spec.containers[0].name` */
  readonly path: string;
  /** `PodSpec.spec.template.spec.containers`, as Go names it in errors. */
  readonly goPath: string;
}

type FieldPlace = Place & { readonly struct: string };

class Decoder {
  readonly unknownFields: string[] = [];

  struct(type: GoStruct, value: JsonObject, place: Place): JsonObject {
    const result: Record<string, Json> = {};
    const dotted = (field: string): Place => ({
      path: place.path === '' ? field : `${place.path}.${field}`,
      goPath: place.goPath === '' ? field : `${place.goPath}.${field}`,
    });
    for (const [field, fieldType] of Object.entries(type.fields)) {
      const decoded = this.#field(fieldType, value[field], { ...dotted(field), struct: type.name });
      if (decoded !== undefined) result[field] = decoded;
    }
    for (const field of Object.keys(value)) {
      if (!Object.hasOwn(type.fields, field)) this.unknownFields.push(dotted(field).path);
    }
    return result;
  }

  #field(type: GoType, value: Json | undefined, place: FieldPlace): Json | undefined {
    if (value === undefined || value === null) return type.presence === 'always' ? this.#zero(type, place) : undefined;
    const decoded = this.#value(type, value, place);
    return type.presence === 'non-empty' && isEmpty(decoded) ? undefined : decoded;
  }

  #zero(type: GoType, place: Place): Json {
    switch (type.kind) {
      case 'struct':
        return this.struct(type, {}, place);
      case 'map':
      case 'list':
        return null;
      case 'scalar':
        return zeroScalars[type.scalar] ?? null;
      default:
        return type satisfies never;
    }
  }

  #value(type: GoType, value: Json, place: FieldPlace): Json {
    switch (type.kind) {
      case 'struct':
        if (!isObject(value)) throw wrongType(value, place, `v1.${type.name}`);
        return this.struct(type, value, place);
      case 'list':
        if (!Array.isArray(value)) throw wrongType(value, place, `[]${goName(type.items)}`);
        return value.map((item: Json, index) => this.#value(type.items, item, { ...place, path: `${place.path}[${index}]` }));
      case 'map':
        return this.#map(type, value, place);
      case 'scalar':
        return decoders[type.scalar](value, place);
      default:
        return type satisfies never;
    }
  }

  #map(type: { readonly values: GoType }, value: Json, place: FieldPlace): Json {
    if (!isObject(value)) throw wrongType(value, place, `map[string]${goName(type.values)}`);
    const result: Record<string, Json> = {};
    for (const key of Object.keys(value).sort()) {
      result[key] = this.#value(type.values, value[key] ?? zeroOf(type.values), { ...place, path: `${place.path}.${key}` });
    }
    return result;
  }
}

const zeroScalars: Partial<Record<ScalarKind, Json>> = { string: '', int32: 0, int64: 0, float64: 0, bool: false };
const zeroOf = (type: GoType): Json => (type.kind === 'scalar' ? (zeroScalars[type.scalar] ?? null) : null);

/** Returns `value` in the shape of `type`, and the paths of unknown fields. Throws ApiError 400 on a wrong type. */
export function decodeGo(
  type: GoStruct,
  value: JsonObject,
): { readonly value: JsonObject; readonly unknownFields: readonly string[] } {
  const decoder = new Decoder();
  const decoded = decoder.struct(type, value, { path: '', goPath: '' });
  return { value: decoded, unknownFields: decoder.unknownFields };
}

type ScalarDecoder = (value: Json, place: FieldPlace) => Json;

function textual(decode: (text: string) => Json): ScalarDecoder {
  return (value, place) => {
    if (typeof value !== 'string') throw wrongType(value, place, 'string');
    return decode(value);
  };
}

/** Takes values of these JavaScript types as they are. */
function plain(types: readonly string[], goType: string): ScalarDecoder {
  return (value, place) => {
    if (!types.includes(typeof value)) throw wrongType(value, place, goType);
    return value;
  };
}

const decoders: Readonly<Record<ScalarKind, ScalarDecoder>> = {
  any: (value) => value,
  string: plain(['string'], 'string'),
  bytes: plain(['string'], 'string'),
  bool: plain(['boolean'], 'bool'),
  float64: plain(['number'], 'float64'),
  intOrString: plain(['number', 'string'], 'intstr.IntOrString'),
  int32: (value, place) => decodeInteger('int32', value, place),
  int64: (value, place) => decodeInteger('int64', value, place),
  quantity: decodeQuantity,
  time: textual(parseTime),
  microTime: textual(parseMicroTime),
};

function decodeInteger(kind: 'int32' | 'int64', value: Json, place: FieldPlace): number {
  if (typeof value !== 'number') throw wrongType(value, place, kind);
  const limit = kind === 'int32' ? 2 ** 31 : 2 ** 63;
  if (!Number.isInteger(value) || value >= limit || value < -limit) {
    throw badRequest(
      `json: cannot unmarshal number ${value} into Go struct field ${place.struct}.${place.goPath} of type ${kind}`,
    );
  }
  return value;
}

function decodeQuantity(value: Json): Json {
  if (typeof value !== 'number' && typeof value !== 'string') throw badRequest('quantities must match the regular expression');
  if (!/^[+-]?[0-9.]+([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE])?$/.test(String(value))) {
    throw badRequest("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
  return String(value);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Go's name of a JSON value's type in its decoding errors. */
export function goTypeOf(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return value === null ? 'null' : typeof value;
}

function goName(type: GoType): string {
  if (type.kind === 'struct') return `v1.${type.name}`;
  if (type.kind === 'scalar') return type.scalar === 'any' ? 'interface {}' : type.scalar;
  return type.kind === 'list' ? `[]${goName(type.items)}` : `map[string]${goName(type.values)}`;
}

function wrongType(value: Json, place: FieldPlace, expected: string): ApiError {
  return badRequest(
    `json: cannot unmarshal ${goTypeOf(value)} into Go struct field ${place.struct}.${place.goPath} of type ${expected}`,
  );
}

function isEmpty(value: Json): boolean {
  if (value === '' || value === 0 || value === false || value === null) return true;
  if (typeof value !== 'object') return false;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}
