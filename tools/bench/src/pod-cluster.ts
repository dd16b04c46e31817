/** A simulated API server in a process of its own, and what a pod finds of it: the files of a ServiceAccount and the variables of the API server. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectByKubeConfig } from '@vmdhcp/kube-runtime/node';
import { CLUSTER_EXAMPLES, ClusterAccess, CONTROLLER_BIN, LabProcess, run, SIMULATOR_BIN, waitFor } from '@vmdhcp/lab';

/** Where Kubernetes mounts them; in the namespaces of the bench this is its own. */
const SERVICE_ACCOUNT = '/run/secrets/kubernetes.io/serviceaccount';

export interface PodCluster {
  readonly access: ClusterAccess;
  /** For the environment of pods. */
  readonly env: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

/** Starts the API server, and applies our CustomResourceDefinitions. Only in namespaces of their own. */
export async function startPodCluster(): Promise<PodCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-bench-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const simulator = new LabProcess(process.execPath, [SIMULATOR_BIN, '--kubeconfig', kubeconfig]);
  const access = await waitFor('the API server', () => ClusterAccess.open(kubeconfig).catch(() => undefined), 20_000);
  const isServed = async () => (await access.list('Namespace').catch(() => undefined)) !== undefined || undefined;
  await waitFor('the API server to answer', isServed, 20_000);
  await access.applyFile(join(CLUSTER_EXAMPLES, 'crds.yaml'));
  run(process.execPath, [CONTROLLER_BIN, 'crds', '--apply', '--kubeconfig', kubeconfig]);
  const { server, tls, authorization } = await connectByKubeConfig({ path: kubeconfig });
  mkdirSync(SERVICE_ACCOUNT, { recursive: true });
  writeFileSync(join(SERVICE_ACCOUNT, 'ca.crt'), tls.ca as Buffer);
  writeFileSync(join(SERVICE_ACCOUNT, 'token'), (await authorization())?.replace('Bearer ', '') ?? '');
  writeFileSync(join(SERVICE_ACCOUNT, 'namespace'), 'default');
  const { hostname, port } = new URL(server);
  return {
    access,
    env: { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
    stop: async () => {
      access.close();
      await simulator.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
