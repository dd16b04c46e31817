/** A pod of the simulated cluster as a real process: an agent in a network namespace with an interface for each network. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pod, PodProcess } from '@vmdhcp/kube-simulator';
import { MULTUS_NETWORKS_ANNOTATION } from '@vmdhcp/reconciler';
import type { Lab, Machine } from './lab.js';
import type { LabProcess } from './lab-process.js';
import { AGENT_BIN } from './programs.js';

/** The settings of every pod of a lab. */
export interface PodEnvironment {
  readonly lab: Lab;
  /** The network over which pods reach the API server. */
  readonly managementNetwork: string;
  /** `namespace/name` of a NetworkAttachmentDefinition to the network of the lab that it means. */
  readonly networks: ReadonlyMap<string, string>;
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
  /** Of the specification. */
  readonly securityContext: unknown;
  /** Folder with the ServiceAccount's token. */
  readonly secrets: string;
  readonly onLine: (line: string) => void;
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
  /** Of its status server. */
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
    this.#attachments = attachments(pod, environment.networks);
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

  /** It was asked to end: being asked again would end it at once. */
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
    const { apiServer, onLine, startContainer = startCheckout } = this.#environment;
    const [container] = this.#containers();
    const variables = this.#variables(container?.env ?? []);
    const parameters = (container?.args ?? []).map((text) =>
      text.replaceAll(/\$\((\w+)\)/g, (_, name: string) => variables[name] ?? ''),
    );
    this.process = startContainer({
      machine,
      args: parameters,
      env: {
        KUBERNETES_SERVICE_HOST: apiServer.host,
        KUBERNETES_SERVICE_PORT: String(apiServer.port),
        ...variables,
      },
      securityContext: container?.securityContext,
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

  #containers(): readonly PodContainer[] {
    return (this.#pod['spec'] as unknown as { readonly containers: readonly PodContainer[] }).containers;
  }

  #variables(env: NonNullable<PodContainer['env']>): Record<string, string> {
    const fields: Readonly<Record<string, string | undefined>> = {
      'metadata.name': this.#pod.metadata.name,
      'metadata.namespace': this.#pod.metadata.namespace,
      'status.podIP': this.#address,
    };
    return Object.fromEntries(
      env.map(({ name, value, valueFrom }) => [name, value ?? fields[valueFrom?.fieldRef?.fieldPath ?? ''] ?? '']),
    );
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

/** The agent of this checkout, in the network namespace alone. */
export function startCheckout({ machine, args, env, secrets, onLine }: ContainerOfPod): LabProcess {
  const command = `mkdir -p ${SECRETS} && mount --bind ${secrets} ${SECRETS} && ${READ_ONLY_SETTINGS} && exec "$@"`;
  return machine.start('sh', ['-c', command, 'sh', process.execPath, AGENT_BIN, ...args], { env, onLine });
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

interface PodContainer {
  readonly args?: readonly string[];
  readonly securityContext?: unknown;
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath?: string } };
  }[];
}
