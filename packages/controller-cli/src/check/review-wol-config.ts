/** What is wrong with a WolConfig of a file: what its schema refuses, and what the controller would report in the condition Ready. */
import { parseWolConfig, type UnknownField } from '@vmdhcp/ippool-api';
import { describeNames, type KubernetesObject } from '@vmdhcp/kube-runtime';
import { type ReadWolConfig, readWolConfig, unsecuredBy } from '@vmdhcp/reconciler/wake-on-lan';
import type { FieldProblem } from './read-objects.js';
import { toFieldProblem } from './to-field-problem.js';

export interface WolConfigReview {
  readonly problems: readonly FieldProblem[];
  readonly warnings: readonly (FieldProblem | UnknownField)[];
}

/** The WolConfigs among these objects that have no problem. */
export function readWolConfigs(objects: readonly KubernetesObject[]): readonly ReadWolConfig[] {
  const readings = objects.filter(({ kind }) => kind === 'WolConfig').map(readWolConfig);
  return readings.flatMap((reading) => (reading.ok ? [reading.config] : []));
}

/** All problems of the schema; without any, all others. @param all - the WolConfigs of all files. */
export function reviewWolConfig(object: KubernetesObject, all: readonly ReadWolConfig[]): WolConfigReview {
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
  return { problems: [], warnings: [...parsed.unknownFields, ...ignored, ...passwordWarnings(object, reading.config, all)] };
}

function passwordWarnings(
  object: KubernetesObject,
  config: ReadWolConfig,
  all: readonly ReadWolConfig[],
): readonly FieldProblem[] {
  const others = unsecuredBy(config, all);
  if (others.length === 0) return [];
  const names = `WolConfig ${describeNames(others)}`;
  const message = `${names} allows machines of this one without a password, so that packets without it start them`;
  const remedy = `give ${names} the same passwordSecret, or let it allow other machines only`;
  return [toFieldProblem(object, ['spec', 'passwordSecret'], { message, remedy })];
}
