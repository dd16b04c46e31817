import type { ControllerContext } from './controller-context.js';
import { DaemonSetController } from './daemon-set-controller.js';
import { DefinitionController } from './definition-controller.js';
import { DeploymentController } from './deployment-controller.js';
import { GarbageCollector } from './garbage-collector.js';
import { NamespaceController } from './namespace-controller.js';
import { NodeLifecycle } from './node-lifecycle.js';
import { ReplicaSetController } from './replica-set-controller.js';
import { Scheduler } from './scheduler.js';
import type { SimulatedNodes } from './simulated-nodes.js';

/** What works in the background. */
export interface Controllers {
  stop(): Promise<void>;
}

export interface ControllersOptions extends ControllerContext {
  /** PEM of the API server's authority; undefined over plain HTTP. */
  readonly authority: string | undefined;
  readonly nodes: SimulatedNodes;
  readonly orphanedPodsMs: number;
}

/** Starts all controllers. The scheduler starts with the first Node: where nothing runs Pods, they are left alone. */
export const startControllers = async (context: ControllersOptions): Promise<Controllers> => {
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
