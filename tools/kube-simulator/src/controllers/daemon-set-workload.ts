/** The controller of DaemonSets: its watches, observations and plans. */
import type { WatchEvent } from '../api/api-client.js';
import { claim } from './claim.js';
import { keyOf } from './object-key.js';
import { type ObservedDaemons, planDaemons, planRevision } from './plan-daemons.js';
import { toWorkloadPlan } from './pod-plan.js';
import { hashTemplate } from './template-hash.js';
import type { WorkloadKind, WorkloadPlan } from './workload-controller.js';
import { type ControllerRevision, controllerOf, type DaemonSet, type KubeObject, type Node, type Pod } from './workload-kinds.js';

const daemonSets = { group: 'apps', resource: 'daemonsets' };
const revisions = { group: 'apps', resource: 'controllerrevisions' };
const podKind = { resource: 'pods' };

export const daemonSetWorkload: WorkloadKind<DaemonSet, ObservedDaemons> = {
  kind: daemonSets,
  component: 'daemonset-controller',
  watches: [
    { kind: podKind, concerns: ownersOfPod },
    { kind: { resource: 'nodes' }, concerns: (_event, api) => api.list(daemonSets).map(keyOf) },
  ],
  observe: async (api, daemonSet) => {
    const { namespace = '' } = daemonSet.metadata;
    return {
      daemonSet,
      pods: await claim<Pod>(api, { owner: daemonSet, selector: daemonSet.spec.selector, kind: podKind }),
      nodes: api.list({ resource: 'nodes' }) as readonly Node[],
      revisions: api.list({ ...revisions, namespace }) as readonly ControllerRevision[],
    };
  },
  plan: planDaemonSet,
};

function ownersOfPod({ object }: WatchEvent): readonly string[] {
  const owner = controllerOf(object as KubeObject);
  return owner?.kind === 'DaemonSet' ? [`${object.metadata.namespace ?? ''}/${owner.name}`] : [];
}

function planDaemonSet(observed: ObservedDaemons, now: Date, refusal?: string): WorkloadPlan {
  const { daemonSet, pods } = observed;
  const hash = hashTemplate(daemonSet.spec.template);
  const revision = planRevision(observed, hash);
  const plan = planDaemons({ ...observed, hash, now });
  // The status of a DaemonSet does not report a refusal: its Event does.
  const create = refusal === undefined ? plan.create : [];
  // Pods that are created now are counted when the watch shows them.
  const status = create.length > 0 ? undefined : plan.status;
  const { actions, ...recheck } = toWorkloadPlan(daemonSet, pods, { ...plan, create, status });
  return {
    ...recheck,
    actions: [...(revision === undefined ? [] : [{ kind: 'create-revision', revision } as const]), ...actions],
  };
}
