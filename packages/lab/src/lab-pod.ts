/** A pod of the simulated cluster as a real process: an agent in a network namespace with an interface for each network. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pod, PodProcess } from '@vmdhcp/kube-simulator';
import { MULTUS_NETWORKS_ANNOTATION } from '@vmdhcp/reconciler';
import type { Lab, Machine } from './lab.js';
import type { LabProcess } from './lab-process.js';
import { AGENT_BIN } from './programs.js';

/** What every pod of a lab is told. */
export interface PodEnvironment {
  readonly lab: Lab;
  /** The network over which pods reach the API server. */
  readonly managementNetwork: string;
  /** `namespace/name` of a NetworkAttachmentDefinition to the network of the lab that it means. */
  readonly networks: ReadonlyMap<string, string>;
  /** `host:port`. */
  readonly apiServer: { readonly host: string; readonly port: number };
  readonly caCertificate: string;
  /** A token for the pod's ServiceAccount. */
  readonly token: (pod: Pod) => Promise<string>;
  readonly onLine: (pod: string, line: string) => void;
}

const READINESS_INTERVAL_MS = 50;
const SECRETS = '/run/secrets/kubernetes.io/serviceaccount';
let lastNumber = 0;

export class LabPod implements PodProcess {
  readonly name: string;
  readonly machine: Machine;
  /** Of its status server. */
  readonly url: string;
  readonly ready: Promise<void>;
  readonly exited: Promise<number>;
  /** Undefined until its ServiceAccount's token is there. */
  process: LabProcess | undefined;
  readonly #address: string;
  readonly #pod: Pod;
  readonly #environment: PodEnvironment;
  #isReady = false;
  #listener: (ready: boolean) => void = () => undefined;
  #stopped = false;

  constructor(pod: Pod, environment: PodEnvironment) {
    this.#pod = pod;
    this.#environment = environment;
    this.name = pod.metadata.name ?? '';
    const number = ++lastNumber;
    const address = `10.99.${Math.floor(number / 200)}.${(number % 200) + 10}`;
    const { lab, managementNetwork } = environment;
    const macAddress = `02:00:00:99:${Math.floor(number / 256)
      .toString(16)
      .padStart(2, '0')}:${(number % 256).toString(16).padStart(2, '0')}`;
    this.machine = lab.addMachine(`pod${number}`, { network: managementNetwork, macAddress });
    this.machine.ip('address', 'add', `${address}/16`, 'dev', 'eth0');
    this.#address = address;
    this.url = `http://${address}:8080`;
    for (const { interfaceName, network } of this.#attachments()) this.machine.addInterface(interfaceName, network);
    this.exited = this.#run();
    this.ready = this.#watchReadiness();
    this.ready.catch(() => undefined);
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

  /** What Multus would attach. @throws Error for a network that the lab does not have, as Multus fails the pod. */
  #attachments(): { readonly interfaceName: string; readonly network: string }[] {
    const text = this.#pod.metadata['annotations'] as Readonly<Record<string, string>> | undefined;
    const entries = (text?.[MULTUS_NETWORKS_ANNOTATION] ?? '').split(',').filter((entry) => entry !== '');
    return entries.map((entry) => {
      const [key = '', interfaceName = ''] = entry.split('@');
      const network = this.#environment.networks.get(key);
      if (network === undefined) throw new Error(`the lab has no network for ${key}`);
      return { interfaceName, network };
    });
  }

  async #run(): Promise<number> {
    const folder = await this.#writeSecrets();
    const { apiServer, onLine } = this.#environment;
    const [container] = this.#containers();
    const command = `mkdir -p ${SECRETS} && mount --bind ${folder} ${SECRETS} && exec "$@"`;
    const variables = this.#variables(container?.env ?? []);
    const parameters = (container?.args ?? []).map((text) =>
      text.replaceAll(/\$\((\w+)\)/g, (_, name: string) => variables[name] ?? ''),
    );
    this.process = this.machine.start('sh', ['-c', command, 'sh', process.execPath, AGENT_BIN, ...parameters], {
      env: {
        KUBERNETES_SERVICE_HOST: apiServer.host,
        KUBERNETES_SERVICE_PORT: String(apiServer.port),
        ...variables,
      },
      onLine: (line) => onLine(this.name, line),
    });
    if (this.#stopped) this.process.kill('SIGTERM');
    const { code } = await this.process.ended(2 ** 31 - 1);
    this.#environment.lab.removeMachine(this.machine.name);
    return code ?? 137;
  }

  async #writeSecrets(): Promise<string> {
    const { caCertificate, token } = this.#environment;
    const folder = join(this.machine.folder, 'serviceaccount');
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
    await new Promise<void>((resolve, reject) => {
      void (async () => {
        while (!this.#stopped && !(this.process?.hasEnded ?? false)) {
          const isReady = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(1_000) }).then(
            ({ ok }) => ok,
            () => false,
          );
          if (isReady && !this.#isReady) resolve();
          if (isReady !== this.#isReady) this.#listener(isReady);
          this.#isReady = isReady;
          await delay(READINESS_INTERVAL_MS);
        }
        reject(new Error(`pod ${this.name} ended`));
      })();
    });
  }
}

interface PodContainer {
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath?: string } };
  }[];
}
