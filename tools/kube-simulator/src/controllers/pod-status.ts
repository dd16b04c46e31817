import type { JsonObject } from '../api-object.js';
import type { Exit, PodRun } from './pod-run.js';
import { type Condition, type Container, type Pod, type PodStatus, toTime } from './workload-kinds.js';

/** Addresses at which nothing answers: the address of a Pod only identifies it. */
export interface PodAddresses {
  readonly hostIp: string;
  readonly podIp: string;
}

/** What the kubelet writes into `status` of a Pod whose life is `run`. */
export const toPodStatus = (pod: Pod, run: PodRun, { hostIp, podIp }: PodAddresses): PodStatus => {
  const before = pod.status?.conditions ?? [];
  return {
    ...pod.status,
    phase: phaseOf(run),
    conditions: conditionsOf(run, before),
    hostIP: hostIp,
    hostIPs: [{ ip: hostIp }],
    podIP: podIp,
    podIPs: [{ ip: podIp }],
    startTime: (pod.status?.['startTime'] as string | undefined) ?? at(run.startedAtMs),
    ...(pod.spec.initContainers?.length
      ? { initContainerStatuses: pod.spec.initContainers.map((one) => initStatus(one, pod, run)) }
      : {}),
    containerStatuses: pod.spec.containers.map((one) => containerStatus(one, pod, run)),
  };
};

const at = (ms: number): string => toTime(new Date(ms));

const phaseOf = ({ stage, lastExit, removing }: PodRun): string => {
  if (stage !== 'finished' || removing) return 'Running';
  return lastExit?.exitCode === 0 ? 'Succeeded' : 'Failed';
};

const conditionsOf = (run: PodRun, before: readonly Condition[]): readonly Condition[] => {
  const keep = (type: string, status: string, extra: JsonObject = {}): Condition => {
    const old = before.find((condition) => condition.type === type && condition.status === status);
    const lastTransitionTime =
      old?.lastTransitionTime ?? at(status === 'True' && type !== 'Ready' ? run.startedAtMs : run.readySinceMs);
    return { type, status, lastProbeTime: null, lastTransitionTime, ...extra };
  };
  const done = run.stage === 'finished' && run.lastExit?.exitCode === 0 && !run.removing;
  const unready = done ? { reason: 'PodCompleted' } : { reason: 'ContainersNotReady', message: 'containers with unready status' };
  const ready = (type: string) => (run.ready ? keep(type, 'True') : keep(type, 'False', unready));
  return [
    keep('PodReadyToStartContainers', run.stage === 'finished' ? 'False' : 'True'),
    keep('Initialized', 'True'),
    ready('Ready'),
    ready('ContainersReady'),
    keep('PodScheduled', 'True'),
  ];
};

const containerStatus = (container: Container, pod: Pod, run: PodRun): JsonObject => {
  const isUp = run.stage === 'starting' || run.stage === 'running' || run.stage === 'stopping';
  return {
    name: container.name,
    state: stateOf(container, pod, run),
    lastState:
      run.lastExit === undefined || run.stage === 'finished'
        ? {}
        : terminated(run.lastExit, idOf(container, pod, run.restarts - (isUp ? 1 : 0))),
    ready: run.ready,
    restartCount: run.restarts,
    image: container.image ?? '',
    imageID: '',
    ...(run.stage === 'waiting' ? {} : { containerID: idOf(container, pod, run.restarts) }),
    started: isUp,
  };
};

const stateOf = (container: Container, pod: Pod, run: PodRun): JsonObject => {
  switch (run.stage) {
    case 'starting':
    case 'running':
    case 'stopping':
      return { running: { startedAt: at(run.startedAtMs) } };
    case 'waiting': {
      const { name, namespace, uid } = pod.metadata;
      const where = `failed container=${container.name} pod=${name}_${namespace}(${uid})`;
      return { waiting: { reason: 'CrashLoopBackOff', message: `back-off restarting ${where}` } };
    }
    case 'finished':
      return run.lastExit === undefined ? {} : terminated(run.lastExit, idOf(container, pod, run.restarts));
  }
};

const terminated = ({ exitCode, startedAtMs, finishedAtMs }: Exit, containerID: string): JsonObject => ({
  terminated: {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt: at(startedAtMs),
    finishedAt: at(finishedAtMs),
    containerID,
  },
});

const initStatus = (container: Container, pod: Pod, run: PodRun): JsonObject => ({
  name: container.name,
  state: terminated({ exitCode: 0, startedAtMs: run.startedAtMs, finishedAtMs: run.startedAtMs }, idOf(container, pod, 0)),
  lastState: {},
  ready: true,
  restartCount: 0,
  image: container.image ?? '',
  imageID: '',
  containerID: idOf(container, pod, 0),
  started: false,
});

const idOf = ({ name }: Container, { metadata }: Pod, restarts: number): string =>
  `simulator://${metadata.uid}/${name}/${Math.max(0, restarts)}`;
