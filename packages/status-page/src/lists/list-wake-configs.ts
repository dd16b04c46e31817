/** The WolConfigs for the page. */
import { type Condition, type KubernetesObject, readConditions, readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { PageState, PageWakeConfig } from '../model/page-data.js';
import { type Grave, sortGraves, toPageConditions, toPageReason, worstState } from '../reason/page-reason.js';

/** Sorted by name. */
export function listWakeConfigs(objects: Iterable<KubernetesObject>): readonly PageWakeConfig[] {
  return [...objects].map(toWakeConfig).toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function toWakeConfig({ metadata: { name }, spec, status }: KubernetesObject): PageWakeConfig {
  const graves = conditionGraves(status);
  const managed = readField(status, 'managedVMs');
  return {
    name,
    mode: readText(spec, 'discoveryMode') ?? 'All',
    ports: readList(spec, 'wolPorts').filter((port) => typeof port === 'number'),
    managedMachines: typeof managed === 'number' ? managed : null,
    agents: agentsOf(readField(status, 'agentStatus')),
    state: worstState(graves.map(({ state }) => state)),
    reasons: sortGraves(graves),
    conditions: toPageConditions(status),
  };
}

function agentsOf(status: unknown): PageWakeConfig['agents'] {
  const daemonSet = readText(status, 'daemonSetName');
  if (daemonSet === undefined) return null;
  const [wanted, ready] = ['desiredNumberScheduled', 'numberReady'].map((field) => readField(status, field));
  return { daemonSet, wanted: typeof wanted === 'number' ? wanted : 0, ready: typeof ready === 'number' ? ready : 0 };
}

/** `Ready` that is not True means trouble, now or soon; reasons of other conditions are notes. */
function conditionGraves(status: unknown): readonly Grave[] {
  return readConditions(status).flatMap((condition): Grave[] => {
    const { type, status, reason, message } = condition;
    if (typeof reason !== 'string' || reason === '' || (type === 'Ready' && status === 'True')) return [];
    return [{ state: stateOf(condition), reason: toPageReason(reason, textOf(message)) }];
  });
}

/** `Ready` is Unknown while agents start. */
function stateOf({ type, status }: Condition): PageState {
  if (type !== 'Ready') return 'note';
  return status === 'Unknown' ? 'waiting' : 'broken';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
