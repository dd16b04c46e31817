import { type CelInput, celEnv, isCelError, parse, plan } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { ipFunctions } from './ip-functions.js';
import { listFunctions } from './list-functions.js';

export const environment: ReturnType<typeof celEnv> = celEnv({ funcs: [...strings, ...ipFunctions, ...listFunctions] });

/** The values of the names of an expression. */
export interface Variables {
  readonly [name: string]: CelInput;
}

/** The result of an expression: its value, or why it has none. */
export type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string };

export interface Expression {
  evaluate(variables: Variables): Outcome;
}

export function compileExpression(text: string): Expression {
  try {
    const run = plan(environment, parse(text)) as (variables: Variables) => unknown;
    return { evaluate: (variables) => outcomeOf(run(variables)) };
  } catch (error) {
    const failed: Outcome = { ok: false, error: `rule compile error: ${(error as Error).message}` };
    return { evaluate: () => failed };
  }
}

function outcomeOf(result: unknown): Outcome {
  return isCelError(result) ? { ok: false, error: errorText(result.message) } : { ok: true, value: result };
}

const errorTexts: readonly (readonly [RegExp, string])[] = [
  [/^\w+ divide by zero$/, 'division by zero'],
  [/^\w+ modulus by zero$/, 'modulus by zero'],
  [/^field not found: (.*)$/, 'no such key: $1'],
  [/^index (-?\d+) out of bounds .*$/, 'index out of bounds: $1'],
  [/^u?int overflow during .*$/, 'integer overflow'],
  [/^found no matching overload .*$/s, 'no such overload'],
];

/** The real server's text for a message of the library. */
function errorText(message: string): string {
  const [pattern, text] = errorTexts.find(([known]) => known.test(message)) ?? [];
  return pattern === undefined || text === undefined ? message : message.replace(pattern, text);
}
