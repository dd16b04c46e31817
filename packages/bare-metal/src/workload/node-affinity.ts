/** The node affinity of a ClusterAgent, written in full so that a patch towards it removes what it no longer has. */
import { isRecord, readField, readList } from '@vmdhcp/kube-runtime';

export type NodeAffinity = Readonly<Record<string, unknown>>;

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Undefined if none is specified. */
export function readNodeAffinity(value: unknown): NodeAffinity | undefined {
  if (!isRecord(value)) return undefined;
  const [required, preferred] = [readField(value, REQUIRED), readList(value, PREFERRED)];
  if (!isRecord(required) && preferred.length === 0) return undefined;
  return {
    [REQUIRED]: isRecord(required) ? { nodeSelectorTerms: readList(required, 'nodeSelectorTerms').map(readTerm) } : undefined,
    [PREFERRED]: preferred.length === 0 ? undefined : preferred.map(readPreference),
  };
}

function readPreference(value: unknown): object {
  return { weight: readField(value, 'weight'), preference: readTerm(readField(value, 'preference')) };
}

function readTerm(value: unknown): object {
  const requirements = (field: string) => {
    const list = readList(value, field);
    return list.length === 0 ? undefined : list.map(readRequirement);
  };
  return { matchExpressions: requirements('matchExpressions'), matchFields: requirements('matchFields') };
}

function readRequirement(value: unknown): object {
  const values = readList(value, 'values');
  const [key, operator] = [readField(value, 'key'), readField(value, 'operator')];
  return { key, operator, values: values.length === 0 ? undefined : values };
}
