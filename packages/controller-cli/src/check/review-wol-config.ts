/** What is wrong with a WolConfig of a file: what its schema refuses, and what the controller would report in the condition Ready. */
import { parseWolConfig, type UnknownField } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readWolConfig } from '@vmdhcp/reconciler/wake-on-lan';
import type { FieldProblem } from './read-objects.js';
import { toFieldProblem } from './to-field-problem.js';

export interface WolConfigReview {
  readonly problems: readonly FieldProblem[];
  readonly warnings: readonly (FieldProblem | UnknownField)[];
}

/** All problems of the schema; without any, all others. */
export function reviewWolConfig(object: KubernetesObject): WolConfigReview {
  const { status: _, ...written } = object;
  const parsed = parseWolConfig(written);
  if (!parsed.ok) return { problems: parsed.problems, warnings: parsed.unknownFields };
  const reading = readWolConfig(object);
  if (!reading.ok) {
    const problems = reading.problems.map(({ path, message, remedy }) => toFieldProblem(object, path, { message, remedy }));
    return { problems, warnings: parsed.unknownFields };
  }
  const ignored = reading.config.ignoredMappings.map((text) => {
    const [message = '', remedy = 'correct it'] = text.split('; ', 2);
    return toFieldProblem(object, ['spec', 'explicitMappings'], { message, remedy });
  });
  return { problems: [], warnings: [...parsed.unknownFields, ...ignored] };
}
