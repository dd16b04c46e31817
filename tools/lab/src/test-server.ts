/** The API server that the cluster suite runs against: a real one by its kubeconfig, or a simulated one in this process, with the webhook. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { type KubeSimulator, startKubeSimulator } from '@vmdhcp/kube-simulator';
import { AdmissionWebhook } from './admission-webhook.js';
import { ClusterAccess } from './cluster-access.js';
import { CLUSTER_EXAMPLES } from './cluster-examples.js';

/** Names the kubeconfig of the cluster to test against. Not KUBECONFIG itself: no cluster is to be used by accident. */
export const TEST_CLUSTER_VARIABLE = 'VMDHCP_TEST_KUBECONFIG';

/** As `helm uninstall` leaves it: a test that passes here takes no notice of it on a real cluster either. */
const LEASE_OF_A_GONE_CONTROLLER: KubernetesObject = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { namespace: 'kube-system', name: 'vm-dhcp-controllers' },
  spec: { holderIdentity: 'vm-dhcp-controller-gone', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' },
};

export interface TestServerSettings {
  /**
   * `on`, the default: the webhook of this checkout decides about everything that tests and controllers write. `off`: for tests that write invalid
   * objects, which a cluster without the webhook may contain. It has no effect on a real cluster.
   */
  readonly admission?: 'on' | 'off';
}

export class TestServer {
  readonly access: ClusterAccess;
  readonly kubeconfigPath: string;
  /** Undefined: the cluster is a real one. */
  readonly simulator: KubeSimulator | undefined;
  readonly #folder: string;
  readonly #admission: 'on' | 'off';
  #webhook: Promise<AdmissionWebhook> | undefined;

  private constructor(
    parts: Pick<TestServer, 'access' | 'kubeconfigPath' | 'simulator'>,
    { folder, admission }: { readonly folder: string; readonly admission: 'on' | 'off' },
  ) {
    this.access = parts.access;
    this.kubeconfigPath = parts.kubeconfigPath;
    this.simulator = parts.simulator;
    this.#folder = folder;
    this.#admission = admission;
  }

  /** Opens it, and has KubeVirt's and Multus' kinds defined. */
  static async open({ admission = 'on' }: TestServerSettings = {}): Promise<TestServer> {
    const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-server-'));
    const given = process.env[TEST_CLUSTER_VARIABLE];
    const simulator = given ? undefined : await startKubeSimulator();
    const kubeconfigPath = given || join(folder, 'kubeconfig');
    if (simulator !== undefined) writeFileSync(kubeconfigPath, simulator.kubeconfig(), { mode: 0o600 });
    const access = await ClusterAccess.open(kubeconfigPath);
    await access.applyFile(join(CLUSTER_EXAMPLES, 'crds.yaml'));
    if (simulator !== undefined) await access.create(LEASE_OF_A_GONE_CONTROLLER);
    return new TestServer({ access, kubeconfigPath, simulator }, { folder, admission });
  }

  /** Starts the webhook, once. It is ready when a controller has defined our kinds. */
  async startAdmission(): Promise<void> {
    const { simulator, access: admin } = this;
    if (simulator === undefined || this.#admission === 'off') return;
    this.#webhook ??= AdmissionWebhook.start({ simulator, admin, folder: this.#folder });
    await this.#webhook;
  }

  /** Resolves when the API server asks the webhook. */
  async admissionReady(): Promise<void> {
    await (await this.#webhook)?.registered();
  }

  async close(): Promise<void> {
    try {
      await (await this.#webhook)?.close();
    } finally {
      this.access.close();
      await this.simulator?.stop();
      rmSync(this.#folder, { recursive: true });
    }
  }
}
