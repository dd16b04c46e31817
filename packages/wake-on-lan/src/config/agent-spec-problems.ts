import type { WolConfigAgent } from '@vmdhcp/ippool-api';
import { imageProblem } from '@vmdhcp/ippool-api/agent';
import type { WolConfigProblem } from './wol-config-problem.js';

/** Source: k8s.io/apimachinery, `resource.Quantity`. */
const QUANTITY = /^[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?(\d+(\.\d*)?|\.\d+))?$/;
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const UPDATE_STRATEGIES = ['RollingUpdate', 'OnDelete'];

/** The problems of `spec.agent` that one object shows; the API server refuses the rest. */
export function agentSpecProblems({
  image,
  imagePullPolicy,
  updateStrategy,
  resources,
}: Partial<WolConfigAgent> = {}): readonly WolConfigProblem[] {
  const problem = imageProblem(image);
  return [
    ...(problem === undefined ? [] : [{ path: ['spec', 'agent', 'image'], ...problem }]),
    ...oneOf(['imagePullPolicy'], imagePullPolicy, PULL_POLICIES),
    ...oneOf(['updateStrategy', 'type'], updateStrategy?.type, UPDATE_STRATEGIES),
    ...quantityProblems('requests', resources?.requests),
    ...quantityProblems('limits', resources?.limits),
  ];
}

function oneOf(field: readonly string[], value: string | undefined, allowed: readonly string[]): readonly WolConfigProblem[] {
  if (value === undefined || allowed.includes(value)) return [];
  const message = `${JSON.stringify(value)} is not allowed here`;
  return [{ path: ['spec', 'agent', ...field], message, remedy: `write ${allowed.join(' or ')}` }];
}

function quantityProblems(
  field: string,
  quantities: Readonly<Record<string, string | number>> = {},
): readonly WolConfigProblem[] {
  return Object.entries(quantities).flatMap(([name, quantity]) =>
    QUANTITY.test(String(quantity))
      ? []
      : [
          {
            path: ['spec', 'agent', 'resources', field, name],
            message: `${JSON.stringify(quantity)} is not a quantity`,
            remedy: 'write it as in 100m or 64Mi',
          },
        ],
  );
}
