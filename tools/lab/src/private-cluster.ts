/** A simulated API server of a test's own, with clients that have the rights of one ServiceAccount only. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ipPoolResource, toCustomResourceDefinition, virtualMachineNetworkConfigResource } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { type KubeSimulator, type KubeSimulatorOptions, startKubeSimulator } from '@vmdhcp/kube-simulator';
import { AdmissionWebhook } from './admission-webhook.js';
import { ClusterAccess, readYaml } from './cluster-access.js';
import { CLUSTER_EXAMPLES } from './cluster-examples.js';
import { controllerReady } from './controller-readiness.js';
import { freePort } from './free-port.js';
import {
  CONTROLLER_NAMESPACE,
  installedFor,
  installedForBareMetal,
  installedForPage,
  installedForWakeOnLan,
  MANIFESTS,
  unifiedAgents,
} from './installed-objects.js';
import type { InstalledPlace } from './installed-program.js';
import { LabProcess, type ProcessSettings } from './lab-process.js';
import { CONTROLLER_BIN } from './programs.js';
import { serviceAccountToken } from './service-account-token.js';

const CONTROLLER_ACCOUNT = 'vm-dhcp-controller';

/** A file of `examples/cluster`, or what `manifests/` installs for a program: it is started by its method, or not at all. */
export type Installed = `${string}.yaml` | 'controller' | 'Wake-on-LAN' | 'bare metal' | 'page' | 'unified agents' | 'everything';

export class PrivateCluster {
  readonly simulator: KubeSimulator;
  /** As the administrator. */
  readonly admin: ClusterAccess;
  readonly #folder: string;
  readonly #opened: ClusterAccess[] = [];
  readonly #webhooks: AdmissionWebhook[] = [];
  #controller: LabProcess | undefined;

  private constructor(simulator: KubeSimulator, folder: string, admin: ClusterAccess) {
    this.simulator = simulator;
    this.#folder = folder;
    this.admin = admin;
  }

  /** Starts the API server, and applies this. */
  static async start(installed: readonly Installed[], options: KubeSimulatorOptions = {}): Promise<PrivateCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-private-cluster-'));
    const simulator = await startKubeSimulator(options);
    const kubeconfig = join(folder, 'admin.kubeconfig');
    writeFileSync(kubeconfig, simulator.kubeconfig(), { mode: 0o600 });
    const cluster = new PrivateCluster(simulator, folder, await ClusterAccess.open(kubeconfig));
    await cluster.apply(...installed);
    return cluster;
  }

  async apply(...installed: readonly Installed[]): Promise<void> {
    for (const one of installed) await this.admin.applyAll(objectsOf(one));
  }

  /** Our kinds, if no controller defines them. */
  async defineKinds(): Promise<void> {
    for (const one of [ipPoolResource, virtualMachineNetworkConfigResource])
      await this.admin.create(toCustomResourceDefinition(one) as unknown as KubernetesObject);
  }

  /** The path of the administrator's kubeconfig. */
  get adminKubeconfig(): string {
    return join(this.#folder, 'admin.kubeconfig');
  }

  /** The environment of installed programs. */
  get place(): InstalledPlace {
    return { simulator: this.simulator, admin: this.admin, folder: this.#folder };
  }

  /** Writes a kubeconfig with this token. @returns its path. */
  writeKubeconfig(name: string, token: string): string {
    const path = join(this.#folder, `${name}.kubeconfig`);
    writeFileSync(path, this.simulator.kubeconfig({ name, token }), { mode: 0o600 });
    return path;
  }

  /** Requests with this token; they end with the cluster. */
  async open(name: string, token: string): Promise<ClusterAccess> {
    const access = await ClusterAccess.open(this.writeKubeconfig(name, token));
    this.#opened.push(access);
    return access;
  }

  /** Starts a controller with the rights of its ServiceAccount; with its status server, so that its readiness can be waited for. */
  async startController(...parameters: readonly string[]): Promise<LabProcess> {
    const http = `127.0.0.1:${await freePort()}`;
    const started = await this.startUnreadyController('--http', http, ...parameters);
    await controllerReady(started, `http://${http}`);
    return started;
  }

  /** The same without waiting: the parameters decide whether there is a status server. */
  async startUnreadyController(...parameters: readonly string[]): Promise<LabProcess> {
    const token = await serviceAccountToken(this.admin, CONTROLLER_NAMESPACE, CONTROLLER_ACCOUNT);
    const flags = ['--kubeconfig', this.writeKubeconfig('controller', token), ...parameters];
    this.#controller = new LabProcess(process.execPath, [CONTROLLER_BIN, 'run', ...flags]);
    return this.#controller;
  }

  /** Starts a webhook with the rights of its ServiceAccount, and waits until the API server asks it, or with `--no-register` until it is ready. */
  startWebhook(...parameters: readonly string[]): Promise<AdmissionWebhook> {
    return this.startWebhookWith({}, ...parameters);
  }

  /** The same with an environment of its own. */
  async startWebhookWith(settings: ProcessSettings, ...parameters: readonly string[]): Promise<AdmissionWebhook> {
    const started = await AdmissionWebhook.start(this.place, parameters, settings);
    this.#webhooks.push(started);
    await (parameters.includes('--no-register') ? started.ready() : started.registered());
    return started;
  }

  /** Ends all webhooks at once; what they registered stays. */
  async killWebhooks(): Promise<void> {
    await Promise.all(this.#webhooks.splice(0).map((webhook) => webhook.kill()));
  }

  /** Ends the controller that was started last, and everything else. */
  async close(): Promise<void> {
    await this.#controller?.stop();
    await this.killWebhooks();
    for (const access of [this.admin, ...this.#opened]) access.close();
    await this.simulator.stop();
    rmSync(this.#folder, { recursive: true });
  }
}

function objectsOf(installed: Installed): readonly KubernetesObject[] {
  switch (installed) {
    case 'controller':
      return installedFor('controller');
    case 'Wake-on-LAN':
      return installedForWakeOnLan();
    case 'bare metal':
      return installedForBareMetal();
    case 'page':
      return installedForPage();
    case 'everything':
      return readYaml(join(MANIFESTS, 'vmdhcp.yaml'));
    case 'unified agents':
      return unifiedAgents();
    default:
      return readYaml(join(CLUSTER_EXAMPLES, installed));
  }
}
