/** The API server that the cluster suite runs against: a real one by its kubeconfig, or a simulated one in this process. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KubeSimulator, startKubeSimulator } from '@vmdhcp/kube-simulator';
import { ClusterAccess } from './cluster-access.js';
import { waitFor } from './deadline.js';
import { CLUSTER_EXAMPLES } from './lab-cluster.js';
import { LabProcess } from './lab-process.js';
import { CONTROLLER_BIN } from './programs.js';

/** Names the kubeconfig of the cluster to test against. Not KUBECONFIG itself: nobody's cluster is to be hit by accident. */
export const TEST_CLUSTER_VARIABLE = 'VMDHCP_TEST_KUBECONFIG';
let lastPort = 18_300;

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
    const http = `127.0.0.1:${++lastPort}`;
    const flags = ['--kubeconfig', this.kubeconfigPath, '--no-leader-election', '--http', http];
    const started = new LabProcess(process.execPath, [CONTROLLER_BIN, 'run', ...flags, ...parameters]);
    this.#processes.push(started);
    await waitFor(
      'the controller',
      async () => {
        if (started.hasEnded) throw new Error(`the controller ended:\n${started.lines.join('\n')}`);
        return fetch(`http://${http}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        );
      },
      20_000,
    );
    return started;
  }

  async close(): Promise<void> {
    // Finalizers are the controller's: what is deleted goes while it is there.
    for (const kind of ['VirtualMachine', 'VirtualMachineNetworkConfig', 'IPPool', 'NetworkAttachmentDefinition']) {
      for (const { metadata } of await this.access.list(kind)) {
        if (metadata.namespace === this.namespace) await this.access.delete(kind, `${metadata.namespace}/${metadata.name}`);
      }
    }
    await this.access.delete('Namespace', this.namespace);
    await Promise.all(this.#processes.map((started) => started.stop()));
    this.access.close();
    await this.simulator?.stop();
    rmSync(this.#folder, { recursive: true });
  }
}
