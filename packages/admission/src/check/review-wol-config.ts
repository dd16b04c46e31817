/**
 * Finds problems of a WolConfig in a file: what its schema refuses, and what the controller would report in the condition Ready.
 */
import { parseWolConfig, type UnknownField } from '@vmdhcp/ippool-api';
import { describeNames, type KubernetesObject, readList } from '@vmdhcp/kube-runtime';
import type { AdmissionProblem } from '@vmdhcp/reconciler';
import { describePortConflict, type ReadWolConfig, readWolConfig, sharePorts, unsecuredBy } from '@vmdhcp/wake-on-lan/controller';
import { toFieldProblem } from './to-field-problem.js';

export interface WolConfigReview {
  readonly problems: readonly AdmissionProblem[];
  readonly warnings: readonly (AdmissionProblem | UnknownField)[];
}

/** The WolConfigs among these objects that have no problem. */
export function readWolConfigs(objects: readonly KubernetesObject[]): readonly ReadWolConfig[] {
  const readings = objects.filter(({ kind }) => kind === 'WolConfig').map(readWolConfig);
  return readings.flatMap((reading) => (reading.ok ? [reading.config] : []));
}

/** All problems of the schema; if there are none, all others. @param all - the WolConfigs of all files. */
export function reviewWolConfig(object: KubernetesObject, all: readonly ReadWolConfig[]): WolConfigReview {
  const { status: _, ...written } = object;
  const parsed = parseWolConfig(written);
  if (!parsed.ok) return { problems: parsed.problems, warnings: parsed.unknownFields };
  const reading = readWolConfig(object);
  if (!reading.ok) {
    const problems = reading.problems.map(({ path, message, remedy }) => toFieldProblem(object, path, { message, remedy }));
    return { problems, warnings: parsed.unknownFields };
  }
  const { config } = reading;
  const ignored = config.ignoredMappings.map((text) => toFieldProblem(object, ['spec', 'explicitMappings'], toWords(text)));
  const unwise = [...ignored, ...selectorWarnings(object, config), ...passwordWarnings(object, config, all)];
  return { problems: portProblems(object, config, all), warnings: [...parsed.unknownFields, ...unwise] };
}

/** A message and its remedy. */
function toWords(text: string): Pick<AdmissionProblem, 'message' | 'remedy'> {
  const [message = '', remedy = 'correct it'] = text.split('; ', 2);
  return { message, remedy };
}

function portProblems(
  object: KubernetesObject,
  { name }: ReadWolConfig,
  all: readonly ReadWolConfig[],
): readonly AdmissionProblem[] {
  const ports = readList(object.spec, 'wolPorts');
  return (sharePorts(all).get(name)?.conflicts ?? []).map((conflict) => {
    const index = ports.indexOf(conflict.port);
    const path = index < 0 ? ['spec', 'wolPorts'] : ['spec', 'wolPorts', index];
    return toFieldProblem(object, path, toWords(describePortConflict(conflict)));
  });
}

/** For Kubernetes, a selector without labels selects everything; this is often a mistake. */
function selectorWarnings(object: KubernetesObject, { allows }: ReadWolConfig): readonly AdmissionProblem[] {
  if (allows.mode !== 'LabelSelector') return [];
  const { matchLabels = {}, matchExpressions = [] } = allows.selector;
  if (Object.keys(matchLabels).length + matchExpressions.length > 0) return [];
  const message = 'is empty, and selects every virtual machine of the namespaces';
  const remedy = 'write the labels of the virtual machines, or discoveryMode: All without vmSelector';
  return [toFieldProblem(object, ['spec', 'vmSelector'], { message, remedy })];
}

function passwordWarnings(
  object: KubernetesObject,
  config: ReadWolConfig,
  all: readonly ReadWolConfig[],
): readonly AdmissionProblem[] {
  const others = unsecuredBy(config, all);
  if (others.length === 0) return [];
  const names = `WolConfig ${describeNames(others)}`;
  const message = `${names} allows machines of this one without a password, so packets without it start them`;
  const remedy = `give ${names} the same passwordSecret, or let it allow other machines only`;
  return [toFieldProblem(object, ['spec', 'passwordSecret'], { message, remedy })];
}
