import type { ControllerContext } from './controller-context.js';
import { daemonSetWorkload } from './daemon-set-workload.js';
import { DefinitionController } from './definition-controller.js';
import { deploymentWorkload } from './deployment-workload.js';
import { GarbageCollector } from './garbage-collector.js';
import { NamespaceController } from './namespace-controller.js';
import { NodeLifecycle } from './node-lifecycle.js';
import { replicaSetWorkload } from './replica-set-workload.js';
import { Scheduler } from './scheduler.js';
import type { SimulatedNodes } from './simulated-nodes.js';
import { WorkloadController } from './workload-controller.js';

/** The controllers that run in the background. */
export interface Controllers {
  stop(): Promise<void>;
}

export interface ControllersOptions extends ControllerContext {
  /** PEM of the API server's authority; undefined over plain HTTP. */
  readonly authority: string | undefined;
  readonly nodes: SimulatedNodes;
  readonly orphanedPodsMs: number;
}

/** Starts all controllers. The scheduler starts with the first Node: without Nodes, Pods are left alone. */
export const startControllers = async (context: ControllersOptions): Promise<Controllers> => {
  const collector = new GarbageCollector(context);
  const unwatchKinds = context.api.watch({ group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }, () =>
    setImmediate(() => collector.watchKinds()),
  );
  collector.watchKinds();
  const running = [
    new DefinitionController(context),
    new NamespaceController(context),
    new WorkloadController(deploymentWorkload, context),
    new WorkloadController(replicaSetWorkload, context),
    new WorkloadController(daemonSetWorkload, context),
    new NodeLifecycle(context),
    collector,
  ];
  let scheduler: Scheduler | undefined;
  await context.nodes.attach(context.api, () => {
    scheduler ??= new Scheduler(context);
  });
  return {
    stop: async () => {
      unwatchKinds();
      context.nodes.detach();
      await Promise.all([...running, ...(scheduler === undefined ? [] : [scheduler])].map((controller) => controller.stop()));
    },
  };
};
