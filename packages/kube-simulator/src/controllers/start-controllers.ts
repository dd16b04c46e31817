import type { ControllerContext } from './controller-context.js';
import { DaemonSetController } from './daemon-set-controller.js';
import { DefinitionController } from './definition-controller.js';
import { DeploymentController } from './deployment-controller.js';
import { GarbageCollector } from './garbage-collector.js';
import { NamespaceController } from './namespace-controller.js';
import { NodeLifecycle } from './node-lifecycle.js';
import type { BackOff } from './pod-run.js';
import { ReplicaSetController } from './replica-set-controller.js';
import type { RunPod } from './run-pod.js';
import { idlePod } from './run-pod.js';
import { Scheduler } from './scheduler.js';
import { type NodeDescription, SimulatedNodes } from './simulated-nodes.js';

export interface ClusterOptions {
  /** Nodes that run Pods. Without any there is no scheduler either: Pods stay as they are created, or as they are written by hand. */
  readonly nodes?: readonly NodeDescription[];
  /** Starts a process for a Pod; by default nothing is started, and Pods are ready at once. */
  readonly runPod?: RunPod;
  /** How long a Pod that ended waits before it is started again. */
  readonly backOff?: BackOff;
  /** After so long without its kubelet a Node counts as lost; 40 s by default, as in a real cluster. */
  readonly nodeMonitorGraceMs?: number;
  /** After so long the Pods of a deleted Node are deleted; 40 s by default. */
  readonly orphanedPodsMs?: number;
}

/** What works in the background. */
export interface Controllers {
  readonly nodes: SimulatedNodes;
  stop(): Promise<void>;
}

/** Starts all controllers, and the Nodes that are asked for. */
export const startControllers = async (
  context: ControllerContext & { readonly authority: string | undefined },
  options: ClusterOptions,
): Promise<Controllers> => {
  const { nodes: descriptions = [], runPod = idlePod, backOff, nodeMonitorGraceMs = 40_000, orphanedPodsMs = 40_000 } = options;
  const collector = new GarbageCollector(context);
  const unwatchKinds = context.api.watch({ group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }, () =>
    setImmediate(() => collector.watchKinds()),
  );
  collector.watchKinds();
  const running = [
    new DefinitionController(context),
    new NamespaceController(context),
    new DeploymentController(context),
    new ReplicaSetController(context),
    new DaemonSetController(context),
    new NodeLifecycle({ ...context, orphanedPodsMs }),
    collector,
  ];
  const nodes = new SimulatedNodes({ ...context, runPod, monitorGraceMs: nodeMonitorGraceMs, ...(backOff ? { backOff } : {}) });
  for (const description of descriptions) await nodes.add(description);
  const scheduler = descriptions.length > 0 ? [new Scheduler(context)] : [];
  return {
    nodes,
    stop: async () => {
      unwatchKinds();
      nodes.stop();
      await Promise.all([...running, ...scheduler].map((controller) => controller.stop()));
    },
  };
};
