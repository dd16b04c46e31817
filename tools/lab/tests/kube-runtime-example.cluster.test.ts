/** The controller of kube-runtime's README, as it stands there, on an API server. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { KubernetesObject, PartsRun } from '@vmdhcp/kube-runtime';
import { type ApiConnection, ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestCluster, waitFor } from '../src/index.js';

const README = fileURLToPath(new URL('../../../packages/kube-runtime/README.md', import.meta.url));
/** Beside this file, where packages are found by their names. */
const PROGRAM = new URL('./kube-runtime-example.generated.mjs', import.meta.url);
const ANNOTATION = 'example.com/greeting';

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await TestCluster.open({ admission: 'off' });
  // It applies our kinds, which the cluster is cleared of in the end.
  const controller = await cluster.startController('--no-agent');
  await controller.stop();
});

afterAll(async () => {
  rmSync(PROGRAM, { force: true });
  await cluster.close();
});

/** The first example with the cluster exchanged as in the second one. */
function program(): string {
  const [memory = '', inCluster = ''] = [...readFileSync(README, 'utf8').matchAll(/^```[jt]s\n(.*?)^```/gms)].map(
    ([, code]) => code,
  );
  const [head = '', , controller = ''] = memory.split(/^\/\/ (?:A cluster in memory|The controller|Try it)\.$/m);
  const [imports = '', setUp = ''] = inCluster.split(/^const connection = .*$/m);
  return [head, imports, 'export default async function example(connection) {', setUp, controller, 'return run; }'].join('\n');
}

it('a Deployment that asks for a greeting owns a ConfigMap with it, which is kept in the wanted state, and removed', async () => {
  writeFileSync(PROGRAM, program());
  const { default: example } = (await import(PROGRAM.href)) as {
    readonly default: (connection: ApiConnection) => Promise<PartsRun>;
  };
  const { connection } = cluster.access;
  const client = (group: string, plural: string) =>
    new ApiObjectClient<KubernetesObject & { readonly data?: { readonly text?: string } }>(connection, {
      ...{ group, plural, version: 'v1', namespaced: true },
      namespace: cluster.namespace,
    });
  const [deployments, configMaps] = [client('apps', 'deployments'), client('', 'configmaps')];
  const key = `${cluster.namespace}/web`;
  const labels = { app: 'web' };
  const created = await deployments.create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: cluster.namespace, name: 'web', annotations: { [ANNOTATION]: 'hello' } },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example.com/web' }] } },
    },
  });
  expect(created).toMatchObject({ ok: true });
  const run = await example(connection);
  const textIs = (text: string) => waitFor(`greeting ${text}`, async () => (await configMaps.get(key))?.data?.text === text);
  await textIs('hello');
  expect((await configMaps.get(key))?.metadata.ownerReferences).toMatchObject([
    { kind: 'Deployment', name: 'web', controller: true },
  ]);
  await configMaps.patch({ key }, { data: { text: 'something else' } });
  await textIs('hello');
  await deployments.patch({ key }, { metadata: { annotations: { [ANNOTATION]: 'good evening' } } });
  await textIs('good evening');
  await deployments.patch({ key }, { metadata: { annotations: { [ANNOTATION]: null } } });
  await waitFor('the ConfigMap to be removed', async () => (await configMaps.get(key)) === undefined);
  await run.stop();
  await deployments.delete(key, (await deployments.get(key))?.metadata.uid ?? '');
});
