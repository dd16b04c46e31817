/** The API server that the cluster suite runs against: a real one by its kubeconfig, or a simulated one in this process. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { type KubeSimulator, startKubeSimulator } from '@vmdhcp/kube-simulator';
import { ClusterAccess } from './cluster-access.js';
import { CLUSTER_EXAMPLES } from './cluster-examples.js';
import { controllerReady } from './controller-readiness.js';
import { waitFor } from './deadline.js';
import { freePort } from './free-port.js';
import { LabProcess } from './lab-process.js';
import { CONTROLLER_BIN } from './programs.js';

/** Names the kubeconfig of the cluster to test against. Not KUBECONFIG itself: no cluster is to be used by accident. */
export const TEST_CLUSTER_VARIABLE = 'VMDHCP_TEST_KUBECONFIG';
/** Kinds that a suite makes and that finalizers may hold, in the order in which they are deleted. */
const OBJECT_KINDS = ['VirtualMachine', 'VirtualMachineNetworkConfig', 'IPPool', 'NetworkAttachmentDefinition'];
const GONE_WITHIN_MS = 60_000;

export class TestCluster {
  readonly access: ClusterAccess;
  readonly kubeconfigPath: string;
  /** Everything that a suite makes is in here. */
  readonly namespace: string;
  /** Undefined against a real cluster. */
  readonly simulator: KubeSimulator | undefined;
  readonly #folder: string;
  readonly #processes: LabProcess[] = [];

  private constructor(parts: Pick<TestCluster, 'access' | 'kubeconfigPath' | 'simulator'>, folder: string) {
    this.access = parts.access;
    this.kubeconfigPath = parts.kubeconfigPath;
    this.simulator = parts.simulator;
    this.#folder = folder;
    this.namespace = `vmdhcp-test-${randomBytes(4).toString('hex')}`;
  }

  /** Opens the cluster, has KubeVirt's and Multus' kinds and ours defined, and makes a namespace. */
  static async open(): Promise<TestCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-cluster-'));
    const given = process.env[TEST_CLUSTER_VARIABLE];
    const simulator = given ? undefined : await startKubeSimulator();
    const kubeconfigPath = given || join(folder, 'kubeconfig');
    if (simulator !== undefined) writeFileSync(kubeconfigPath, simulator.kubeconfig(), { mode: 0o600 });
    const access = await ClusterAccess.open(kubeconfigPath);
    const cluster = new TestCluster({ access, kubeconfigPath, simulator }, folder);
    await access.applyFile(join(CLUSTER_EXAMPLES, 'crds.yaml'));
    await access.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: cluster.namespace } });
    return cluster;
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

  async #start(...parameters: readonly string[]): Promise<LabProcess> {
    const http = `127.0.0.1:${await freePort()}`;
    const flags = ['--kubeconfig', this.kubeconfigPath, '--no-leader-election', '--http', http];
    const started = new LabProcess(process.execPath, [CONTROLLER_BIN, 'run', ...flags, ...parameters]);
    this.#processes.push(started);
    await controllerReady(started, `http://${http}`);
    return started;
  }

  /**
   * Deletes everything of the suite and waits until its namespace is gone. IPPools and VirtualMachineNetworkConfigs have finalizers, which
   * only a controller takes away: a namespace whose controller has ended before stays in Terminating for ever.
   */
  async close(): Promise<void> {
    try {
      await this.#deleteObjects();
      await this.access.delete('Namespace', this.namespace);
      await waitFor(`namespace ${this.namespace} to go`, async () => !(await this.#isThere()), GONE_WITHIN_MS);
    } finally {
      await this.#stopControllers();
      this.access.close();
      await this.simulator?.stop();
      rmSync(this.#folder, { recursive: true });
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
