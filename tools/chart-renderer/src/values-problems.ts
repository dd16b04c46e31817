import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ErrorObject } from 'ajv';
import { CHART } from './render-chart.js';

/** What is wrong with a value. */
export interface ValuesProblem {
  /** As in `--set`: `agent.topology`. */
  readonly path: string;
  readonly message: string;
}

const validate = new Ajv({ allErrors: true, strict: true, strictTypes: false, strictRequired: false }).compile(
  JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as object,
);

/** What values.schema.json refuses of merged values (`mergeValues`), every problem of it; none: Helm accepts them. */
export function valuesProblems(values: unknown): readonly ValuesProblem[] {
  validate(values);
  return (validate.errors ?? []).map(toProblem);
}

function toProblem({ instancePath, message = '', params, keyword }: ErrorObject): ValuesProblem {
  const path = instancePath.slice(1).replaceAll('/', '.');
  const unknown = keyword === 'additionalProperties' ? (params as { additionalProperty: string }).additionalProperty : undefined;
  if (unknown !== undefined) return { path: path === '' ? unknown : `${path}.${unknown}`, message: 'is unknown' };
  const allowed = keyword === 'enum' ? `: ${(params as { allowedValues: unknown[] }).allowedValues.join(', ')}` : '';
  return { path, message: `${message}${allowed}` };
}
