/** The list, set, regex, URL and optional functions of Kubernetes' CEL. An optional value is a list of none or one. */
import { type CelFunc, type CelInput, type CelList, CelScalar, type CelValue, celFunc, celMethod, listType } from '@bufbuild/cel';
import { toRegExp } from '../structural-schema.js';

const { STRING, BOOL, INT, DYN } = CelScalar;
const LIST = listType(DYN);

type Comparable = bigint | number | string | boolean;

function comparables(list: CelList): Comparable[] {
  return [...list] as Comparable[];
}

function extreme(list: CelList, name: string, better: (a: Comparable, b: Comparable) => boolean): CelInput {
  const [first, ...rest] = comparables(list);
  if (first === undefined) throw new Error(`${name} called on empty list`);
  return rest.reduce((best, item) => (better(item, best) ? item : best), first);
}

/** Items of lists are nearly always scalars; a list or an object is compared by its content. */
function identity(value: CelValue): unknown {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
}

function positionIn(items: readonly CelValue[], value: CelValue): bigint {
  return BigInt(items.findIndex((item) => identity(item) === identity(value)));
}

function containsAll(list: CelList, wanted: CelList): boolean {
  const present = new Set([...list].map(identity));
  return [...wanted].every((item) => present.has(identity(item)));
}

function regex(pattern: string): RegExp {
  const expression = toRegExp(pattern);
  if (expression === undefined) throw new Error(`error parsing regexp: ${pattern}`);
  return expression;
}

function parseUrl(text: string): URL {
  if (text.startsWith('/')) return new URL(text, 'url://');
  if (!URL.canParse(text))
    throw new Error(`URL parse error during conversion from string: parse "${text}": invalid URI for request`);
  return new URL(text);
}

export const listFunctions: CelFunc[] = [
  celMethod('isSorted', LIST, [], BOOL, function () {
    return comparables(this).every((item, index, items) => index === 0 || (items[index - 1] as Comparable) <= item);
  }),
  celMethod('sum', LIST, [], DYN, function () {
    const items = comparables(this);
    if (items.every((item) => typeof item === 'bigint')) return items.reduce((sum, item) => sum + item, 0n);
    return items.reduce<number>((sum, item) => sum + Number(item), 0);
  }),
  celMethod('min', LIST, [], DYN, function () {
    return extreme(this, 'min', (a, b) => a < b);
  }),
  celMethod('max', LIST, [], DYN, function () {
    return extreme(this, 'max', (a, b) => a > b);
  }),
  celMethod('indexOf', LIST, [DYN], INT, function (value) {
    return positionIn([...this], value);
  }),
  celMethod('lastIndexOf', LIST, [DYN], INT, function (value) {
    const items = [...this].toReversed();
    const position = positionIn(items, value);
    return position < 0n ? position : BigInt(items.length - 1) - position;
  }),
  celFunc('sets.contains', [LIST, LIST], BOOL, containsAll),
  celFunc('sets.equivalent', [LIST, LIST], BOOL, (a, b) => containsAll(a, b) && containsAll(b, a)),
  celFunc('sets.intersects', [LIST, LIST], BOOL, (a, b) => {
    const present = new Set([...a].map(identity));
    return [...b].some((item) => present.has(identity(item)));
  }),
  celMethod('find', STRING, [STRING], STRING, function (pattern) {
    return regex(pattern).exec(this)?.[0] ?? '';
  }),
  celMethod('findAll', STRING, [STRING], listType(STRING), function (pattern) {
    const expression = regex(pattern);
    return [...this.matchAll(new RegExp(expression.source, `${expression.flags}g`))].map(([text]) => text);
  }),
  celFunc('isURL', [STRING], BOOL, (text) => text.startsWith('/') || URL.canParse(text)),
  celFunc('url', [STRING], STRING, (text) => {
    parseUrl(text);
    return text;
  }),
  celMethod('getScheme', STRING, [], STRING, function () {
    return this.startsWith('/') ? '' : parseUrl(this).protocol.slice(0, -1);
  }),
  celMethod('getHost', STRING, [], STRING, function () {
    return parseUrl(this).host;
  }),
  celMethod('getHostname', STRING, [], STRING, function () {
    return parseUrl(this).hostname;
  }),
  celMethod('getPort', STRING, [], STRING, function () {
    return parseUrl(this).port;
  }),
  celMethod('getEscapedPath', STRING, [], STRING, function () {
    return parseUrl(this).pathname;
  }),
  celMethod('hasValue', LIST, [], BOOL, function () {
    return this.size > 0;
  }),
  celMethod('value', LIST, [], DYN, function () {
    const value = this.get(0);
    if (value === undefined) throw new Error('optional.none() dereference');
    return value as CelInput<typeof DYN>;
  }),
  celMethod('orValue', LIST, [DYN], DYN, function (otherwise) {
    return (this.get(0) ?? otherwise) as CelInput<typeof DYN>;
  }),
];
