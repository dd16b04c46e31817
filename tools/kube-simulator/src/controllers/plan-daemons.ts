/** Plans the next steps of a DaemonSet: one Pod of the current template on every Node that can run it. */
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../api-object.js';
import { matchesNodeSelection, requiredTerms, tolerated } from './node-fit.js';
import { podFromTemplate } from './plan-replicas.js';
import type { PodPlan } from './pod-plan.js';
import { toPods } from './rollout-limits.js';
import {
  type ControllerRevision,
  controlledBy,
  controllerOf,
  type DaemonSet,
  isAvailable,
  isDeleting,
  isFinished,
  isReady,
  type Node,
  type Pod,
  type Toleration,
} from './workload-kinds.js';

export interface ObservedDaemons {
  readonly daemonSet: DaemonSet;
  /** The Pods that the DaemonSet controls. */
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
  /** The ControllerRevisions of its namespace. */
  readonly revisions: readonly ControllerRevision[];
}

export interface DaemonSources extends Omit<ObservedDaemons, 'revisions'> {
  /** Names the current template. */
  readonly hash: string;
  readonly now: Date;
}

const hashLabel = 'controller-revision-hash';

/** A daemon stays on a Node whatever becomes of it. */
const daemonTolerations: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];
const hostNetworkToleration: Toleration = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
};

/** The Pods to create and delete, and the status for the Pods as they are. */
export const planDaemons = (sources: DaemonSources): PodPlan => {
  const { daemonSet, nodes } = sources;
  const wanted = new Set(nodes.filter((node) => takesDaemon(daemonSet, node)).map(({ metadata }) => metadata.name ?? ''));
  const byNode = Map.groupBy(sources.pods, nodeOf);
  const status = daemonStatus(sources, wanted, byNode);
  const report = isDeepStrictEqual(status, daemonSet.status) ? undefined : status;
  if (isDeleting(daemonSet)) return { create: [], remove: [], status: report };
  const missing = [...wanted].filter((name) => !byNode.has(name));
  const surplus = [...byNode].flatMap(([name, pods]) => (wanted.has(name) ? surplusOf(pods) : pods));
  const remove = [...surplus, ...outdated(sources, wanted, byNode)].filter((pod) => !isDeleting(pod));
  return {
    create: missing.map((name) => daemonPod(sources, name)),
    remove: [...new Set(remove.map(({ metadata }) => metadata.name ?? ''))],
    status: report,
  };
};

/** The ControllerRevision for the current template if it does not exist yet; it gets the highest number. */
export const planRevision = (
  { daemonSet, revisions }: Pick<ObservedDaemons, 'daemonSet' | 'revisions'>,
  hash: string,
): JsonObject | undefined => {
  const { uid, annotations = {} } = daemonSet.metadata;
  const { template } = daemonSet.spec;
  const name = `${daemonSet.metadata.name}-${hash}`;
  if (revisions.some(({ metadata }) => metadata.name === name)) return undefined;
  const own = revisions.filter((each) => controllerOf(each)?.uid === uid);
  const generation = annotations['deprecated.daemonset.template.generation'];
  return {
    metadata: {
      name,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(generation === undefined ? {} : { annotations: { 'deprecated.daemonset.template.generation': generation } }),
      ownerReferences: [controlledBy(daemonSet)],
    },
    data: { spec: { template: { ...template, $patch: 'replace' } } },
    revision: 1 + Math.max(0, ...own.map(({ revision = 0 }) => revision)),
  };
};

/** The Node of a Pod; for a Pod that is not scheduled yet, the Node that its affinity names. */
const nodeOf = ({ spec }: Pod): string => spec.nodeName ?? (requiredTerms(spec) ?? [])[0]?.matchFields?.[0]?.values?.[0] ?? '';

const takesDaemon = ({ spec }: DaemonSet, node: Node): boolean =>
  matchesNodeSelection(spec.template.spec, node) && tolerated(tolerationsOf(spec.template.spec), node);

const tolerationsOf = (spec: DaemonSet['spec']['template']['spec']): readonly Toleration[] => [
  ...(spec.tolerations ?? []),
  ...daemonTolerations,
  ...(spec.hostNetwork ? [hostNetworkToleration] : []),
];

const daemonPod = ({ daemonSet, hash }: DaemonSources, nodeName: string): Pod => {
  const { template } = daemonSet.spec;
  const pod = podFromTemplate(daemonSet, template);
  const generation = String(daemonSet.metadata.generation ?? 1);
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] };
  return {
    ...pod,
    metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, [hashLabel]: hash, 'pod-template-generation': generation } },
    spec: {
      ...pod.spec,
      affinity: {
        ...pod.spec.affinity,
        nodeAffinity: {
          ...pod.spec.affinity?.nodeAffinity,
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] },
        },
      },
      tolerations: tolerationsOf(template.spec),
    },
  };
};

const isCurrent = (pod: Pod, hash: string): boolean => pod.metadata.labels?.[hashLabel] === hash;

/** Ended Pods are replaced; if a Node has several, the oldest stays. */
const surplusOf = (pods: readonly Pod[]): readonly Pod[] => {
  const alive = pods.filter((pod) => !isFinished(pod));
  const [, ...later] = alive.toSorted((a, b) => ageOf(a).localeCompare(ageOf(b)));
  return [...pods.filter(isFinished), ...later];
};

const ageOf = ({ metadata }: Pod): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`;

type ByNode = ReadonlyMap<string, readonly Pod[]>;

/** Pods of an older template, as many as may be unavailable; those that are not available count as lost already. */
const outdated = ({ daemonSet, hash, now }: DaemonSources, wanted: ReadonlySet<string>, byNode: ByNode): readonly Pod[] => {
  const { updateStrategy, minReadySeconds = 0 } = daemonSet.spec;
  if (updateStrategy?.type === 'OnDelete') return [];
  const most = Math.max(1, toPods(updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, wanted.size, Math.ceil));
  const pods = [...wanted].flatMap((name) => byNode.get(name) ?? []);
  const available = pods.filter((pod) => !isDeleting(pod) && isAvailable(pod, minReadySeconds, now));
  const budget = most - (wanted.size - new Set(available.map(nodeOf)).size);
  const old = pods.filter((pod) => !isCurrent(pod, hash) && !isDeleting(pod));
  const broken = old.filter((pod) => !available.includes(pod));
  return [...broken, ...old.filter((pod) => available.includes(pod)).slice(0, Math.max(0, budget))];
};

const daemonStatus = ({ daemonSet, hash, now }: DaemonSources, wanted: ReadonlySet<string>, byNode: ByNode) => {
  const onWanted = [...wanted].map((name) => byNode.get(name)?.[0]).filter((pod) => pod !== undefined);
  const available = onWanted.filter((pod) => isAvailable(pod, daemonSet.spec.minReadySeconds ?? 0, now)).length;
  const optional = {
    updatedNumberScheduled: onWanted.filter((pod) => isCurrent(pod, hash)).length,
    numberAvailable: available,
    numberUnavailable: wanted.size - available,
  };
  return {
    currentNumberScheduled: onWanted.length,
    numberMisscheduled: [...byNode].filter(([name]) => !wanted.has(name)).length,
    desiredNumberScheduled: wanted.size,
    numberReady: onWanted.filter(isReady).length,
    observedGeneration: daemonSet.metadata.generation ?? 1,
    ...Object.fromEntries(Object.entries(optional).filter(([, count]) => count !== 0)),
  };
};
