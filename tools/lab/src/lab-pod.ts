/** A pod of the simulated cluster as a real process: an agent in a network namespace with an interface for each network. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MULTUS_NETWORKS_ANNOTATION } from '@vmdhcp/ippool-api/resources';
import { readField } from '@vmdhcp/kube-runtime';
import type { Pod, PodProcess } from '@vmdhcp/kube-simulator';
import type { Lab, Machine } from './lab.js';
import type { LabProcess } from './lab-process.js';
import { podArguments, podVariables } from './pod-variables.js';
import { AGENT_BIN } from './programs.js';

/** The settings of every pod of a lab. */
export interface PodEnvironment {
  readonly lab: Lab;
  /** The network over which pods reach the API server. */
  readonly managementNetwork: string;
  /** `namespace/name` of a NetworkAttachmentDefinition to the network of the lab that it means on a node. */
  readonly networksOn: (node: string) => ReadonlyMap<string, string>;
  /** `host:port`. */
  readonly apiServer: { readonly host: string; readonly port: number };
  readonly caCertificate: string;
  /** What the node's kernel settings make of a new pod: names below `/proc/sys/net`, as `ipv4/ip_forward`. */
  readonly sysctls: Readonly<Record<string, string>>;
  /** A token for the pod's ServiceAccount. */
  readonly token: (pod: Pod) => Promise<string>;
  readonly onLine: (pod: string, line: string) => void;
  /** Default: the agent of this checkout, as root of the machine. */
  readonly startContainer?: StartContainer | undefined;
}

/** The container of a pod, with everything that the kubelet works out. */
export interface ContainerOfPod {
  readonly machine: Machine;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** From the specification of the container. */
  readonly securityContext: unknown;
  /** Folder with the ServiceAccount's token; absent: the pod has none. */
  readonly secrets?: string;
  /** What it has below `/etc` besides what is there; absent: nothing. */
  readonly etc?: ContainerEtc;
  readonly onLine: (line: string) => void;
}

export interface ContainerEtc {
  /** With the folders `upper`, whose files replace those of `/etc`, and `work`. */
  readonly folder: string;
  /** Folders of this host to paths in the container below `/etc`, to be read. */
  readonly mounts: Readonly<Record<string, string>>;
}

export type StartContainer = (container: ContainerOfPod) => LabProcess;

/** Until it is ready, so that no test waits for a kubelet; then as often as a kubelet asks. */
const FIRST_READINESS_INTERVAL_MS = 50;
const READINESS_INTERVAL_MS = 1_000;
export const SECRETS = '/run/secrets/kubernetes.io/serviceaccount';
/** As in a container: kernel settings can be read there, and not written. */
const READ_ONLY_SETTINGS = 'mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys';
let lastNumber = 0;

export class LabPod implements PodProcess {
  readonly name: string;
  /** The URL of its status server. */
  readonly url: string;
  readonly ready: Promise<void>;
  readonly exited: Promise<number>;
  /** Undefined until its ServiceAccount's token is there. */
  process: LabProcess | undefined;
  readonly #number: number;
  readonly #address: string;
  readonly #pod: Pod;
  readonly #environment: PodEnvironment;
  readonly #attachments: ReadonlyMap<string, string>;
  /** Undefined until its network namespace is there. */
  #machine: Machine | undefined;
  #isReady = false;
  #listener: (ready: boolean) => void = () => undefined;
  #stopped = false;

  constructor(pod: Pod, environment: PodEnvironment) {
    this.#pod = pod;
    this.#environment = environment;
    this.name = pod.metadata.name ?? '';
    this.#attachments = attachments(pod, environment.networksOn(pod.spec.nodeName ?? ''));
    this.#number = ++lastNumber;
    this.#address = `10.99.${Math.floor(this.#number / 200)}.${(this.#number % 200) + 10}`;
    this.url = `http://${this.#address}:8080`;
    this.exited = this.#run();
    this.ready = this.#watchReadiness();
    this.ready.catch(() => undefined);
  }

  /** Its address on the management network. */
  get address(): string {
    return this.#address;
  }

  /** @throws Error before its network namespace is there; a pod whose process runs has one. */
  get machine(): Machine {
    if (this.#machine === undefined) throw new Error(`pod ${this.name} has no network namespace yet`);
    return this.#machine;
  }

  /** The variables of its container. */
  get environment(): Readonly<Record<string, string>> {
    const { host, port } = this.#environment.apiServer;
    return { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: String(port), ...this.#variables };
  }

  get #variables(): Readonly<Record<string, string>> {
    return podVariables(this.#pod, { podAddress: this.#address });
  }

  /** It was asked to end: a second request would kill it at once. */
  get isStopping(): boolean {
    return this.#stopped;
  }

  onReadiness(listener: (ready: boolean) => void): void {
    this.#listener = listener;
  }

  stop(gracePeriodSeconds: number): void {
    this.#stopped = true;
    this.process?.kill(gracePeriodSeconds === 0 ? 'SIGKILL' : 'SIGTERM');
  }

  async #run(): Promise<number> {
    const machine = await this.#createMachine();
    this.#machine = machine;
    const folder = await this.#writeSecrets(machine);
    const { onLine, startContainer = startCheckout } = this.#environment;
    this.process = startContainer({
      machine,
      args: podArguments(this.#pod, this.#variables),
      env: this.environment,
      securityContext: readField(this.#pod.spec.containers[0], 'securityContext'),
      secrets: folder,
      onLine: (line) => onLine(this.name, line),
    });
    if (this.#stopped) this.process.kill('SIGTERM');
    const { code } = await this.process.ended(2 ** 31 - 1);
    await this.#environment.lab.deleteMachine(machine.name);
    return code ?? 137;
  }

  async #createMachine(): Promise<Machine> {
    const { lab, managementNetwork, sysctls } = this.#environment;
    const octets = [Math.floor(this.#number / 256), this.#number % 256].map((octet) => octet.toString(16).padStart(2, '0'));
    const machine = await lab.createMachine(`pod${this.#number}`, {
      network: managementNetwork,
      macAddress: `02:00:00:99:${octets.join(':')}`,
      address: `${this.#address}/16`,
      interfaces: this.#attachments,
    });
    if (Object.keys(sysctls).length > 0) machine.setSysctls(sysctls);
    return machine;
  }

  async #writeSecrets(machine: Machine): Promise<string> {
    const { caCertificate, token } = this.#environment;
    const folder = join(machine.folder, 'serviceaccount');
    mkdirSync(folder);
    writeFileSync(join(folder, 'ca.crt'), caCertificate);
    writeFileSync(join(folder, 'namespace'), this.#pod.metadata.namespace ?? '');
    writeFileSync(join(folder, 'token'), await token(this.#pod), { mode: 0o600 });
    return folder;
  }

  /** Asks as a kubelet does. Resolves when it is ready for the first time. */
  async #watchReadiness(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    void this.#askUntilItEnds(resolve).then(() => reject(new Error(`pod ${this.name} ended`)));
    await promise;
  }

  async #askUntilItEnds(onReady: () => void): Promise<void> {
    while (!this.#stopped && !(this.process?.hasEnded ?? false)) {
      const isReady = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(1_000) })
        .then(({ ok }) => ok)
        .catch(() => false);
      if (isReady && !this.#isReady) onReady();
      if (isReady !== this.#isReady) this.#listener(isReady);
      this.#isReady = isReady;
      await delay(this.#isReady ? READINESS_INTERVAL_MS : FIRST_READINESS_INTERVAL_MS);
    }
  }
}

/** The agent of this checkout, only in the network namespace. */
export function startCheckout(container: ContainerOfPod): LabProcess {
  return startInPod(container, [process.execPath, AGENT_BIN, ...container.args]);
}

/** Any program of this host, with the files of the pod. */
export function startInPod(
  { machine, env, secrets, etc, onLine }: Omit<ContainerOfPod, 'args' | 'securityContext'>,
  command: readonly string[],
): LabProcess {
  const steps = [
    ...(secrets === undefined ? [] : [mountFolder(secrets, SECRETS)]),
    ...mountEtc(etc),
    READ_ONLY_SETTINGS,
    'exec "$@"',
  ];
  return machine.start('sh', ['-c', steps.join(' && '), 'sh', ...command], { env, onLine });
}

function mountFolder(folder: string, path: string): string {
  return `mkdir -p ${path} && mount --bind ${folder} ${path} && mount -o remount,ro,bind ${path}`;
}

/** Over `/etc` of this host, which stays as it is. */
function mountEtc(etc: ContainerEtc | undefined): readonly string[] {
  if (etc === undefined) return [];
  const { folder, mounts } = etc;
  const overlay = `mount -t overlay overlay -o lowerdir=/etc,upperdir=${folder}/upper,workdir=${folder}/work /etc`;
  return [overlay, ...Object.entries(mounts).map(([source, path]) => mountFolder(source, path))];
}

/** What Multus would attach: interface to network. @throws Error for a network that the lab does not have, as Multus fails the pod. */
function attachments({ metadata }: Pod, networks: ReadonlyMap<string, string>): Map<string, string> {
  const annotations = metadata['annotations'] as Readonly<Record<string, string>> | undefined;
  return new Map(
    readAttachments(annotations?.[MULTUS_NETWORKS_ANNOTATION] ?? '').map(([key, interfaceName]) => {
      const network = networks.get(key);
      if (network === undefined) throw new Error(`the lab has no network for ${key}`);
      return [interfaceName, network];
    }),
  );
}

/** Both forms of the annotation: `namespace/name@interface` with commas, and JSON. @returns networks and interfaces. */
function readAttachments(text: string): readonly (readonly [network: string, interfaceName: string])[] {
  if (text.startsWith('[')) {
    const entries = JSON.parse(text) as readonly {
      readonly namespace: string;
      readonly name: string;
      readonly interface: string;
    }[];
    return entries.map((entry) => [`${entry.namespace}/${entry.name}`, entry.interface]);
  }
  const entries = text.split(',').filter((entry) => entry !== '');
  return entries.map((entry) => {
    const [key = '', interfaceName = ''] = entry.split('@');
    return [key, interfaceName];
  });
}
