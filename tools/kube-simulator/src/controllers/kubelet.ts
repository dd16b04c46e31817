/**
 * A stand-in for the kubelet of one Node: it starts a process for every Pod that is bound to the Node, writes its state into the Pod's status, and
 * completes the Pod's deletion when the process has ended.
 */
import type { ApiClient, WatchEvent } from '../api/api-client.js';
import { isMissing } from './api-outcome.js';
import { EventRecorder } from './event-recorder.js';
import { advance, type BackOff, defaultBackOff, type PodCommand, type PodEvent, type PodRun, startRun } from './pod-run.js';
import { type PodAddresses, toPodStatus } from './pod-status.js';
import type { PodProcess, RunPod } from './run-pod.js';
import { updateObject } from './update-object.js';
import { isDeleting, isFinished, type Pod } from './workload-kinds.js';

export interface KubeletOptions {
  /** The current API client: it changes with a restart of the server. */
  readonly api: () => ApiClient;
  readonly nodeName: string;
  readonly runPod: RunPod;
  readonly addresses: (pod: Pod) => PodAddresses;
  readonly backOff?: BackOff;
  /** A write of a status failed, and not because the Pod is gone. */
  readonly onError: (error: unknown) => void;
}

interface Resident {
  /** As the API has it. */
  pod: Pod;
  run: PodRun;
  process: PodProcess;
  timer?: NodeJS.Timeout;
  readonly addresses: PodAddresses;
  /** Status writes of a Pod follow each other. */
  writing: Promise<void>;
  /** The object is gone: nothing is written any more. */
  gone: boolean;
}

/**
 * A process that could not be started, or need not be. Each has its own promises: a shared promise that never settles would keep everyone who waits
 * for it in memory.
 */
const endedProcess = (): PodProcess => ({
  ready: new Promise(() => undefined),
  exited: Promise.resolve(1),
  stop: () => undefined,
});

/** A Pod that was running before the simulator was restarted has lost its process: that counts as a restart. */
const restartsBefore = ({ status }: Pod): number => {
  const [container] = status?.containerStatuses ?? [];
  return container === undefined ? 0 : 1 + Number(container['restartCount'] ?? 0);
};

const locate = ({ metadata }: Pod) => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' });

export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #residents = new Map<string, Resident>();
  readonly #events: EventRecorder;
  #unwatch: (() => void) | undefined;

  constructor(options: KubeletOptions) {
    this.#options = options;
    this.#events = new EventRecorder(options.api, 'kubelet');
  }

  /** Runs the Node's Pods from now on. Pods whose processes it knows from before a disconnection continue. */
  connect(): void {
    const selection = { fieldSelector: `spec.nodeName=${this.#options.nodeName}` };
    this.#unwatch ??= this.#options.api().watch({ resource: 'pods' }, (event) => this.#observe(event), selection);
    for (const resident of this.#residents.values()) this.#reconnect(resident);
  }

  /** Disconnects the Node from the API; the processes continue. */
  disconnect(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
  }

  /** Powers the Node off: all processes end without any report. Resolves when they have ended. */
  async kill(): Promise<void> {
    this.disconnect();
    const residents = [...this.#residents.values()];
    this.#residents.clear();
    const processes = residents.map(({ process }) => process);
    for (const resident of residents) {
      resident.gone = true;
      clearTimeout(resident.timer);
      // Its end is not reported: it is not started again.
      resident.process = endedProcess();
    }
    for (const process of processes) process.stop(0);
    await Promise.allSettled(processes.map(({ exited }) => exited));
  }

  get isConnected(): boolean {
    return this.#unwatch !== undefined;
  }

  #observe({ type, object }: WatchEvent): void {
    const pod = object as Pod;
    const resident = this.#residents.get(pod.metadata.uid ?? '');
    if (type === 'DELETED') this.#forget(resident, pod);
    else if (resident === undefined) this.#admit(pod);
    else {
      resident.pod = pod;
      this.#checkDeletion(resident);
    }
  }

  #admit(pod: Pod): void {
    if (isFinished(pod)) return;
    const process = isDeleting(pod) ? endedProcess() : this.#start(pod);
    const run = startRun(Date.now(), restartsBefore(pod));
    const addresses = this.#options.addresses(pod);
    const resident: Resident = { pod, run, process, addresses, writing: Promise.resolve(), gone: false };
    this.#residents.set(pod.metadata.uid ?? '', resident);
    this.#follow(resident, process);
    this.#report(resident);
    this.#tell(resident, 'Started', 'Started container');
    this.#checkDeletion(resident);
  }

  #start(pod: Pod): PodProcess {
    try {
      return this.#options.runPod(pod);
    } catch (error) {
      this.#options.onError(error);
      return endedProcess();
    }
  }

  #follow(resident: Resident, process: PodProcess): void {
    const isCurrent = () => resident.process === process;
    const tell = (kind: 'ready' | 'unready') => {
      if (isCurrent()) this.#advance(resident, { kind, atMs: Date.now() });
    };
    const exited = (exitCode: number) => {
      if (isCurrent()) this.#advance(resident, { kind: 'exited', exitCode, atMs: Date.now() });
    };
    process.ready.then(
      () => tell('ready'),
      () => undefined,
    );
    process.exited.then(
      (exitCode) => exited(exitCode),
      () => exited(1),
    );
    process.onReadiness?.((ready) => tell(ready ? 'ready' : 'unready'));
  }

  #checkDeletion(resident: Resident): void {
    const { pod, run } = resident;
    if (!isDeleting(pod)) return;
    const graceSeconds = pod.metadata.deletionGracePeriodSeconds ?? 0;
    if (!run.removing || run.stage === 'stopping') this.#advance(resident, { kind: 'deletion', graceSeconds, atMs: Date.now() });
  }

  #forget(resident: Resident | undefined, pod: Pod): void {
    if (resident === undefined) return;
    resident.gone = true;
    const graceSeconds = Math.max(1, pod.metadata.deletionGracePeriodSeconds ?? 1);
    if (resident.run.stage === 'finished' || resident.run.stage === 'waiting') this.#drop(resident);
    else this.#advance(resident, { kind: 'deletion', graceSeconds, atMs: Date.now() });
  }

  #drop(resident: Resident): void {
    clearTimeout(resident.timer);
    this.#residents.delete(resident.pod.metadata.uid ?? '');
  }

  #advance(resident: Resident, event: PodEvent): void {
    const restartPolicy = resident.pod.spec.restartPolicy ?? 'Always';
    const { run, commands } = advance(resident.run, event, { restartPolicy, backOff: this.#options.backOff ?? defaultBackOff });
    const isNew = run !== resident.run;
    resident.run = run;
    if (isNew) this.#report(resident);
    if (event.kind === 'deletion' && run.stage === 'stopping') this.#tell(resident, 'Killing', 'Stopping container');
    if (run.stage === 'waiting' && event.kind === 'exited')
      this.#tell(resident, 'BackOff', 'Back-off restarting failed container');
    for (const command of commands) this.#obey(resident, command);
  }

  #obey(resident: Resident, command: PodCommand): void {
    switch (command.kind) {
      case 'start':
        resident.process = this.#start(resident.pod);
        this.#follow(resident, resident.process);
        this.#tell(resident, 'Started', 'Started container');
        return;
      case 'wait':
        this.#later(resident, command.delayMs, () => this.#advance(resident, { kind: 'back-off-over', atMs: Date.now() }));
        return;
      case 'stop':
        resident.process.stop(command.graceSeconds);
        // A process that does not listen is killed.
        this.#later(resident, command.graceSeconds * 1000, () => resident.process.stop(0));
        return;
      case 'remove':
        if (resident.gone) this.#drop(resident);
        else this.#remove(resident);
    }
  }

  #later(resident: Resident, delayMs: number, action: () => void): void {
    clearTimeout(resident.timer);
    resident.timer = setTimeout(action, delayMs);
    resident.timer.unref();
  }

  #report(resident: Resident): void {
    this.#write(resident, () =>
      updateObject(this.#options.api(), { resource: 'pods', ...locate(resident.pod), subresource: 'status' }, (live: Pod) =>
        live.metadata.uid === resident.pod.metadata.uid
          ? { ...live, status: toPodStatus(live, resident.run, resident.addresses) }
          : live,
      ),
    );
  }

  #tell({ pod }: Resident, reason: string, what: string): void {
    const names = pod.spec.containers.map(({ name }) => name).join(', ');
    const type = reason === 'BackOff' ? 'Warning' : 'Normal';
    if (this.isConnected) void this.#events.record({ object: pod, type, reason, message: `${what} ${names}` });
  }

  #remove(resident: Resident): void {
    this.#write(resident, async () => {
      const { uid = '' } = resident.pod.metadata;
      const path = { resource: 'pods', ...locate(resident.pod) };
      await this.#options.api().delete(path, { gracePeriodSeconds: 0, preconditions: { uid } });
    });
  }

  /** Writes are lost while the Node is cut off, and repeated when it is back. */
  #write(resident: Resident, write: () => Promise<unknown>): void {
    const guarded = async () => {
      if (resident.gone || !this.isConnected) return;
      await write();
    };
    resident.writing = resident.writing.then(guarded).catch((error: unknown) => {
      if (!isMissing(error)) this.#options.onError(error);
    });
  }

  #reconnect(resident: Resident): void {
    const live = this.#options.api().get({ resource: 'pods', ...locate(resident.pod) });
    if (live?.metadata.uid !== resident.pod.metadata.uid) this.#forget(resident, resident.pod);
    else if (resident.run.removing && resident.run.stage === 'finished') this.#remove(resident);
    else this.#report(resident);
  }
}
