import type { WolConfigSpec } from '@vmdhcp/ippool-api';
import type { WolConfigProblem } from './wol-config-problem.js';

type Selector = NonNullable<WolConfigSpec['vmSelector']>;
type Requirement = NonNullable<Selector['matchExpressions']>[number];

/** Operators of Kubernetes, and whether they need values. */
const NEEDS_VALUES: ReadonlyMap<string, boolean> = new Map([
  ['In', true],
  ['NotIn', true],
  ['Exists', false],
  ['DoesNotExist', false],
]);

/** The problems of a label selector: one that Kubernetes would refuse must not select by chance. */
export function selectorProblems({ matchExpressions = [] }: Selector): readonly WolConfigProblem[] {
  return matchExpressions.flatMap((requirement, index) => {
    const problem = requirementProblem(requirement);
    return problem === undefined ? [] : [{ path: ['spec', 'vmSelector', 'matchExpressions', index], ...problem }];
  });
}

function requirementProblem({ operator, values = [] }: Requirement): Omit<WolConfigProblem, 'path'> | undefined {
  const needsValues = NEEDS_VALUES.get(operator);
  if (needsValues === undefined)
    return { message: `operator ${operator} is unknown`, remedy: 'use In, NotIn, Exists or DoesNotExist' };
  if (needsValues && values.length === 0) return { message: `operator ${operator} needs values`, remedy: 'list at least one' };
  if (!needsValues && values.length > 0) return { message: `operator ${operator} takes no values`, remedy: 'remove them' };
  return undefined;
}
