import type { Json, JsonObject } from '../api-object.js';

type Step =
  | { readonly field: string }
  | { readonly index: number }
  | { readonly each: true }
  | { readonly where: { readonly path: readonly string[]; readonly equals: string } };

/**
 * Returns a function that finds the first value at a simple JSONPath: fields, quoted fields, indexes, `[*]`, and the filter that printer columns use:
 * `.status.conditions[?(@.type=='Ready')].status`. Undefined if there is no value.
 *
 * Source: k8s.io/apiextensions-apiserver tableconvertor, which shows the first of all results.
 */
export function compileJsonPath(path: string): (value: Json) => Json | undefined {
  const steps = parse(path);
  return (value) => find(value, steps, 0);
}

const token =
  /^(?:\.([A-Za-z0-9_$-]+(?:\\\.[A-Za-z0-9_$/-]+)*)|\['([^']*)'\]|\["([^"]*)"\]|\[(\d+|\*)\]|\[\?\(@((?:\.[A-Za-z0-9_-]+)+)\s*==\s*(?:'([^']*)'|"([^"]*)")\)\])/;

function parse(path: string): readonly Step[] {
  const steps: Step[] = [];
  let rest = path.startsWith('.') || path.startsWith('[') ? path : `.${path}`;
  while (rest !== '') {
    const match = token.exec(rest);
    if (match === null) throw new Error(`not a simple JSONPath at ${JSON.stringify(rest)}: ${path}`);
    steps.push(toStep(match));
    rest = rest.slice(match[0].length);
  }
  return steps;
}

function toStep(match: RegExpExecArray): Step {
  const [, field, single, double, index, where, whereSingle, whereDouble] = match;
  if (index !== undefined) return index === '*' ? { each: true } : { index: Number(index) };
  if (where !== undefined) return { where: { path: where.slice(1).split('.'), equals: whereSingle ?? whereDouble ?? '' } };
  return { field: single ?? double ?? (field ?? '').replaceAll('\\.', '.') };
}

function find(value: Json | undefined, steps: readonly Step[], at: number): Json | undefined {
  const step = steps[at];
  if (step === undefined || value === undefined) return value;
  if ('field' in step) return isObject(value) ? find(value[step.field], steps, at + 1) : undefined;
  if (!Array.isArray(value)) return undefined;
  const items = value as readonly Json[];
  if ('index' in step) return find(items[step.index], steps, at + 1);
  if ('each' in step) return items.map((item) => find(item, steps, at + 1)).find((found) => found !== undefined);
  const wanted = items.find((item) => fieldAt(item, step.where.path) === step.where.equals);
  return find(wanted, steps, at + 1);
}

function fieldAt(value: Json, path: readonly string[]): Json | undefined {
  let current: Json | undefined = value;
  for (const field of path) current = isObject(current) ? current[field] : undefined;
  return current;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
