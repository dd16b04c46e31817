/** Revisions: each template that a Deployment ever had, as a ReplicaSet with a number. */
import { isDeepStrictEqual } from 'node:util';
import { newCondition } from './deployment-status.js';
import { hashLabel, type Rollout, type RolloutAction, replicasOf } from './rollout.js';
import { scaleAnnotations, wantedOfCurrent } from './rollout-scale.js';
import { setCondition } from './set-condition.js';
import { hashTemplate } from './template-hash.js';
import { withAnnotations } from './with-annotations.js';
import { type Condition, controlledBy, type Deployment, type ReplicaSet } from './workload-kinds.js';

const revisionAnnotation = 'deployment.kubernetes.io/revision';
const historyAnnotation = 'deployment.kubernetes.io/revision-history';

/** Annotations of a Deployment that its ReplicaSets do not inherit. */
const ownAnnotations = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  historyAnnotation,
  'deployment.kubernetes.io/desired-replicas',
  'deployment.kubernetes.io/max-replicas',
]);

/** Ensures that a ReplicaSet of the current template exists and has the highest revision, and that the Deployment shows that. */
export const prepareCurrent = (rollout: Rollout): readonly RolloutAction[] => {
  const revision = 1 + Math.max(0, ...rollout.old.map(revisionOf));
  const { current, deployment, now } = rollout;
  if (current === undefined) return createCurrent(rollout, revision);
  const renewed = renewRevision(current, deployment, revision);
  const shown = showFoundRevision(deployment, renewed, now);
  return [
    ...(isDeepStrictEqual(renewed, current) ? [] : [{ kind: 'update-replica-set', replicaSet: renewed } as const]),
    ...(isDeepStrictEqual(shown, deployment) ? [] : [{ kind: 'report', workload: shown } as const]),
  ];
};

const createCurrent = (rollout: Rollout, revision: number): readonly RolloutAction[] => {
  const replicaSet = newReplicaSet(rollout, revision);
  const { name } = replicaSet.metadata;
  const condition = newCondition(rollout.now, {
    type: 'Progressing',
    status: 'True',
    reason: 'NewReplicaSetCreated',
    message: `Created new replica set "${name}"`,
  });
  return [
    { kind: 'create-replica-set', replicaSet, event: `Scaled up replica set ${name} from 0 to ${replicasOf(replicaSet)}` },
    { kind: 'report', workload: showRevision(rollout.deployment, String(revision), condition) },
  ];
};

export const revisionOf = ({ metadata }: ReplicaSet): number => Number(metadata.annotations?.[revisionAnnotation] ?? 0);

const showRevision = (deployment: Deployment, revision: string, condition: Condition): Deployment => ({
  ...deployment,
  metadata: { ...deployment.metadata, annotations: { ...deployment.metadata.annotations, [revisionAnnotation]: revision } },
  status: { ...deployment.status, conditions: setCondition(deployment.status?.conditions ?? [], condition) },
});

const showFoundRevision = (deployment: Deployment, current: ReplicaSet, now: Date): Deployment => {
  const revision = current.metadata.annotations?.[revisionAnnotation] ?? '';
  const progress = deployment.status?.conditions?.find(({ type }) => type === 'Progressing');
  const message = `Found new replica set "${current.metadata.name}"`;
  const found = newCondition(now, { type: 'Progressing', status: 'True', reason: 'FoundNewReplicaSet', message });
  if (deployment.metadata.annotations?.[revisionAnnotation] === revision && progress !== undefined) return deployment;
  return showRevision(deployment, revision, progress ?? found);
};

const inheritedAnnotations = ({ metadata }: Deployment) =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !ownAnnotations.has(key)));

/** An older template that comes back gets a new revision; the revisions that it had are kept as its history. */
const renewRevision = (set: ReplicaSet, deployment: Deployment, revision: number): ReplicaSet => {
  const before = set.metadata.annotations ?? {};
  const inherited = { ...before, ...inheritedAnnotations(deployment) };
  if (revisionOf(set) >= revision) return withAnnotations(set, inherited);
  const history = [before[historyAnnotation], before[revisionAnnotation]].filter(Boolean).join(',');
  return withAnnotations(set, {
    ...inherited,
    [revisionAnnotation]: String(revision),
    ...(history === '' ? {} : { [historyAnnotation]: history }),
  });
};

const newReplicaSet = (rollout: Rollout, revision: number): ReplicaSet => {
  const { deployment } = rollout;
  const { template, selector, minReadySeconds } = deployment.spec;
  const hash = hashTemplate(template);
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${deployment.metadata.name}-${hash}`,
      ...(deployment.metadata.namespace === undefined ? {} : { namespace: deployment.metadata.namespace }),
      labels,
      annotations: {
        ...inheritedAnnotations(deployment),
        ...scaleAnnotations(deployment),
        [revisionAnnotation]: String(revision),
      },
      ownerReferences: [controlledBy(deployment)],
    },
    spec: {
      replicas: wantedOfCurrent(rollout),
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
};
