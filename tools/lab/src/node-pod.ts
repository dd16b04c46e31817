/** A pod with `hostNetwork` as a real process: it runs in the network namespace of its node, with Secrets as files. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { KubeSimulator, Pod, PodProcess } from '@vmdhcp/kube-simulator';
import { followReadiness, readHttpProbe, untilDead, untilStarted } from './http-probe.js';
import type { LabNode } from './lab-node.js';
import { type PodEnvironment, startCheckout } from './lab-pod.js';
import type { LabProcess } from './lab-process.js';
import { podArguments, podVariables } from './pod-variables.js';
import { SecretVolume } from './secret-volume.js';

export interface NodePodEnvironment extends PodEnvironment {
  readonly simulator: KubeSimulator;
  /** Names that the pod resolves, such as those of Services, to addresses. */
  readonly hosts: Readonly<Record<string, string>>;
}

let lastNumber = 0;

export class NodePod implements PodProcess {
  readonly name: string;
  /** The labels of the pod, from its WolConfig, Deployment or DaemonSet. */
  readonly labels: Readonly<Record<string, string>>;
  readonly node: LabNode;
  readonly ready: Promise<void>;
  readonly exited: Promise<number>;
  /** Undefined until its Secrets are there. */
  process: LabProcess | undefined;
  readonly #pod: Pod;
  readonly #environment: NodePodEnvironment;
  readonly #folder: string;
  readonly #ending = new AbortController();
  readonly #becameReady = Promise.withResolvers<void>();
  #volumes: readonly SecretVolume[] = [];
  #isStarted = false;
  #listener: (ready: boolean) => void = () => undefined;

  constructor(pod: Pod, node: LabNode, environment: NodePodEnvironment) {
    this.#pod = pod;
    this.node = node;
    this.#environment = environment;
    this.name = pod.metadata.name ?? '';
    this.labels = pod.metadata.labels ?? {};
    this.#folder = join(node.machine.folder, `pod-${++lastNumber}`);
    mkdirSync(this.#folder);
    this.ready = this.#becameReady.promise;
    this.ready.catch(() => undefined);
    this.exited = this.#run();
  }

  onReadiness(listener: (ready: boolean) => void): void {
    this.#listener = listener;
  }

  stop(gracePeriodSeconds: number): void {
    this.#ending.abort();
    this.process?.kill(gracePeriodSeconds === 0 ? 'SIGKILL' : 'SIGTERM');
  }

  async #run(): Promise<number> {
    try {
      await this.#mountSecrets();
      if (this.#ending.signal.aborted) return 137;
      this.process = this.#start();
      void this.#probe();
      const { code } = await this.process.ended(2 ** 31 - 1);
      return code ?? 137;
    } finally {
      this.#ending.abort();
      for (const volume of this.#volumes) volume.close();
      this.#becameReady.reject(new Error(`pod ${this.name} ended`));
    }
  }

  #start(): LabProcess {
    const { apiServer, onLine, startContainer = startCheckout } = this.#environment;
    const { address, machine } = this.node;
    const variables = podVariables(this.#pod, { podAddress: address, readSecret: (name, key) => this.#readSecret(name, key) });
    return startContainer({
      machine,
      args: podArguments(this.#pod, variables),
      env: {
        KUBERNETES_SERVICE_HOST: apiServer.host,
        KUBERNETES_SERVICE_PORT: String(apiServer.port),
        ...variables,
      },
      securityContext: readField(this.#container, 'securityContext'),
      etc: { folder: this.#writeHosts(), mounts: this.#mounts() },
      onLine: (line) => onLine(this.name, line),
    });
  }

  get #container(): unknown {
    return this.#pod.spec.containers[0];
  }

  /** Resolves when all are there, or the pod is to end. */
  async #mountSecrets(): Promise<void> {
    const { namespace = '' } = this.#pod.metadata;
    this.#volumes = readList(this.#pod.spec, 'volumes').flatMap((volume) => {
      const secretName = readText(volume, 'secret', 'secretName');
      if (secretName === undefined) return [];
      const mode = readField(volume, 'secret', 'defaultMode') as number | undefined;
      const folder = join(this.#folder, readText(volume, 'name') ?? '');
      return [new SecretVolume(this.#environment.simulator, { folder, namespace, secretName, mode })];
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ending.signal.addEventListener('abort', () => resolve());
    await Promise.race([Promise.all(this.#volumes.map(({ mounted }) => mounted)), promise]);
  }

  /** Folders of this host to paths in the container. */
  #mounts(): Readonly<Record<string, string>> {
    const mounted = new Set(this.#volumes.map(({ folder }) => folder));
    const mounts = readList(this.#container, 'volumeMounts').map((mount) => [
      join(this.#folder, readText(mount, 'name') ?? ''),
      readText(mount, 'mountPath') ?? '',
    ]);
    return Object.fromEntries(mounts.filter(([folder]) => mounted.has(folder ?? ''))) as Record<string, string>;
  }

  #writeHosts(): string {
    const lines = Object.entries({ localhost: '127.0.0.1', ...this.#environment.hosts }).map(
      ([name, address]) => `${address} ${name}`,
    );
    const folder = join(this.#folder, 'etc');
    mkdirSync(join(folder, 'upper'), { recursive: true });
    mkdirSync(join(folder, 'work'));
    writeFileSync(join(folder, 'upper', 'hosts'), `${lines.join('\n')}\n`);
    return folder;
  }

  #readSecret(name: string, key: string): string | undefined {
    const { namespace = '' } = this.#pod.metadata;
    const secret = this.#environment.simulator.client.get({ resource: 'secrets', namespace, name });
    const value = readText(secret, 'data', key);
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
  }

  async #probe(): Promise<void> {
    const { signal } = this.#ending;
    const startup = readHttpProbe(this.#container, 'startupProbe', this.node.address);
    const readiness = readHttpProbe(this.#container, 'readinessProbe', this.node.address);
    const liveness = readHttpProbe(this.#container, 'livenessProbe', this.node.address);
    if (startup !== undefined && !(await untilStarted(startup, signal))) {
      if (!signal.aborted) this.process?.kill('SIGTERM');
      return;
    }
    if (readiness === undefined) this.#becameReady.resolve();
    else void followReadiness(readiness, (ready) => this.#onReadiness(ready), signal);
    if (liveness !== undefined && (await untilDead(liveness, signal))) this.process?.kill('SIGTERM');
  }

  #onReadiness(ready: boolean): void {
    if (ready && !this.#isStarted) {
      this.#isStarted = true;
      this.#becameReady.resolve();
      return;
    }
    this.#listener(ready);
  }
}
