/**
 * charts/vmdhcp, with every file of values in its folder `ci`: what is rendered is accepted by an API server that refuses unknown fields, and the controller
 * and the webhook start from it, with the arguments, variables and rights that it has for them, until a pool has its agents. A program that was started
 * with the same before is not started again. Always against simulated API servers.
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHART, hasRenderer, NEEDS_RENDERER, renderChart } from '@vmdhcp/chart-renderer';
import { type KubernetesObject, readConditions, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { type KubeSimulator, startKubeSimulator } from '@vmdhcp/kube-simulator';
import { configuredPools } from '@vmdhcp/reconciler';
import { describe, expect, it } from 'vitest';
import {
  admitOnOpenShift,
  CLUSTER_EXAMPLES,
  ClusterAccess,
  InstalledProgram,
  networkAttachment,
  readYaml,
  waitFor,
} from '../src/index.js';

const SETS = globSync(join(CHART, 'ci/*-values.yaml')).toSorted();
const DEFINITIONS = globSync(join(CHART, 'files/crds/*.yaml'));
const OTHER_KINDS = fileURLToPath(new URL('../kinds/monitoring-and-certificates.yaml', import.meta.url));
const OPENSHIFT = fileURLToPath(new URL('../kinds/openshift.yaml', import.meta.url));
const NAMESPACE = 'vm-dhcp-system';
const POOL = 'default/net';

const render = (files: readonly string[]) =>
  renderChart({
    files,
    namespace: NAMESPACE,
    apiVersions: ['security.openshift.io/v1'],
  }) as unknown as readonly KubernetesObject[];
const componentOf = ({ metadata }: KubernetesObject) => metadata.labels?.['app.kubernetes.io/component'];
const podOf = (deployment: KubernetesObject) => readField(deployment.spec, 'template', 'spec');

function find(objects: readonly KubernetesObject[], kind: string, component: string): KubernetesObject | undefined {
  return objects.find((one) => one.kind === kind && componentOf(one) === component);
}

/** What the programs that were started ran with: one that runs with the same needs no second start. */
const startedPrograms = new Set<string>();

/** An API server of one test, and the programs that were started from what was rendered. */
class ChartCluster {
  readonly admin: ClusterAccess;
  readonly #folder: string;
  readonly #simulator: KubeSimulator;
  readonly #programs: InstalledProgram[] = [];

  private constructor(simulator: KubeSimulator, folder: string, admin: ClusterAccess) {
    this.#simulator = simulator;
    this.#folder = folder;
    this.admin = admin;
  }

  static async start(): Promise<ChartCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-chart-'));
    const simulator = await startKubeSimulator();
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, simulator.kubeconfig(), { mode: 0o600 });
    const admin = await ClusterAccess.open(kubeconfig);
    for (const file of [join(CLUSTER_EXAMPLES, 'crds.yaml'), OTHER_KINDS, OPENSHIFT]) await admin.applyFile(file);
    for (const name of [NAMESPACE, 'harvester-system'])
      await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    return new ChartCluster(simulator, folder, admin);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) await program.kill();
    this.admin.close();
    await this.#simulator.stop();
    rmSync(this.#folder, { recursive: true });
  }

  async apply(objects: readonly KubernetesObject[]): Promise<void> {
    for (const object of objects) await this.admin.createStrictly(object);
  }

  /** Starts the program of a rendered Deployment. */
  async startFrom(deployment: KubernetesObject): Promise<InstalledProgram> {
    const { name, namespace = '' } = deployment.metadata;
    const place = { simulator: this.#simulator, admin: this.admin, folder: this.#folder };
    const started = await InstalledProgram.start(place, { namespace, name, spec: podOf(deployment) });
    this.#programs.push(started);
    return started;
  }

  /** What cert-manager does: issues what the Certificate asks for, and tells the API server to trust it. */
  async #issue(certificate: KubernetesObject): Promise<string> {
    const [key, issued] = [join(this.#folder, 'tls.key'), join(this.#folder, 'tls.crt')];
    const names = readList(certificate.spec, 'dnsNames').map((name) => `DNS:${String(name)}`);
    const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
    const subject = ['-subj', '/CN=webhook', '-addext', `subjectAltName=${names.join(',')}`];
    const { status, stderr } = spawnSync('openssl', [...request, ...subject, '-keyout', key, '-out', issued], {
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
    const [text, keyText] = [issued, key].map((path) => readFileSync(path).toString('base64'));
    await this.admin.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: readText(certificate.spec, 'secretName') ?? '', namespace: NAMESPACE },
      ...{ type: 'kubernetes.io/tls', data: { 'tls.crt': text, 'tls.key': keyText, 'ca.crt': text } },
    } as KubernetesObject);
    return text ?? '';
  }

  /** As cert-manager's injector, where the annotation asks for it. */
  async #inject(name: string, certificate: string, caBundle: string): Promise<void> {
    for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
      const registered = await this.admin.waitForObject(kind, name, () => true);
      expect(registered.metadata.annotations?.['cert-manager.io/inject-ca-from']).toBe(certificate);
      const webhooks = readList(registered, 'webhooks').map((one) => ({
        ...(one as object),
        clientConfig: { ...(readField(one, 'clientConfig') as object), caBundle },
      }));
      await this.admin.patch(kind, name, { webhooks });
    }
  }

  /** Ready, and registered with what the API server is to trust. */
  async startWebhook(objects: readonly KubernetesObject[], deployment: KubernetesObject): Promise<void> {
    const certificate = objects.find(({ kind }) => kind === 'Certificate');
    const trusted = certificate && (await this.#issue(certificate));
    const webhook = await this.startFrom(deployment);
    await webhook.ready();
    const { name } = deployment.metadata;
    if (trusted !== undefined) await this.#inject(name, `${NAMESPACE}/${certificate?.metadata.name}`, trusted);
    for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'])
      await this.admin.waitForObject(kind, name, (one) =>
        readList(one, 'webhooks').every((each) => readText(each, 'clientConfig', 'caBundle')),
      );
  }

  /** A network and its pool: only its cidr, where a webhook fills in the rest. */
  async createPool(isFilledIn: boolean): Promise<void> {
    await this.admin.create(networkAttachment(POOL, 'mgmt'));
    const rest = { serverIP: '10.1.0.2', pool: { start: '10.1.0.10', end: '10.1.0.99' } };
    const ipv4Config = { cidr: '10.1.0.0/24', ...(!isFilledIn && rest) };
    const [namespace = '', name = ''] = POOL.split('/');
    await this.admin.create({
      apiVersion: 'network.harvesterhci.io/v1alpha1',
      kind: 'IPPool',
      metadata: { namespace, name },
      spec: { networkName: POOL, ipv4Config },
    });
  }

  /** The Deployment whose pods serve the pool. */
  async deploymentOfAgents(): Promise<KubernetesObject> {
    return await waitFor('agents', async () =>
      (await this.admin.list('Deployment')).find((deployment) =>
        readList(deployment.spec, 'template', 'spec', 'containers').some((container) =>
          configuredPools(deployment, readText(container, 'name') ?? '').has(POOL),
        ),
      ),
    );
  }
}

/** The Deployment of a program, unless one with the same arguments, variables and rights was started before, and with the same agents. */
function notStarted(objects: readonly KubernetesObject[], program: 'controller' | 'webhook'): KubernetesObject | undefined {
  const deployment = find(objects, 'Deployment', program);
  const [container] = readList(deployment && podOf(deployment), 'containers');
  // Ports of this host replace those of the pods.
  const flags = readList(container, 'args').filter((flag) => !/^--(http|listen|wake-on-lan-listen)=/.test(String(flag)));
  const parts = program === 'controller' ? ['controller', 'agent'] : ['webhook'];
  const rights = objects
    .filter((one) => parts.includes(componentOf(one) ?? '') && !['NetworkPolicy', 'PodDisruptionBudget'].includes(one.kind ?? ''))
    .map((one) => [one.kind, one.metadata.namespace, readField(one, 'rules'), agentOf(one)]);
  const account = readText(deployment && podOf(deployment), 'serviceAccountName');
  const key = JSON.stringify([deployment?.metadata.name, account, flags, readList(container, 'env'), rights]);
  if (startedPrograms.has(key)) return undefined;
  startedPrograms.add(key);
  return deployment;
}

/** What the controller finds in a Deployment of agents. */
function agentOf(object: KubernetesObject): unknown {
  return object.kind === 'Deployment' && componentOf(object) === 'agent' ? podOf(object) : undefined;
}

/** Services lead to pods of the release, and to ports that these name. */
function expectServices(objects: readonly KubernetesObject[]): void {
  for (const service of objects.filter(({ kind }) => kind === 'Service')) {
    const selector = readField(service.spec, 'selector') as Readonly<Record<string, string>>;
    const selected = objects.filter(({ kind, spec }) => {
      const labels = readField(spec, 'template', 'metadata', 'labels') as typeof selector | undefined;
      return kind === 'Deployment' && Object.entries(selector).every(([key, value]) => labels?.[key] === value);
    });
    expect(selected, service.metadata.name).toHaveLength(1);
    const template = readField(selected[0]?.spec, 'template');
    const [container] = readList(template, 'spec', 'containers');
    const named = readList(container, 'ports').map((port) => readText(port, 'name'));
    for (const port of readList(service.spec, 'ports')) expect(named).toContain(readText(port, 'targetPort'));
  }
}

describe.skipIf(!hasRenderer())(`the chart, always against a simulated API server ${NEEDS_RENDERER}`, () => {
  it.concurrent.each(SETS.map((path) => [basename(path), path] as const))(
    'with ci/%s the rendered objects are accepted, and the programs in them give a pool its agents',
    { tags: ['nightly'] },
    async (_, path) => {
      await using cluster = await ChartCluster.start();
      const objects = render([path]);
      expectServices(objects);
      for (const program of ['controller', 'webhook']) {
        const deployment = find(objects, 'Deployment', program);
        if (deployment !== undefined) expectAdmitted(deployment, objects, constraintsOfPrograms(objects));
      }
      await cluster.apply(objects);
      const [controller, webhook] = [notStarted(objects, 'controller'), notStarted(objects, 'webhook')];
      const isOfController = readList(find(objects, 'ClusterRole', 'controller'), 'rules').some((rule) =>
        [readList(rule, 'resources'), readList(rule, 'verbs')].flat().join().includes('customresourcedefinitions,create'),
      );
      const isOfChart = objects.some(({ kind }) => kind === 'CustomResourceDefinition');
      // A pipeline does it, or a controller that is not started again.
      if (!isOfChart && (!isOfController || controller === undefined))
        for (const definition of DEFINITIONS) await cluster.apply(readYaml(definition));
      if (controller !== undefined) await (await cluster.startFrom(controller)).ready();
      if (webhook !== undefined) await cluster.startWebhook(objects, webhook);
      await cluster.createPool(webhook !== undefined);
      if (controller === undefined) return;
      await cluster.admin.waitForObject('IPPool', POOL, ({ status }) =>
        readConditions(status).some(({ type, status: is }) => type === 'CacheReady' && is === 'True'),
      );
      const flags = readList(readList(podOf(controller), 'containers')[0], 'args');
      if (!flags.includes('--no-agent')) await expectAgents(cluster, objects);
      if (flags.includes('--wake-on-lan')) await expectWakeAgents(cluster, objects);
      if (flags.includes('--bare-metal')) await expectHostAgents(cluster, objects);
    },
  );
});

/** The agents that the controller deploys or configures are those that the values describe. */
async function expectAgents(cluster: ChartCluster, objects: readonly KubernetesObject[]): Promise<void> {
  const agents = await cluster.deploymentOfAgents();
  const [container] = readList(podOf(agents), 'containers');
  const controller = find(objects, 'Deployment', 'controller') as KubernetesObject;
  const [program] = readList(podOf(controller), 'containers');
  const variables = new Map(readList(program, 'env').map((one) => [readText(one, 'name'), readText(one, 'value')]));
  const flags = readList(program, 'args').map(String);
  expect(agents.metadata.namespace).toBe(variables.get('AGENT_NAMESPACE'));
  expect(readText(container, 'image')).toBe(variables.get('AGENT_IMAGE'));
  expect(readList(podOf(agents), 'imagePullSecrets')).toEqual(readList(podOf(controller), 'imagePullSecrets'));
  const isOfChart = variables.get('AGENT_DEPLOYMENT_NAME') === agents.metadata.name;
  expect(isOfChart).toBe(flags.includes('--agent-topology=unified'));
  const account = readText(podOf(agents), 'serviceAccountName') ?? '';
  const shared = variables.get('AGENT_SERVICE_ACCOUNT_NAME');
  if (shared !== undefined) expect(account).toBe(shared);
  expect(await cluster.admin.get('ServiceAccount', `${agents.metadata.namespace}/${account}`)).toBeDefined();
  expect(readField(agents.spec, 'replicas')).toBe(
    Number(flags.find((one) => one.startsWith('--agent-replicas='))?.split('=')[1]),
  );
  if (flags.includes('--enable-cache-dump-api')) await expectToReadOwners(cluster, agents.metadata.namespace ?? '', account);
  if (flags.includes('--no-dhcp')) expect(readList(container, 'args')).toContain('--dry-run');
  expectAdmitted(agents, objects, `${prefixOf(objects)}-agent`);
  expectNothingMore(`${prefixOf(objects)}-agent`, objects, [agents]);
}

/** Controller and webhook in the namespace of the agents are admitted by the constraints of these, which are the most restrictive ones. */
function constraintsOfPrograms(objects: readonly KubernetesObject[]): string {
  const [program] = readList(podOf(find(objects, 'Deployment', 'controller') as KubernetesObject), 'containers');
  const agents = readList(program, 'env').find((one) => readText(one, 'name') === 'AGENT_NAMESPACE');
  return readText(agents, 'value') === NAMESPACE ? `${prefixOf(objects)}-agent` : 'nonroot-v2';
}

/** How names of objects begin. */
function prefixOf(objects: readonly KubernetesObject[]): string {
  return (find(objects, 'Deployment', 'controller')?.metadata.name ?? '').replace(/-controller$/, '');
}

/** Agents that show leases follow whose they are, and change nothing of it. */
async function expectToReadOwners({ admin }: ChartCluster, namespace: string, account: string): Promise<void> {
  const verbs = ['list', 'watch', 'patch'];
  const allowed = verbs.map(async (verb) => {
    const resourceAttributes = { group: 'network.harvesterhci.io', resource: 'virtualmachinenetworkconfigs', verb };
    const user = `system:serviceaccount:${namespace}:${account}`;
    const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, groups, resourceAttributes },
    };
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    return readField(await admin.connection.request({ method: 'POST', path, body }), 'status', 'allowed');
  });
  expect(await Promise.all(allowed)).toEqual([true, true, false]);
}

/** A ClusterAgent has an agent, with the image and the namespace of the values, and a folder of the node where leases are in one. */
async function expectHostAgents(cluster: ChartCluster, objects: readonly KubernetesObject[]): Promise<void> {
  const controller = find(objects, 'Deployment', 'controller') as KubernetesObject;
  const [program] = readList(podOf(controller), 'containers');
  const variables = new Map(readList(program, 'env').map((one) => [readText(one, 'name'), readText(one, 'value')]));
  const agentYaml = { underlayInterface: 'kube-system/management' };
  await cluster.admin.create({
    apiVersion: 'bmc.spidernet.io/v1beta1',
    kind: 'ClusterAgent',
    metadata: { name: 'rack' },
    spec: { agentYaml, feature: { enableDhcpServer: false } },
  });
  const namespace = variables.get('AGENT_NAMESPACE') ?? '';
  const agents = await cluster.admin.waitForObject('Deployment', `${namespace}/agent-rack`, () => true);
  expect(readText(readList(podOf(agents), 'containers')[0], 'image')).toBe(variables.get('AGENT_IMAGE'));
  expect(readList(podOf(agents), 'imagePullSecrets')).toEqual(readList(podOf(controller), 'imagePullSecrets'));
  await cluster.admin.create({
    apiVersion: 'bmc.spidernet.io/v1beta1',
    kind: 'ClusterAgent',
    metadata: { name: 'node' },
    spec: { agentYaml: { hostNetwork: true, underlayInterface: 'eth1' }, feature: { enableDhcpServer: false } },
  });
  const onNode = await cluster.admin.waitForObject('Deployment', `${namespace}/agent-node`, () => true);
  const binding = await cluster.admin.waitForObject(
    'ClusterRoleBinding',
    'vmdhcp-bare-metal-agents',
    (one) => readList(one, 'subjects').length === 2,
  );
  const withSubjects = [...objects, { ...binding, kind: 'ClusterRoleBinding' }];
  const constraints = `${prefixOf(objects)}-bare-metal-agent`;
  // Constraints of agents of IPPools, which allow less, may be enough.
  expectAdmitted(agents, withSubjects);
  expectAdmitted(onNode, withSubjects, constraints);
  expectNothingMore(constraints, objects, [agents, onNode]);
  if (!readList(program, 'args').includes('--bare-metal-leases=host-path')) return;
  expect(readField(readList(podOf(agents), 'volumes')[0], 'hostPath', 'path')).toBe('/data/leases/rack');
}

/** A WolConfig has agents on nodes, with the image, the namespace and the ServiceAccount of the values; they report to a Service that is there. */
async function expectWakeAgents(cluster: ChartCluster, objects: readonly KubernetesObject[]): Promise<void> {
  const [program] = readList(podOf(find(objects, 'Deployment', 'controller') as KubernetesObject), 'containers');
  const variables = new Map(readList(program, 'env').map((one) => [readText(one, 'name'), readText(one, 'value')]));
  await cluster.admin.create({ apiVersion: 'wol.pillon.org/v1beta1', kind: 'WolConfig', metadata: { name: 'office' }, spec: {} });
  const namespace = variables.get('AGENT_NAMESPACE') ?? '';
  const agents = await cluster.admin.waitForObject('DaemonSet', `${namespace}/wol-agent-office`, () => true);
  const [container] = readList(podOf(agents), 'containers');
  expect(readText(container, 'image')).toBe(variables.get('AGENT_IMAGE'));
  const account = readText(podOf(agents), 'serviceAccountName') ?? '';
  expect(await cluster.admin.get('ServiceAccount', `${namespace}/${account}`)).toMatchObject({
    automountServiceAccountToken: false,
  });
  const flags = readList(container, 'args').map(String);
  const [host = ''] = (flags[flags.indexOf('--manager') + 1] ?? '').split(':');
  const [service = '', serviceNamespace = ''] = host.split('.');
  const { spec } = (await cluster.admin.get('Service', `${serviceNamespace}/${service}`)) ?? {};
  const listen = readList(program, 'args').find((flag) => String(flag).startsWith('--wake-on-lan-listen='));
  expect(readList(spec, 'ports').map((one) => `--wake-on-lan-listen=:${String(readField(one, 'port'))}`)).toEqual([listen]);
  expectAdmitted(agents, objects, account);
  expectNothingMore(account, objects, [agents]);
}

/** OpenShift admits the pods, by constraints of agents or by these. */
function expectAdmitted(workload: KubernetesObject, objects: readonly KubernetesObject[], by?: string): void {
  const admitted = admitOnOpenShift(workload, objects);
  expect(admitted, workload.metadata.name).toEqual({ by: by ?? (expect.stringMatching(/-agent$/) as string) });
}

/** The constraints allow what one of these asks for, beside what the API server and the Network Resources Injector add to pods. */
function expectNothingMore(name: string, objects: readonly KubernetesObject[], workloads: readonly KubernetesObject[]): void {
  const constraints = objects.find(({ kind, metadata }) => kind === 'SecurityContextConstraints' && metadata.name === name);
  const pods = workloads.map(podOf);
  const contexts = pods.flatMap((pod) => readList(pod, 'containers').map((one) => readField(one, 'securityContext')));
  const added = contexts.flatMap((context) => readList(context, 'capabilities', 'add'));
  expect(new Set(readList(constraints, 'allowedCapabilities'))).toEqual(new Set(added));
  expect(readField(constraints, 'allowHostNetwork')).toBe(pods.some((pod) => readField(pod, 'hostNetwork') === true));
  const volumes = pods.flatMap((pod) => readList(pod, 'volumes').flatMap((volume) => Object.keys(volume as object)));
  const allowed = readList(constraints, 'volumes').map(String);
  expect(allowed.filter((type) => !['projected', 'downwardAPI', ...volumes].includes(type))).toEqual([]);
  const isRoot = contexts.some((context) => readField(context, 'runAsUser') === 0);
  expect(readField(constraints, 'runAsUser', 'type')).toBe(isRoot ? 'RunAsAny' : 'MustRunAsNonRoot');
}
