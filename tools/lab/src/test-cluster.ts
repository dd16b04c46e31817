/** A namespace of a test's own, with its controllers. */
import { randomBytes } from 'node:crypto';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import type { KubeSimulator } from '@vmdhcp/kube-simulator';
import type { ClusterAccess } from './cluster-access.js';
import { controllerReady } from './controller-readiness.js';
import { waitFor } from './deadline.js';
import { freePort } from './free-port.js';
import { LabProcess } from './lab-process.js';
import { CONTROLLER_BIN } from './programs.js';
import { TestServer, type TestServerSettings } from './test-server.js';

/** Kinds that a suite makes and that finalizers may hold, in the order in which they are deleted. */
const OBJECT_KINDS = ['VirtualMachine', 'VirtualMachineNetworkConfig', 'IPPool', 'NetworkAttachmentDefinition'];
const GONE_WITHIN_MS = 60_000;

export class TestCluster {
  /** Everything that a test makes is in here. */
  readonly namespace: string = `vmdhcp-test-${randomBytes(4).toString('hex')}`;
  readonly #server: TestServer;
  /** Others use the server too. */
  readonly #isShared: boolean;
  readonly #processes: LabProcess[] = [];

  private constructor(server: TestServer, isShared: boolean) {
    this.#server = server;
    this.#isShared = isShared;
  }

  /** Makes a namespace, on a server that others use too, or on one of its own. */
  static async open(server: TestServer | TestServerSettings = {}): Promise<TestCluster> {
    const isShared = server instanceof TestServer;
    const cluster = new TestCluster(isShared ? server : await TestServer.open(server), isShared);
    await cluster.access.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: cluster.namespace } });
    return cluster;
  }

  get access(): ClusterAccess {
    return this.#server.access;
  }

  get kubeconfigPath(): string {
    return this.#server.kubeconfigPath;
  }

  /** Undefined against a real cluster. */
  get simulator(): KubeSimulator | undefined {
    return this.#server.simulator;
  }

  /** Starts a controller that sees this namespace only, and waits until it works. */
  startController(...parameters: readonly string[]): Promise<LabProcess> {
    return this.#start('--only-namespace', this.namespace, ...parameters);
  }

  /** Starts a controller that sees every namespace, and waits until it works. In a cluster of the test's own only. */
  startControllerOfAll(...parameters: readonly string[]): Promise<LabProcess> {
    if (this.simulator === undefined) throw new Error('a controller of all namespaces would work on what is not of the test');
    return this.#start('--namespace', this.namespace, ...parameters);
  }

  /** The webhook starts beside the first controller, which defines its kinds. */
  async #start(...parameters: readonly string[]): Promise<LabProcess> {
    await this.#server.startAdmission();
    const http = `127.0.0.1:${await freePort()}`;
    const flags = ['--kubeconfig', this.kubeconfigPath, '--no-leader-election', '--http', http];
    const started = new LabProcess(process.execPath, [CONTROLLER_BIN, 'run', ...flags, ...parameters]);
    this.#processes.push(started);
    await controllerReady(started, `http://${http}`);
    await this.#server.admissionReady();
    return started;
  }

  /**
   * Deletes everything of the suite and waits until its namespace is gone. IPPools and VirtualMachineNetworkConfigs have finalizers, which only a
   * controller removes: a namespace whose controller has ended before stays in Terminating forever.
   */
  async close(): Promise<void> {
    try {
      await this.#deleteObjects();
      await this.access.delete('Namespace', this.namespace);
      await waitFor(`namespace ${this.namespace} to go`, async () => !(await this.#isThere()), GONE_WITHIN_MS);
    } finally {
      await this.#stopControllers();
      if (!this.#isShared) await this.#server.close();
    }
  }

  async #deleteObjects(): Promise<void> {
    for (const kind of OBJECT_KINDS) {
      for (const { metadata } of await this.#objects(kind))
        await this.access.delete(kind, `${metadata.namespace}/${metadata.name}`);
    }
    if (await this.#areObjectsGone()) return;
    // With --no-agent it waits for no agents: those of a test are only reports that the test wrote into a Lease.
    await this.#stopControllers();
    await this.startController('--no-agent');
    await waitFor('the objects with finalizers to go', () => this.#areObjectsGone(), GONE_WITHIN_MS);
  }

  async #areObjectsGone(): Promise<boolean> {
    const left = await Promise.all(OBJECT_KINDS.map((kind) => this.#objects(kind)));
    return left.every(({ length }) => length === 0);
  }

  async #objects(kind: string): Promise<readonly KubernetesObject[]> {
    const objects = await this.access.list(kind);
    return objects.filter(({ metadata }) => metadata.namespace === this.namespace);
  }

  async #isThere(): Promise<boolean> {
    return (await this.access.get('Namespace', this.namespace)) !== undefined;
  }

  async #stopControllers(): Promise<void> {
    await Promise.all(this.#processes.splice(0).map((started) => started.stop()));
  }
}
